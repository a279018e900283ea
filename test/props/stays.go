package props

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim"
)

// Stays checks that a Service which moves from one case to another keeps what kept returns of
// its cloud, at whatever writing call of the move a process dies; that the next process
// completes the move; and that nothing is left when the Service is deleted. One process continues
// from each state of the cloud, as in testCrash.
func Stays(t *testing.T, fresh New, from, to Case, kept func(Subject) []string) {
	runVirtual(t, from.Name+" to "+to.Name, func(t *testing.T) {
		second := to.Service.DeepCopy()
		second.UID, second.Name, second.Namespace = from.Service.UID, from.Service.Name, from.Service.Namespace
		total, continued := 0, map[string]bool{}
		for k := 0; k == 0 || k < total; k++ {
			for _, kind := range []sim.FaultKind{sim.FaultError, sim.FaultCutAfter} {
				s := fresh(t)
				before := cloudState(t, s)
				startProcess(t, s, s.Nodes(), from.Service).converge(from.Service, false)
				want := kept(s)
				if len(want) == 0 {
					t.Fatal("there is nothing to be kept")
				}
				s.Control().Journal.Reset()
				crashAt(t, s, second, false, k, kind)
				left := cloudState(t, s)
				if continued[left] {
					continue
				}
				continued[left] = true
				startProcess(t, s, s.Nodes(), second).converge(second, false)
				total = max(total, countWrites(s))
				if diff := cmp.Diff(want, kept(s)); diff != "" {
					t.Fatalf("died at writing call %d (%s) of the move: not all has stayed (-before +after):\n%s", k+1, kind, diff)
				}
				nothingToDo(t, s, s.Nodes(), second)
				startProcess(t, s, s.Nodes()).converge(second, true)
				if diff := cmp.Diff(before, cloudState(t, s)); diff != "" {
					t.Fatalf("died at writing call %d (%s) of the move: something is left over (-before +after):\n%s", k+1, kind, diff)
				}
			}
		}
		t.Logf("%d writing calls", total)
	})
}
