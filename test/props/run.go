package props

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Run checks every property on every case.
func Run(t *testing.T, fresh New, cases []Case) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			runVirtual(t, "life", func(t *testing.T) { testLife(t, fresh, c) })
			runVirtual(t, "order", func(t *testing.T) { testOrder(t, fresh, c) })
			runVirtual(t, "crash", func(t *testing.T) { testCrash(t, fresh, c) })
			runVirtual(t, "renamed", func(t *testing.T) { testRenamed(t, fresh, c) })
			runVirtual(t, "reapplied", func(t *testing.T) { applyAgain(t, fresh, c) })
			runVirtual(t, "refused", func(t *testing.T) { testRefused(t, fresh, c) })
			runVirtual(t, "restarted", func(t *testing.T) { testRestarted(t, fresh, c) })
			runVirtual(t, "unread", func(t *testing.T) { testUnread(t, fresh, c) })
			runVirtual(t, "unreadable", func(t *testing.T) { refuseReads(t, fresh, c) })
			runVirtual(t, "reversed", func(t *testing.T) { rewriteAnswers(t, fresh, c, sim.ReverseLists) })
			runVirtual(t, "terse", func(t *testing.T) { rewriteAnswers(t, fresh, c, sim.OmitEmpty) })
		})
	}
	t.Run("move", func(t *testing.T) { testMove(t, fresh, cases) })
}

// runVirtual runs a test beside others, in virtual time.
func runVirtual(t *testing.T, name string, body func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		virtual.Test(t, body)
	})
}

// testLife: converged, the plan of a new process is empty, a second run writes
// nothing, and deletion leaves the cloud as it was.
func testLife(t *testing.T, fresh New, c Case) {
	s := fresh(t)
	before := cloudState(t, s)
	p := startProcess(t, s, s.Nodes(), c.Service)
	p.converge(c.Service, false)
	nothingToDo(t, s, s.Nodes(), c.Service)
	s.Control().Journal.Reset()
	startProcess(t, s, s.Nodes(), c.Service).converge(c.Service, false)
	p.converge(c.Service, false)
	if n := countWrites(s); n != 0 {
		t.Errorf("%d writing calls although nothing is to do: %v", n, s.Control().Journal.Counts())
	}
	p.converge(c.Service, true)
	if diff := cmp.Diff(before, cloudState(t, s)); diff != "" {
		t.Errorf("deletion left something (-before +after):\n%s", diff)
	}
}

// testOrder: nodes and ports in another order make no difference.
func testOrder(t *testing.T, fresh New, c Case) {
	s := fresh(t)
	startProcess(t, s, s.Nodes(), c.Service).converge(c.Service, false)
	random := rand.New(rand.NewPCG(1, 2))
	nodes := slices.Clone(s.Nodes())
	random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	nothingToDo(t, s, nodes, c.Service)
}

// testCrash: the process dies at the k-th writing call, for every k, with that call
// committed or not; a new one finishes the work, and deletion leaves nothing. A new process
// knows nothing but the cloud, so one continues from each state. A call without an answer mostly
// leaves the state that the refusal of the next call leaves.
func testCrash(t *testing.T, fresh New, c Case) {
	total := callsOf(t, fresh, c)
	continued := map[string]bool{}
	for k := range total {
		for _, kind := range []sim.FaultKind{sim.FaultError, sim.FaultCutAfter} {
			s := fresh(t)
			before := cloudState(t, s)
			checkPublished(t, s, c.Service, crashAt(t, s, c.Service, false, k, kind))
			left := cloudState(t, s)
			if continued[left] {
				continue
			}
			continued[left] = true
			startProcess(t, s, s.Nodes(), c.Service).converge(c.Service, false)
			nothingToDo(t, s, s.Nodes(), c.Service)
			crashAt(t, s, c.Service, true, k, kind)
			startProcess(t, s, s.Nodes()).converge(c.Service, true)
			if diff := cmp.Diff(before, cloudState(t, s)); diff != "" {
				t.Fatalf("died at writing call %d (%s): something is left over (-before +after):\n%s", k+1, kind, diff)
			}
		}
	}
}

// callsOf is how many writing calls the creation of a case takes.
func callsOf(t *testing.T, fresh New, c Case) int {
	s := fresh(t)
	startProcess(t, s, s.Nodes(), c.Service).converge(c.Service, false)
	return countWrites(s)
}

// crashAt runs a process of which only the write calls up to the k-th succeed. The
// calls after it are refused in a way that no SDK repeats, which is quick. It returns
// what the process would report.
func crashAt(t *testing.T, s Subject, svc *corev1.Service, release bool, k int, kind sim.FaultKind) (res reconcile.Result) {
	t.Helper()
	p := startProcess(t, s, s.Nodes(), knownServices(svc, release)...)
	withCrash(t, s, k, kind, func() {
		res, _ = p.once(context.WithoutCancel(t.Context()), svc, release) // it is meant to fail
	})
	return res
}

// checkPublished fails if a run reports an address of a new Service at which no client is
// served, according to a fresh read.
func checkPublished(t *testing.T, s Subject, svc *corev1.Service, res reconcile.Result) {
	t.Helper()
	if len(res.Status.Ingress) == 0 || res.Draft.Want == nil || len(res.Manual) > 0 {
		return
	}
	bound := s.Open(t) // not for each of the many crashes before an address exists
	if bound.Flows == nil {
		return
	}
	owner := reconcile.OwnerOf(svc)
	serves := func(in *stack.Stack) bool {
		return slices.ContainsFunc(traffic.Of(owner, bound.Flows([]*stack.Stack{in})), traffic.Flow.Serves)
	}
	if serves(res.Draft.Want) && !serves(observedStack(t, s, svc)) {
		t.Errorf("%v is reported, and no client is served there: %v", res.Status.Ingress, res.Err)
	}
}

// withCrash admits only the write calls up to the k-th during do.
func withCrash(t *testing.T, s Subject, k int, kind sim.FaultKind, do func()) {
	t.Helper()
	for _, f := range []sim.Fault{
		{WritesOnly: true, After: k, Count: 1, Kind: kind, Status: http.StatusForbidden, Code: "AccessDenied"},
		{WritesOnly: true, After: k + 1, Kind: sim.FaultError, Status: http.StatusForbidden, Code: "AccessDenied"},
	} {
		if _, err := s.Control().Faults.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	do()
	s.Control().Faults.Clear()
}

func knownServices(svc *corev1.Service, release bool) []*corev1.Service {
	if release {
		return nil
	}
	return []*corev1.Service{svc}
}

// testMove: a process dies while it brings the Service to case A; when the next one
// starts, the same Service asks for case B. It converges, and nothing of A stays.
func testMove(t *testing.T, fresh New, cases []Case) {
	for i, a := range cases {
		b := cases[(i+1)%len(cases)]
		runVirtual(t, a.Name+" to "+b.Name, func(t *testing.T) {
			second := b.Service.DeepCopy()
			second.UID, second.Name, second.Namespace = a.Service.UID, a.Service.Name, a.Service.Namespace
			total, alone := callsOf(t, fresh, a), keysAlone(t, fresh, second)
			for k := 0; k <= total; k += max(1, total/4) {
				s := fresh(t)
				before := cloudState(t, s)
				crashAt(t, s, a.Service, false, k, sim.FaultCutAfter)
				p := startProcess(t, s, s.Nodes(), second)
				p.converge(second, false)
				nothingToDo(t, s, s.Nodes(), second)
				if got := resourceKeys(t, s, second); !cmp.Equal(alone, got) {
					t.Errorf("something of the first case is left (-want +got):\n%s", cmp.Diff(alone, got))
				}
				startProcess(t, s, s.Nodes()).converge(second, true)
				if diff := cmp.Diff(before, cloudState(t, s)); diff != "" {
					t.Fatalf("moved after call %d: something is left over (-before +after):\n%s", k, diff)
				}
			}
		})
	}
}

// keysAlone lists the keys of the resources of a Service in a cloud in which it never had
// another specification.
func keysAlone(t *testing.T, fresh New, svc *corev1.Service) []string {
	t.Helper()
	clean := fresh(t)
	startProcess(t, clean, clean.Nodes(), svc).converge(svc, false)
	return resourceKeys(t, clean, svc)
}

// resourceKeys lists the keys of the resources observed for a Service.
func resourceKeys(t *testing.T, s Subject, svc *corev1.Service) []string {
	t.Helper()
	var out []string
	for _, r := range observedStack(t, s, svc).Resources {
		out = append(out, r.Key.String())
	}
	slices.Sort(out)
	return out
}

// observedStack returns the resources that a new process observes for a Service.
func observedStack(t *testing.T, s Subject, svc *corev1.Service) *stack.Stack {
	t.Helper()
	p := startProcess(t, s, s.Nodes(), svc)
	d, err := p.r.Draft(t.Context(), p.job(svc))
	if err != nil {
		t.Fatal(err)
	}
	return d.Have
}
