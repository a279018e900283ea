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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/simtest"
)

// identityConf is what the cluster would say of itself.
const identityConf = "\n[berth]\ncluster-id = 0123456789abcdef\ncluster-uid = 0123456789abcdef\nkube-system-uid = 11111111-2222-3333-4444-555555555555\n"

// rig is a session on a simulator of its own, and the tools to walk from one
// wish to the next.
type rig struct {
	testing.TB
	sim     *simtest.Running
	session *Session
	config  model.Config
	book    *ledger.Book
	engine  *engine.Engine
	nodes   []corev1.Node
	now     time.Time // what the session takes for the time when the test begins
	began   time.Time
}

func newRig(t testing.TB, opt simgce.Options, conf string) *rig {
	t.Helper()
	if opt.Seed.Nodes == 0 {
		opt.Seed.Nodes = 6
	}
	if opt.Compute.QuotaFactor == 0 {
		opt.Compute.QuotaFactor = 100
	}
	r := &rig{TB: t, sim: simtest.Start(t, opt), book: ledger.New(), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), began: time.Now()}
	r.nodes = r.sim.Cloud.Seed.KubernetesNodes()
	r.open(conf)
	r.book.SetReady()
	return r
}

// open starts a process.
func (r *rig) open(conf string) {
	r.Helper()
	t := r.TB
	file := slices.Concat(r.sim.Cloud.Seed.CloudConf(r.sim.URL), []byte(conf), []byte(identityConf))
	config, problems, err := model.ReadConfig(bytes.NewReader(file))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems.Strings())
	}
	opened, completed, err := Open(t.Context(), config, providers.Env{Cluster: "kubernetes", UserAgent: "berth-test", Now: func() time.Time { return r.now.Add(time.Since(r.began)) }})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	session, ok := opened.(*Session)
	if !ok {
		t.Fatalf("open: got a %T", opened)
	}
	r.session, r.config = session, completed
	r.engine = engine.New(session.Apply, r.book, engine.Options{})
}

// service is the n-th Service of a test, as the API server would have completed it.
func service(n int, class string, change func(*corev1.Service)) *corev1.Service {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprintf("web-%d", n), UID: types.UID(fmt.Sprintf("%08d-1234-1234-1234-123456789012", n)), Annotations: map[string]string{},
		},
		Spec: corev1.ServiceSpec{
			Type:                  corev1.ServiceTypeLoadBalancer,
			LoadBalancerClass:     &class,
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster,
			SessionAffinity:       corev1.ServiceAffinityNone,
			IPFamilies:            []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{
				{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080},
				{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, NodePort: 30443},
			},
		},
	}
	if change != nil {
		change(svc)
	}
	return svc
}

const (
	poolClass  = "networking.gke.io/l4-regional-external-legacy"
	netlbClass = "networking.gke.io/l4-regional-external"
	igClass    = "networking.gke.io/l4-regional-internal-legacy"
	negClass   = "networking.gke.io/l4-regional-internal"
)

// classes are one for each kind of load balancer.
func classes() map[string]string {
	return map[string]string{model.TargetPool: poolClass, model.NetLB: netlbClass, model.InternalIG: igClass, model.InternalNEG: negClass}
}

func localPolicy(svc *corev1.Service) {
	svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyLocal, 31999
}

func ownerOf(svc *corev1.Service) stack.Owner {
	return stack.Owner{Namespace: svc.Namespace, Name: svc.Name, UID: string(svc.UID)}
}

// backendOf is the name of the only backend service of a stack.
func backendOf(have *stack.Stack) string {
	spec, _ := have.Of(model.KindBackend)[0].Spec.(model.Backend)
	return spec.Name
}

func (r *rig) input(svc *corev1.Service) providers.Input[model.Config] {
	r.Helper()
	pods := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	for _, p := range svc.Spec.Ports {
		pods.Ports = append(pods.Ports, discoveryv1.EndpointPort{Name: &p.Name, Port: &p.Port, Protocol: &p.Protocol})
	}
	for i, n := range r.nodes {
		pods.Endpoints = append(pods.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{fmt.Sprintf("10.8.0.%d", i+1)}, NodeName: &n.Name, TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: n.Name},
		})
	}
	cloud := model.Cloud()
	in, problems := cases.Input(&cloud, r.config, svc, cases.Around{Cluster: "kubernetes", Nodes: r.nodes, Slices: []*discoveryv1.EndpointSlice{pods}})
	if problems.Errors() {
		r.Fatal(problems.Strings())
	}
	return in
}

// read reads all of a Service, or of one that is released.
func (r *rig) read(svc *corev1.Service, release bool) providers.Found[*model.Facts] {
	r.Helper()
	in := r.input(svc)
	s, err := model.Scope(in)
	if err != nil {
		r.Fatal(err)
	}
	if release {
		s = model.Trace(in.Identity)
	}
	found := r.session.Read(r.Context(), []providers.Scope{s})
	if len(found) != 1 || found[0].Err != nil {
		r.Fatalf("read: got %+v", found)
	}
	return found[0]
}

// draft plans for a Service from what is there.
func (r *rig) draft(svc *corev1.Service, release bool, have *stack.Stack, facts *model.Facts) (*stack.Stack, plan.Plan) {
	r.Helper()
	if release {
		r.book.Leave(ownerOf(svc))
		return nil, diff.Compare(&stack.Stack{Owner: ownerOf(svc)}, have, model.Rules(), r.book)
	}
	want, problems, err := model.Cloud().Build(r.input(svc), facts, have)
	if err != nil || problems.Errors() {
		r.Fatalf("build: %v %v", err, problems.Strings())
	}
	want.Owner = ownerOf(svc)
	r.book.Enter(ownerOf(svc), want.Resources)
	return want, diff.Compare(want, have, model.Rules(), r.book)
}

// run makes plans and runs them until there is nothing left to do, as the loop
// does, and returns what is known then.
func (r *rig) run(svc *corev1.Service, release bool) (*stack.Stack, error) {
	r.Helper()
	found := r.read(svc, release)
	have := found.Have
	have.Owner = ownerOf(svc)
	for range 4 {
		_, p := r.draft(svc, release, have, found.Facts)
		if len(p.Held) > 0 {
			r.Fatalf("plan holds steps: %s", stepsOf(p))
		}
		if p.Empty() {
			return have, nil
		}
		report := r.engine.Run(r.Context(), p, have, nil)
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
	r.now = r.now.Add(time.Minute)
	found := r.read(svc, false)
	if len(found.Blind) > 0 {
		r.Fatalf("blind: %v", found.Blind)
	}
	_, again := r.draft(svc, false, found.Have, found.Facts)
	if !again.Empty() {
		r.Errorf("a second plan is not empty: %s", stepsOf(again))
	}
	if d := cmp.Diff(known.Resources, found.Have.Resources, specOptions()...); d != "" {
		r.Errorf("(-known after the run +read):\n%s", d)
	}
	return found.Have
}

// leave releases a Service and checks that nothing of it is there any more.
func (r *rig) leave(svc *corev1.Service) {
	r.Helper()
	if _, err := r.run(svc, true); err != nil {
		r.Fatalf("release: %v", err)
	}
	r.now = r.now.Add(time.Minute)
	for _, res := range r.read(svc, true).Have.Resources {
		if res.Ownership == stack.Owned || len(r.book.Others(ownerOf(svc), res)) == 0 {
			r.Errorf("%s: is still there", res.Key)
		}
	}
}

func stepsOf(p plan.Plan) string {
	out := ""
	for _, s := range p.Steps {
		out += fmt.Sprintf("\n  %s: %+v", s.ID, s.Changes)
	}
	for _, h := range p.Held {
		out += fmt.Sprintf("\n  held %s: %s", h.Step.ID, h.Why)
	}
	return out
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

// calls counts the calls since the last reset, by operation, without those that
// only wait.
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

// foreignBackend makes a backend service of somebody else that uses a group.
func (r *rig) foreignBackend(name, group string) {
	r.Helper()
	s, check := r.session, wireCheck(model.Check{Name: name, Port: 80, Path: "/"})
	if err := tell(r.Context(), s, s.checkAPI.Insert, &computepb.InsertHealthCheckRequest{Project: r.config.Project, HealthCheckResource: check}); err != nil {
		r.Fatal(err)
	}
	err := tell(r.Context(), s, s.backendAPI.Insert, &computepb.InsertRegionBackendServiceRequest{
		Project: r.config.Project, Region: r.config.Region,
		BackendServiceResource: &computepb.BackendService{
			Name: &name, Protocol: new("TCP"), LoadBalancingScheme: new("INTERNAL"), HealthChecks: []string{s.urlOf(s.checkPath(model.KindCheck, name))},
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
	it := r.session.groupAPI.AggregatedList(r.Context(), &computepb.AggregatedListInstanceGroupsRequest{Project: r.config.Project})
	err := all(it.Next, func(p compute.InstanceGroupsScopedListPair) {
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
	opened, _, err := Open(r.Context(), r.config, providers.Env{Cluster: "kubernetes", Now: func() time.Time { return r.now.Add(time.Since(r.began)) }})
	if err != nil {
		r.Fatal(err)
	}
	session, ok := opened.(*Session)
	if !ok {
		r.Fatalf("open: got a %T", opened)
	}
	return session
}
