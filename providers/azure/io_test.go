package azure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/azure/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// rig is a session on a simulator of its own, and the tools to walk from one
// wish to the next.
type rig struct {
	testing.TB
	sim     *simtest.Running
	session *Session
	config  Config
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
	r.config = parseConfig(r.TB, strings.Replace(text, r.edit[0], r.edit[1], 1))
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
	if kind == Internal {
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

func (r *rig) input(svc *corev1.Service) input {
	r.Helper()
	in, problems := inputOf(r.config, orElse(r.cluster, "kubernetes"), svc, r.nodes)
	if problems.Errors() {
		r.Fatal(problems.Strings())
	}
	in.Backends.Endpoints = nodeports.EndpointsOf(svc, r.slices, nodeports.FallbackOf(svc))
	in.NamespaceLabels = r.labels
	return in
}

// read reads all of Services at once, or of one that is released.
func (r *rig) read(release bool, svcs ...*corev1.Service) []providers.Found[*Facts] {
	r.Helper()
	var scopes []providers.Scope
	for _, svc := range svcs {
		s, err := scope(r.input(svc))
		if err != nil {
			r.Fatal(err)
		}
		if release {
			s = trace(r.input(svc).Identity)
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
func (r *rig) draft(svc *corev1.Service, release bool, have *stack.Stack, facts *Facts) plan.Plan {
	r.Helper()
	have.Owner = ownerOf(svc)
	if release {
		r.book.Leave(ownerOf(svc))
		return diff.Compare(&stack.Stack{Owner: ownerOf(svc)}, have, Rules(), r.book)
	}
	want, problems, err := build(r.input(svc), facts, have)
	if err != nil || problems.Errors() {
		r.Fatalf("build: %v %v", err, problems.Strings())
	}
	want.Owner = ownerOf(svc)
	r.book.Enter(ownerOf(svc), want.Resources)
	return diff.Compare(want, adopt(want, have), Rules(), r.book)
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
		plans = append(plans, planText(p))
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

// TestKnownIsFound: what the writes say to be there is what a read finds.
func TestKnownIsFound(t *testing.T) {
	for name, svc := range map[string]*corev1.Service{
		"public": numbered(1, Public, nil), "internal": numbered(2, Internal, nil), "local": numbered(3, Public, local),
		"link": numbered(4, Internal, func(s *corev1.Service) {
			s.Annotations["service.beta.kubernetes.io/azure-pls-create"] = "true"
			s.Annotations["service.beta.kubernetes.io/azure-pls-ip-configuration-subnet"] = "links"
		}),
	} {
		virtual.Run(t, name, func(t *testing.T) {
			r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.NodeNIC}})
			known, err := r.run(svc, false)
			if err != nil {
				t.Fatal(err)
			}
			known.Sort()
			r.now = r.now.Add(time.Minute)
			found := r.read(false, svc)[0]
			options := []cmp.Option{
				cmpopts.IgnoreFields(Entries{}, "Expect"), cmpopts.IgnoreFields(Access{}, "Rank", "Alone"), cmpopts.IgnoreFields(PublicIP{}, "Services"),
				cmpopts.IgnoreFields(Place{}, "Address"),
				cmpopts.IgnoreFields(stack.Resource{}, "Proof", "Hold"), cmpopts.EquateEmpty(),
			}
			if d := cmp.Diff(known.Resources, found.Have.Resources, options...); d != "" {
				t.Errorf("(-known after the run +read):\n%s", d)
			}
			if _, err := r.run(svc, true); err != nil {
				t.Fatal(err)
			}
			if left := r.read(true, svc)[0].Have; len(left.Resources) > 0 && name != "link" {
				t.Errorf("left over: %+v", left.Resources)
			}
		})
	}
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

// TestHundredTogether: a hundred Services cost few writes of what they share.
func TestHundredTogether(t *testing.T) {
	const n, most = 100, 25
	for _, kind := range []string{Public, Internal} {
		virtual.Run(t, kind, func(t *testing.T) {
			r := newRig(t, simazure.Options{})
			r.slow()
			var svcs []*corev1.Service
			for i := range n {
				svcs = append(svcs, numbered(i+1, kind, nil))
			}
			// An address is known after the first run; the second opens it.
			r.together(false, svcs)
			r.together(false, svcs)
			t.Log(r.sim.Cloud.Journal.Counts())
			for _, operation := range []string{"LoadBalancers.CreateOrUpdate", "SecurityGroups.CreateOrUpdate", "LoadBalancerBackendAddressPools.CreateOrUpdate"} {
				if got := r.writes("network." + operation); got >= most {
					t.Errorf("%s: %d calls, want fewer than %d", operation, got, most)
				}
			}
			if r.writes("network.LoadBalancers.CreateOrUpdate") == 0 {
				t.Errorf("no load balancer was written: %v", r.sim.Cloud.Journal.Counts())
			}
			for i, f := range r.read(false, svcs...) {
				if again := r.draft(svcs[i], false, f.Have, f.Facts); !again.Empty() {
					t.Fatalf("%s: a second plan is not empty: %+v", svcs[i].Name, again.Steps)
				}
			}
			r.together(true, svcs)
			for i, f := range r.read(true, svcs...) {
				if len(f.Have.Resources) > 0 {
					t.Fatalf("%s: left over: %+v", svcs[i].Name, f.Have.Resources)
				}
			}
		})
	}
}

// TestOthersStay: what AKS has in the load balancer, and a user in the security
// group, is the same after a Service has come and gone: pools, probes, rules and
// all else, but for etags.
func TestOthersStay(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Outbound: true, Addresses: 4}})
		rng := rand.New(rand.NewPCG(7, 7))
		r.strangers(rng, "kubernetes")
		r.strangeRules(rng)
		all := func() string {
			var out []string
			for _, id := range []string{r.config.balancerID("kubernetes"), r.config.securityID()} {
				o, err := r.session.get(t.Context(), id, networkVersion)
				if err != nil || o == nil {
					t.Fatal(err)
				}
				dropEtags(map[string]any(o))
				out = append(out, string(o.Bytes()))
			}
			return strings.Join(out, "\n")
		}
		before := all()
		svc := numbered(1, Public, nil)
		for _, release := range []bool{false, true} {
			if _, err := r.run(svc, release); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(before, all()); d != "" {
			t.Errorf("(-before +after):\n%s", d)
		}
	})
}

// TestFaults: what the cloud refuses, and what then becomes of the Service.
func TestFaults(t *testing.T) {
	const put = "LoadBalancers.CreateOrUpdate"
	for _, c := range []struct {
		name  string
		fault sim.Fault
		want  fault.Meaning
		after time.Duration
		ok    bool // the run goes well all the same
	}{
		{"once changed by others", sim.Fault{Operation: put, Kind: sim.FaultError, Code: "PreconditionFailed", Count: 1}, 0, 0, true},
		{"superseded", sim.Fault{Operation: put, Kind: sim.FaultError, Code: "CanceledAndSupersededDueToAnotherOperation", Count: 2}, 0, 0, true},
		{"always changed by others", sim.Fault{Operation: put, Kind: sim.FaultError, Code: "PreconditionFailed"}, fault.Conflict, 0, false},
		{"throttled", sim.Fault{Operation: put, Kind: sim.FaultError, Status: 429, Count: 1}, 0, 0, true},
		{"no answer", sim.Fault{Operation: put, Kind: sim.FaultCutAfter, Count: 1}, fault.Ambiguous, 0, false},
		{"refused", sim.Fault{Operation: put, Kind: sim.FaultError, Code: "PrivateIPAddressNotInSubnet", Count: 1}, fault.Invalid, 0, false},
		{"quota", sim.Fault{Operation: put, Kind: sim.FaultError, Code: "LoadBalancerCountLimitReached", Count: 1}, fault.Quota, 0, false},
		{"denied", sim.Fault{Operation: put, Kind: sim.FaultError, Status: 403, Count: 1}, fault.Denied, 0, false},
		{"operation failed", sim.Fault{Operation: "async/" + put, Kind: sim.FaultError, Code: "InternalServerError", Count: 1}, fault.Ambiguous, 0, false},
		{"reads fail now and then", sim.Fault{Operation: "LoadBalancers.Get", Kind: sim.FaultError, Status: 503, Count: 1}, 0, 0, true},
	} {
		virtual.Run(t, c.name, func(t *testing.T) {
			r := newRig(t, simazure.Options{})
			svc := numbered(1, Internal, nil)
			id, err := r.sim.Cloud.Faults.Add(c.fault)
			if err != nil {
				t.Fatal(err)
			}
			found := r.read(false, svc)[0]
			report := r.engine.Run(t.Context(), r.draft(svc, false, found.Have, found.Facts), found.Have, nil)
			got := report.Err()
			switch {
			case c.ok && got != nil:
				t.Errorf("got %v", got)
			case !c.ok && (got == nil || !meant(report, c.want, c.after)):
				t.Errorf("got %v, want %v after %v", got, c.want, c.after)
			}
			r.sim.Cloud.Faults.Remove(id)
			r.now = r.now.Add(c.after)
			if _, err := r.run(svc, false); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func meant(report engine.Report, m fault.Meaning, after time.Duration) bool {
	for _, res := range report.Results {
		if err := res.Outcome.Err; fault.Is(err, m) && fault.After(err) >= after {
			return true
		}
	}
	return false
}

// TestLongOperations: operations are awaited whichever way Azure tells of them;
// those that take long are left to the loop and not sent twice.
func TestLongOperations(t *testing.T) {
	for _, mode := range []simarm.AsyncMode{simarm.AsyncHeader, simarm.AsyncLocation, simarm.AsyncNone} {
		virtual.Run(t, string(mode), func(t *testing.T) {
			r := newRig(t, simazure.Options{ARM: simarm.Options{Async: mode, Latency: 30 * time.Second, PollAfter: 50 * time.Millisecond}})
			svc := numbered(1, Public, nil)
			if _, err := r.run(svc, false); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			r.session.now = func() time.Time { return r.now.Add(time.Since(began)) }
			r.session.patience = time.Millisecond
			found := r.read(true, svc)[0]
			p := r.draft(svc, true, found.Have, found.Facts)
			if report := r.engine.Run(t.Context(), p, found.Have, nil); report.Err() != nil || report.Clean() {
				t.Errorf("with little patience: got %v, clean %v, want a wait", report.Err(), report.Clean())
			}
			r.session.patience = patience
			if _, err := r.run(svc, true); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestPoolOfInterfaces: a pool that was made for interfaces is left alone unless
// the configuration lets Azure change it; the fault names the key.
func TestPoolOfInterfaces(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.NodeNIC, NodesAs: simazure.VM}})
		svc := numbered(1, Internal, nil)
		if _, err := r.run(svc, false); err != nil {
			t.Fatal(err)
		}
		r.config.PoolType, r.session.config.PoolType = poolNodeIP, poolNodeIP
		_, err := r.run(svc, false)
		if fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), "enableMigrateToIPBasedBackendPoolAPI") {
			t.Fatalf("got %v, want Invalid with the key", err)
		}
		r.config.Migrate, r.session.config.Migrate = true, true
		if _, err = r.run(svc, false); !errors.Is(err, errWaits) {
			t.Fatalf("got %v, want a wait", err)
		}
		if _, err = r.run(svc, false); err != nil {
			t.Fatal(err)
		}
		if n := r.writes("network.LoadBalancers.MigrateToIPBased"); n != 1 {
			t.Errorf("%d migrations, want 1: %v", n, r.sim.Cloud.Journal.Counts())
		}
	})
}

// TestBlind: a list that is refused makes blind for its kinds, and what one
// Service asks for and may not see is nothing to the others.
func TestBlind(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{})
		one, two := numbered(1, Internal, nil), numbered(2, Internal, func(s *corev1.Service) {
			s.Annotations["service.beta.kubernetes.io/azure-load-balancer-internal-subnet"] = "internal"
		})
		scopes := func() []providers.Scope {
			var out []providers.Scope
			for _, svc := range []*corev1.Service{one, two} {
				s, err := scope(r.input(svc))
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, s)
			}
			return out
		}
		if found := r.session.Read(t.Context(), scopes()[:1]); found[0].Err != nil || len(found[0].Blind) > 0 {
			t.Fatalf("got %v, blind %v", found[0].Err, found[0].Blind)
		}
		denied, err := r.sim.Cloud.Faults.Add(sim.Fault{Operation: "Subnets.Get", Kind: sim.FaultError, Status: 403})
		if err != nil {
			t.Fatal(err)
		}
		if found := r.session.Read(t.Context(), scopes()); found[0].Err != nil || !fault.Is(found[1].Err, fault.Denied) {
			t.Errorf("subnet refused: got %v and %v, want nothing and Denied", found[0].Err, found[1].Err)
		}
		r.sim.Cloud.Faults.Remove(denied)
		if _, err := r.sim.Cloud.Faults.Add(sim.Fault{Operation: "LoadBalancers.List", Kind: sim.FaultError, Status: 403}); err != nil {
			t.Fatal(err)
		}
		found := r.session.Read(t.Context(), scopes())[0]
		if want := []stack.Kind{KindPool, KindEntries, KindNICs, KindScaleSet, KindAccess}; found.Err != nil || !cmp.Equal(want, found.Blind) {
			t.Errorf("load balancers refused: %v (-want +got)\n%s", found.Err, cmp.Diff(want, found.Blind))
		}
	})
}

// TestGoTogether: Services whose members are machines of a scale set go at the
// same moment, each of them last in its own view, and the scale set is as before.
func TestGoTogether(t *testing.T) {
	for _, as := range []simazure.NodesAs{simazure.VMSS, simazure.Flex, simazure.VM} {
		virtual.Run(t, string(as), func(t *testing.T) {
			r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.NodeNIC, NodesAs: as}})
			svcs := []*corev1.Service{numbered(1, Public, nil), numbered(2, Public, nil), numbered(3, Internal, nil), numbered(4, Internal, local)}
			r.together(false, svcs)
			r.together(false, svcs)
			if n := r.writes("network.LoadBalancers.CreateOrUpdate"); n == 0 {
				t.Fatal("no load balancer was written")
			}
			r.together(true, svcs)
			for i, f := range r.read(true, svcs...) {
				if len(f.Have.Resources) > 0 {
					t.Errorf("%s: left over: %+v", svcs[i].Name, f.Have.Resources)
				}
			}
			state, err := json.Marshal(r.sim.Cloud.State())
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(state, []byte("/backendAddressPools/")) {
				t.Error("something is still in a pool")
			}
		})
	}
}
