package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/azure/simtest"
)

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
	now     time.Time // what the session takes for the time
	edit    [2]string // what is replaced in the configuration, by what
	slices  []*discoveryv1.EndpointSlice
	labels  map[string]string // of the namespace
	cluster string            // its name; empty: kubernetes
}

func newRig(t testing.TB, opt simazure.Options) *rig {
	t.Helper()
	opt.Seed.Nodes = max(opt.Seed.Nodes, 4)
	r := &rig{TB: t, sim: simtest.Start(t, opt), book: ledger.New(), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	r.nodes = r.sim.Cloud.Seed.KubernetesNodes()
	r.open()
	r.book.SetReady()
	return r
}

// open starts a process.
func (r *rig) open() {
	r.Helper()
	conf, err := r.sim.Cloud.Seed.CloudConf(r.sim.PlainURL)
	if err != nil {
		r.Fatal(err)
	}
	text := string(bytes.Replace(conf, []byte("{"), []byte(`{"useManagedIdentityExtension": true,`), 1))
	r.config = readConfig(r.TB, strings.Replace(text, r.edit[0], r.edit[1], 1))
	if r.session, err = open(r.Context(), r.config, providers.Env{Cluster: "kubernetes", UserAgent: "berth-test", Now: func() time.Time { return r.now }}); err != nil {
		r.Fatalf("open: %v", err)
	}
	r.session.limits = kit.NewLimits(kit.LimitOptions{Now: time.Now}) // only refusals limit: the clock of the tests stands still
	r.engine = engine.New(r.session.Apply, r.book, engine.Options{})
}

// numbered is the n-th Service of a test, as the API server would have completed it.
func numbered(n int, kind string, change func(*corev1.Service)) *corev1.Service {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprintf("web-%d", n), UID: types.UID(fmt.Sprintf("%08d-1234-1234-1234-123456789012", n)), Annotations: map[string]string{},
		},
		Spec: corev1.ServiceSpec{
			Type:                  corev1.ServiceTypeLoadBalancer,
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster,
			SessionAffinity:       corev1.ServiceAffinityNone,
			IPFamilies:            []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{
				{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: int32(30000 + n)},
				{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, NodePort: int32(31000 + n)},
			},
		},
	}
	if kind == model.Internal {
		svc.Annotations["service.beta.kubernetes.io/azure-load-balancer-internal"] = "true"
	}
	if change != nil {
		change(svc)
	}
	return svc
}

func ownerOf(svc *corev1.Service) stack.Owner {
	return stack.Owner{Namespace: svc.Namespace, Name: svc.Name, UID: string(svc.UID)}
}

// readConfig reads a configuration that is right.
func readConfig(t testing.TB, text string) model.Config {
	return cases.Config(t, model.Cloud().Config, text)
}

func (r *rig) input(svc *corev1.Service) providers.Input[model.Config] {
	r.Helper()
	cloud := model.Cloud()
	in, problems := cases.Input(&cloud, r.config, svc, cases.Around{Cluster: cmp.Or(r.cluster, "kubernetes"), Nodes: r.nodes})
	if problems.Errors() {
		r.Fatal(problems.Strings())
	}
	in.Backends.Endpoints = nodeports.EndpointsOf(svc, r.slices, nodeports.FallbackOf(svc))
	in.NamespaceLabels = r.labels
	return in
}

// read reads all of Services at once, or of one that is released.
func (r *rig) read(release bool, svcs ...*corev1.Service) []providers.Found[*model.Facts] {
	r.Helper()
	var scopes []providers.Scope
	for _, svc := range svcs {
		s, err := model.Cloud().Scope(r.input(svc))
		if err != nil {
			r.Fatal(err)
		}
		if release {
			s = model.Cloud().Trace(r.input(svc).Identity)
		}
		scopes = append(scopes, s)
	}
	found := r.session.Read(r.Context(), scopes)
	for _, f := range found {
		if f.Err != nil {
			r.Fatalf("read: %v", f.Err)
		}
	}
	return found
}

// draft plans for a Service from what is there.
func (r *rig) draft(svc *corev1.Service, release bool, have *stack.Stack, facts *model.Facts) plan.Plan {
	r.Helper()
	have.Owner = ownerOf(svc)
	if release {
		r.book.Leave(ownerOf(svc))
		return diff.Compare(&stack.Stack{Owner: ownerOf(svc)}, have, model.Rules(), r.book)
	}
	want, problems, err := model.Cloud().Build(r.input(svc), facts, have)
	if err != nil || problems.Errors() {
		r.Fatalf("build: %v %v", err, problems.Strings())
	}
	want.Owner = ownerOf(svc)
	r.book.Enter(ownerOf(svc), want.Resources)
	return diff.Compare(want, model.Cloud().MatchFound(want, have), model.Rules(), r.book)
}

var errWaits = errors.New("not done yet")

// run makes plans and runs them until there is nothing left to do, as the loop
// does, and returns what is known then.
func (r *rig) run(svc *corev1.Service, release bool) (*stack.Stack, error) {
	r.Helper()
	var have *stack.Stack
	var plans []string
	for range 5 {
		found := r.read(release, svc)[0]
		p := r.draft(svc, release, found.Have, found.Facts)
		if !p.Writes() && len(p.Held) == 0 {
			return have, nil // what is only forgotten stays for others
		}
		plans = append(plans, cases.PlanText("azure", p))
		report := r.engine.Run(r.Context(), p, found.Have, nil)
		have = report.Have
		if err := report.Err(); err != nil {
			return have, err
		}
		if !report.Clean() {
			return have, fmt.Errorf("%w: %+v", errWaits, report.Results)
		}
	}
	return have, fmt.Errorf("five plans were not enough:\n%s", strings.Join(plans, "\n"))
}

func (r *rig) writes(operation string) int { return r.sim.Cloud.Journal.Counts()[operation] }

func local(svc *corev1.Service) {
	svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyLocal, 31999
}

// slow has every answer take a while, so that what is under way meanwhile is the same
// on every machine.
func (r *rig) slow() {
	r.Helper()
	if _, err := r.sim.Cloud.Faults.Add(sim.Fault{Kind: sim.FaultLatency, Latency: 20 * time.Millisecond}); err != nil {
		r.Fatal(err)
	}
}

// together makes or releases all Services at the same time, from one read.
func (r *rig) together(release bool, svcs []*corev1.Service) {
	r.Helper()
	found := r.read(release, svcs...)
	plans := make([]plan.Plan, len(svcs))
	for i, svc := range svcs {
		plans[i] = r.draft(svc, release, found[i].Have, found[i].Facts)
	}
	var all sync.WaitGroup
	for i := range svcs {
		all.Go(func() {
			if err := r.engine.Run(r.Context(), plans[i], found[i].Have, nil).Err(); err != nil {
				r.Errorf("%s: %v", svcs[i].Name, err)
			}
		})
	}
	all.Wait()
}

func meant(report engine.Report, m fault.Meaning, after time.Duration) bool {
	for _, res := range report.Results {
		if err := res.Outcome.Err; fault.Is(err, m) && fault.After(err) >= after {
			return true
		}
	}
	return false
}
