package kit

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

// HalfBuilt lets the official controller be cut off after its k-th writing call and
// killed, for ever larger k until it gets through, and sees that Berth finishes the
// work and can take all of it away again.
func (s *Suite) HalfBuilt(t *testing.T, config string, names []string, results *Table) {
	w := s.NewWorld(t, config)
	services := Pick(t, w.Services(config), names...)
	start := w.State()
	k := 0
	for done := false; !done && !t.Failed(); k += s.Stride {
		w.cutOff(k)
		official := w.Official()
		w.Must(w.Create(t.Context(), services...))
		done = w.refusedOr(w.Addressed(services...))
		w.finish(official, fmt.Sprintf("built until call %d", k), services, start, false)
	}
	results.Add("half built "+config, s.tries(services, k), t.Failed(), "Berth finishes, and its deletion leaves nothing")
}

// HalfDeleted is the same for deletions. What the official controller leaves behind
// when it is interrupted, its next run may not find any more.
func (s *Suite) HalfDeleted(t *testing.T, config string, names []string, results *Table) {
	w := s.NewWorld(t, config)
	services := Pick(t, w.Services(config), names...)
	start := w.State()
	k := 0
	for done := false; !done && !t.Failed(); k += s.Stride {
		official := w.Official()
		w.built(services)
		w.cutOff(k)
		w.Must(w.Delete(t.Context(), services...))
		done = w.refusedOr(w.Gone(services...))
		if done && s.Leaks {
			// Nothing in the cluster tells of the Services any more.
			official.Kill()
			w.Must(w.Sim.Disarm(t.Context()))
			continue
		}
		w.finish(official, fmt.Sprintf("deleted until call %d", k), services, start, true)
	}
	results.Add("half deleted "+config, s.tries(services, k), t.Failed(), "Berth finishes, nothing is left")
}

func (s *Suite) tries(services []corev1.Service, k int) string {
	return fmt.Sprintf("%d Services, cut off after %d numbers of calls up to %d", len(services), k/s.Stride, k-s.Stride)
}

// cutOff lets k more writing calls through. Every other time the last of them is
// done but its answer is lost.
func (w *World) cutOff(k int) {
	w.T.Helper()
	if k%2 == 1 {
		w.Must(w.Sim.Arm(w.T.Context(), sim.Fault{WritesOnly: true, After: k - 1, Count: 1, Kind: sim.FaultCutAfter}))
	}
	refusal := w.suite.Refusal
	refusal.Kind, refusal.WritesOnly, refusal.After = sim.FaultError, true, k
	w.Must(w.Sim.Arm(w.T.Context(), refusal))
}

var errCutOff = errors.New("not cut off yet")

// refusedOr waits until a writing call was refused, which is false, or the
// controller got through all the same, which is true.
func (w *World) refusedOr(through func(context.Context) error) bool {
	w.T.Helper()
	mark, done := w.Mark(), false
	w.Eventually("the official controller is cut off", func(ctx context.Context) error {
		if through(ctx) == nil {
			done = true
			return nil
		}
		calls, err := w.Sim.Journal(ctx, mark)
		if err != nil {
			return err
		}
		for _, e := range Writes(calls) {
			if e.Code == w.suite.Refusal.Code {
				return nil
			}
		}
		return errCutOff
	})
	return done
}

// finish kills the official controller and lets Berth do the rest: build, unless the
// Services are deleted already, and delete.
func (w *World) finish(official *harness.Process, when string, services []corev1.Service, start string, deleted bool) {
	w.T.Helper()
	official.Kill()
	w.Must(w.Sim.Disarm(w.T.Context()))
	if !deleted || w.Gone(services...)(w.T.Context()) != nil {
		berth := w.Berth()
		if !deleted {
			w.Eventually(when+", Berth builds", w.Programmed(services...))
			w.Must(w.Delete(w.T.Context(), services...))
		}
		w.Eventually(when+", Berth deletes", w.Gone(services...))
		w.Stop(berth)
	}
	if diff := cmp.Diff(start, w.State()); diff != "" {
		w.T.Errorf("%s: left after deletion (-want +got):\n%s", when, diff)
	}
}
