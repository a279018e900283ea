package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/sessions"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/simtest"
)

// identityConf is what the cluster would say of itself.
const identityConf = "\n[berth]\ncluster-id = 0123456789abcdef\ncluster-uid = 0123456789abcdef\nkube-system-uid = 11111111-2222-3333-4444-555555555555\n"

// rig is a session on a simulator of its own.
type rig struct {
	sessions.Rig[model.Config, *model.Facts, *Session]
	sim   *simtest.Running
	began time.Time // from which on the time advances by itself
}

func newRig(t testing.TB, opt simgce.Options, conf string) *rig {
	t.Helper()
	if opt.Seed.Nodes == 0 {
		opt.Seed.Nodes = 6
	}
	if opt.Compute.QuotaFactor == 0 {
		opt.Compute.QuotaFactor = 100
	}
	running := simtest.Start(t, opt)
	r := &rig{Rig: sessions.New[model.Config, *model.Facts, *Session](t, model.Cloud(), running.Cloud.Seed.KubernetesNodes()), sim: running, began: time.Now()}
	r.Endpoints = podsOn
	r.open(conf)
	return r
}

// podsOn are a pod on each node.
func podsOn(svc *corev1.Service, nodes []corev1.Node) []*discoveryv1.EndpointSlice {
	var pods []cases.Pod
	for i, n := range nodes {
		pods = append(pods, cases.Pod{Node: n.Name, IP: fmt.Sprintf("10.8.0.%d", i+1)})
	}
	return cases.SlicesOf(svc, pods)
}

// open starts a process.
func (r *rig) open(conf string) {
	r.Helper()
	file := slices.Concat(r.sim.Cloud.Seed.CloudConf(r.sim.URL), []byte(conf), []byte(identityConf))
	config, problems, err := model.ReadConfig(bytes.NewReader(file))
	if err != nil || len(problems) > 0 {
		r.Fatal(err, problems.Strings())
	}
	r.Config = config
	session := newSessionOn(r)
	r.Use(session, session.config)
}

// testService returns the n-th Service of a test.
func testService(n int, class string, change func(*corev1.Service)) *corev1.Service {
	return sessions.Numbered(n, func(svc *corev1.Service) {
		svc.Spec.LoadBalancerClass = &class
		if change != nil {
			change(svc)
		}
	})
}

const (
	poolClass  = "networking.gke.io/l4-regional-external-legacy"
	netlbClass = "networking.gke.io/l4-regional-external"
	igClass    = "networking.gke.io/l4-regional-internal-legacy"
	negClass   = "networking.gke.io/l4-regional-internal"
)

// kindClasses returns one class for each kind of load balancer.
func kindClasses() map[string]string {
	return map[string]string{model.TargetPool: poolClass, model.NetLB: netlbClass, model.InternalIG: igClass, model.InternalNEG: negClass}
}

func localPolicy(svc *corev1.Service) { sessions.Local(svc) }

// backendOf is the name of the only backend service of a stack.
func backendOf(have *stack.Stack) string {
	spec, _ := have.Of(model.KindBackend)[0].Spec.(model.Backend)
	return spec.Name
}

// run computes plans and runs them until there is nothing left to do, as the loop does,
// and returns the resulting state.
func (r *rig) run(svc *corev1.Service, release bool) (*stack.Stack, error) {
	r.Helper()
	found := r.Read(release, svc)[0]
	have := found.Have
	have.Owner = cases.OwnerOf(svc)
	for range 4 {
		p := r.Draft(svc, release, have, found.Facts)
		if len(p.Blocked) > 0 {
			r.Fatalf("plan holds steps: %s", sessions.Steps(p))
		}
		if p.Empty() {
			return have, nil
		}
		report := r.Engine.Run(r.Context(), p, have, nil)
		if err := report.Err(); err != nil || !report.Clean() {
			if err == nil {
				err = fmt.Errorf("not clean: %+v", report.Results)
			}
			return report.Have, err
		}
		have = report.Have
	}
	return have, fmt.Errorf("four plans were not enough")
}

// arrive is run, after which the cloud must show exactly what the runs said to be
// there, and nothing must be left to do.
func (r *rig) arrive(svc *corev1.Service) *stack.Stack {
	r.Helper()
	known, err := r.run(svc, false)
	if err != nil {
		r.Fatalf("run: %v", err)
	}
	r.Now = r.Now.Add(time.Minute)
	found := r.Read(false, svc)[0]
	if len(found.Blind) > 0 {
		r.Fatalf("blind: %v", found.Blind)
	}
	again := r.Draft(svc, false, found.Have, found.Facts)
	if !again.Empty() {
		r.Errorf("a second plan is not empty: %s", sessions.Steps(again))
	}
	if d := cmp.Diff(known.Resources, found.Have.Resources, specOptions()...); d != "" {
		r.Errorf("(-known after the run +read):\n%s", d)
	}
	return found.Have
}

// leave releases a Service and checks that nothing of it exists any more.
func (r *rig) leave(svc *corev1.Service) {
	r.Helper()
	if _, err := r.run(svc, true); err != nil {
		r.Fatalf("release: %v", err)
	}
	r.Now = r.Now.Add(time.Minute)
	for _, res := range r.Read(true, svc)[0].Have.Resources {
		if res.Ownership == stack.Owned || len(r.Ledger.Others(cases.OwnerOf(svc), res)) == 0 {
			r.Errorf("%s: is still there", res.Key)
		}
	}
}

// specOptions leave out what the run cannot know better than the plan: how sure
// it is, and how the cloud writes what is the same.
func specOptions() []cmp.Option {
	return []cmp.Option{
		cmpopts.EquateEmpty(),
		cmpopts.SortSlices(func(a, b stack.Resource) bool { return a.Key.Compare(b.Key) < 0 }),
		cmpopts.IgnoreFields(stack.Resource{}, "State", "Proof"),
		cmpopts.IgnoreFields(model.Backend{}, "Balancing", "Locality", "ZoneAffinity", "Draining", "Log", "Tracking"),
	}
}

// calls counts the calls since the last reset, by operation, without the ones that only
// wait.
func (r *rig) calls() map[string]int {
	out := map[string]int{}
	for name, n := range r.sim.Cloud.Journal.Counts() {
		if name = strings.TrimPrefix(name, "compute."); !strings.HasSuffix(name, "Operations.wait") {
			out[name] = n
		}
	}
	return out
}

// writes counts what the cloud has done.
func (r *rig) writes() map[string]int {
	out := map[string]int{}
	for _, e := range r.sim.Cloud.Journal.Entries() {
		if e.Write && e.Committed {
			out[e.Operation]++
		}
	}
	return out
}

func (r *rig) reset() { r.sim.Cloud.Journal.Reset() }

func (r *rig) fault(f sim.Fault) {
	r.Helper()
	if _, err := r.sim.Cloud.Faults.Add(f); err != nil {
		r.Fatal(err)
	}
}

// foreignBackend creates a backend service of another owner that uses a group.
func (r *rig) foreignBackend(name, group string) {
	r.Helper()
	s, check := r.Session, wireCheck(model.Check{Name: name, Port: 80, Path: "/"})
	if err := writeAndWait(r.Context(), s, s.checkAPI.Insert, &computepb.InsertHealthCheckRequest{Project: r.Config.Project, HealthCheckResource: check}); err != nil {
		r.Fatal(err)
	}
	err := writeAndWait(r.Context(), s, s.backendAPI.Insert, &computepb.InsertRegionBackendServiceRequest{
		Project: r.Config.Project, Region: r.Config.Region,
		BackendServiceResource: &computepb.BackendService{
			Name: &name, Protocol: new("TCP"), LoadBalancingScheme: new("INTERNAL"), HealthChecks: []string{s.urlOf(s.path(model.KindCheck, name))},
			Backends: []*computepb.Backend{{Group: new(s.urlOf(group))}},
		},
	})
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) groupNames() []string {
	r.Helper()
	var out []string
	it := r.Session.groupAPI.AggregatedList(r.Context(), &computepb.AggregatedListInstanceGroupsRequest{Project: r.Config.Project})
	err := eachComplete(it.Next, func(p compute.InstanceGroupsScopedListPair) {
		for _, g := range p.Value.GetInstanceGroups() {
			out = append(out, model.PathOf(g.GetSelfLink()))
		}
	})
	if err != nil {
		r.Fatal(err)
	}
	return out
}

// newSessionOn is another process on the same cloud.
func newSessionOn(r *rig) *Session {
	r.Helper()
	opened, _, err := Open(r.Context(), r.Config, providers.Env{Cluster: "kubernetes", UserAgent: "berth-test", Now: func() time.Time { return r.Now.Add(time.Since(r.began)) }})
	if err != nil {
		r.Fatal(err)
	}
	session, ok := opened.(*Session)
	if !ok {
		r.Fatalf("open: got a %T", opened)
	}
	return session
}
