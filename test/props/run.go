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
			virtually(t, "life", func(t *testing.T) { life(t, fresh, c) })
			virtually(t, "order", func(t *testing.T) { order(t, fresh, c) })
			virtually(t, "crash", func(t *testing.T) { crash(t, fresh, c) })
			virtually(t, "renamed", func(t *testing.T) { renamed(t, fresh, c) })
			virtually(t, "reapplied", func(t *testing.T) { applyAgain(t, fresh, c) })
			virtually(t, "refused", func(t *testing.T) { refused(t, fresh, c) })
			virtually(t, "restarted", func(t *testing.T) { restarted(t, fresh, c) })
			virtually(t, "unread", func(t *testing.T) { unread(t, fresh, c) })
			virtually(t, "unreadable", func(t *testing.T) { refuseReads(t, fresh, c) })
		})
	}
	t.Run("move", func(t *testing.T) { move(t, fresh, cases) })
}

// virtually runs a test beside others, in virtual time.
func virtually(t *testing.T, name string, body func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		virtual.Test(t, body)
	})
}

// life: converged, the plan of a new process is empty, a second run writes
// nothing, and deletion leaves the cloud as it was.
func life(t *testing.T, fresh New, c Case) {
	s := fresh(t)
	before := state(t, s)
	p := begin(t, s, s.Nodes(), c.Service)
	p.converge(c.Service, false)
	nothingToDo(t, s, s.Nodes(), c.Service)
	s.Control().Journal.Reset()
	begin(t, s, s.Nodes(), c.Service).converge(c.Service, false)
	p.converge(c.Service, false)
	if n := writes(s); n != 0 {
		t.Errorf("%d writing calls although nothing is to do: %v", n, s.Control().Journal.Counts())
	}
	p.converge(c.Service, true)
	if diff := cmp.Diff(before, state(t, s)); diff != "" {
		t.Errorf("deletion left something (-before +after):\n%s", diff)
	}
}

// order: nodes and ports in another order make no difference.
func order(t *testing.T, fresh New, c Case) {
	s := fresh(t)
	begin(t, s, s.Nodes(), c.Service).converge(c.Service, false)
	random := rand.New(rand.NewPCG(1, 2))
	nodes := slices.Clone(s.Nodes())
	random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	nothingToDo(t, s, nodes, c.Service)
}

// crash: the process dies at the k-th writing call, for every k, with that call
// committed or not; a new one finishes the work, and deletion leaves nothing.
func crash(t *testing.T, fresh New, c Case) {
	total := callsOf(t, fresh, c)
	for k := range total {
		for _, kind := range []sim.FaultKind{sim.FaultError, sim.FaultCutAfter} {
			s := fresh(t)
			before := state(t, s)
			checkPublished(t, s, c.Service, die(t, s, c.Service, false, k, kind))
			begin(t, s, s.Nodes(), c.Service).converge(c.Service, false)
			nothingToDo(t, s, s.Nodes(), c.Service)
			die(t, s, c.Service, true, k, kind)
			begin(t, s, s.Nodes()).converge(c.Service, true)
			if diff := cmp.Diff(before, state(t, s)); diff != "" {
				t.Fatalf("died at writing call %d (%s): something is left over (-before +after):\n%s", k+1, kind, diff)
			}
		}
	}
}

// callsOf is how many writing calls the creation of a case takes.
func callsOf(t *testing.T, fresh New, c Case) int {
	s := fresh(t)
	begin(t, s, s.Nodes(), c.Service).converge(c.Service, false)
	return writes(s)
}

// die runs a process whose writing calls come through up to the k-th only. The
// calls after it are refused in a way that no SDK repeats, which is quick. It returns what
// the process would report.
func die(t *testing.T, s Subject, svc *corev1.Service, release bool, k int, kind sim.FaultKind) (res reconcile.Result) {
	t.Helper()
	p := begin(t, s, s.Nodes(), known(svc, release)...)
	dying(t, s, k, kind, func() {
		res, _ = p.once(context.WithoutCancel(t.Context()), svc, release) // it is meant to fail
	})
	return res
}

// checkPublished fails if a run reports an address of a new Service at which no client is
// served, according to a fresh read.
func checkPublished(t *testing.T, s Subject, svc *corev1.Service, res reconcile.Result) {
	t.Helper()
	bound := s.Open(t)
	if len(res.Status.Ingress) == 0 || bound.Flows == nil || res.Draft.Want == nil || len(res.Manual) > 0 {
		return
	}
	owner := reconcile.OwnerOf(svc)
	serves := func(in *stack.Stack) bool {
		return slices.ContainsFunc(traffic.Of(owner, bound.Flows([]*stack.Stack{in})), traffic.Flow.Serves)
	}
	if serves(res.Draft.Want) && !serves(found(t, s, svc)) {
		t.Errorf("%v is reported, and no client is served there: %v", res.Status.Ingress, res.Err)
	}
}

// dying lets only the writing calls up to the k-th through while something is done.
func dying(t *testing.T, s Subject, k int, kind sim.FaultKind, do func()) {
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

func known(svc *corev1.Service, release bool) []*corev1.Service {
	if release {
		return nil
	}
	return []*corev1.Service{svc}
}

// move: a process dies while it brings the Service to case A; when the next one
// starts, the same Service asks for case B. It converges, and nothing of A stays.
func move(t *testing.T, fresh New, cases []Case) {
	for i, a := range cases {
		b := cases[(i+1)%len(cases)]
		virtually(t, a.Name+" to "+b.Name, func(t *testing.T) {
			second := b.Service.DeepCopy()
			second.UID, second.Name, second.Namespace = a.Service.UID, a.Service.Name, a.Service.Namespace
			total := callsOf(t, fresh, a)
			for k := 0; k <= total; k += max(1, total/4) {
				s := fresh(t)
				before := state(t, s)
				die(t, s, a.Service, false, k, sim.FaultCutAfter)
				p := begin(t, s, s.Nodes(), second)
				p.converge(second, false)
				nothingToDo(t, s, s.Nodes(), second)
				alone(t, fresh, s, second)
				begin(t, s, s.Nodes()).converge(second, true)
				if diff := cmp.Diff(before, state(t, s)); diff != "" {
					t.Fatalf("moved after call %d: something is left over (-before +after):\n%s", k, diff)
				}
			}
		})
	}
}

// alone fails if the Service has more resources than in a cloud in which it never had another
// specification.
func alone(t *testing.T, fresh New, s Subject, svc *corev1.Service) {
	t.Helper()
	clean := fresh(t)
	begin(t, clean, clean.Nodes(), svc).converge(svc, false)
	if want, got := shape(t, clean, svc), shape(t, s, svc); !cmp.Equal(want, got) {
		t.Errorf("something of the first case is left (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// shape lists the keys of the resources found for a Service.
func shape(t *testing.T, s Subject, svc *corev1.Service) []string {
	t.Helper()
	var out []string
	for _, r := range found(t, s, svc).Resources {
		out = append(out, r.Key.String())
	}
	slices.Sort(out)
	return out
}

// found is what a new process finds of a Service.
func found(t *testing.T, s Subject, svc *corev1.Service) *stack.Stack {
	t.Helper()
	p := begin(t, s, s.Nodes(), svc)
	d, err := p.r.Draft(t.Context(), p.job(svc))
	if err != nil {
		t.Fatal(err)
	}
	return d.Have
}
