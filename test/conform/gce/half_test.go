package conform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim"
)

// stride is the distance between the numbers of calls after which the official
// controller is cut off. It is odd, so that every other last call is done though its
// answer is lost, and it is not 1, since that controller waits for a second before
// it looks at an operation.
const stride = 5

// halfBuilt lets the official controller be cut off after its k-th writing call
// and killed, for ever larger k until it gets through, and sees that Berth finishes
// the work and can take all of it away again.
func halfBuilt(t *testing.T, names []string, results *table) {
	w := newWorld(t, oneZone)
	services := pick(t, w.services(oneZone), names...)
	start := w.state()
	k := 0
	for done := false; !done && !t.Failed(); k += stride {
		w.cutOff(k)
		official := w.official()
		w.must(w.Create(t.Context(), services...))
		done = w.refusedOr(w.addressed(services...))
		w.finish(official, fmt.Sprintf("built until call %d", k), services, start, false)
	}
	results.add("half built", fmt.Sprintf("%d Services, cut off after %d numbers of calls up to %d", len(services), k/stride, k-stride), result(t.Failed()), "Berth finishes, and its deletion leaves nothing")
}

// halfDeleted is the same for deletions. What the official controller leaves
// behind when it is interrupted, its next run does not find any more.
func halfDeleted(t *testing.T, names []string, results *table) {
	w := newWorld(t, oneZone)
	services := pick(t, w.services(oneZone), names...)
	start := w.state()
	k := 0
	for done := false; !done && !t.Failed(); k += stride {
		official := w.official()
		w.must(w.Create(t.Context(), services...))
		w.eventually("the official controller builds", w.addressed(services...))
		w.cutOff(k)
		w.must(w.Delete(t.Context(), services...))
		done = w.refusedOr(w.Gone(services...))
		if done {
			// It has leaked by itself if its retry did not find what it had begun
			// with. Nothing in the cluster tells of the Services any more.
			official.Kill()
			w.must(w.Sim.Disarm(t.Context()))
			break
		}
		w.finish(official, fmt.Sprintf("deleted until call %d", k), services, start, true)
	}
	results.add("half deleted", fmt.Sprintf("%d Services, cut off after %d numbers of calls up to %d", len(services), k/stride, k-stride), result(t.Failed()), "Berth finishes, nothing is left")
}

// denied is the reason of refusals; no other call has it.
const denied = "forbidden"

// cutOff lets k more writing calls through. Every other time the last of them is
// done but its answer is lost.
func (w *world) cutOff(k int) {
	w.t.Helper()
	if k%2 == 1 {
		w.must(w.Sim.Arm(w.t.Context(), sim.Fault{WritesOnly: true, After: k - 1, Count: 1, Kind: sim.FaultCutAfter}))
	}
	w.must(w.Sim.Arm(w.t.Context(), sim.Fault{WritesOnly: true, After: k, Kind: sim.FaultError, Status: http.StatusForbidden, Code: denied}))
}

var errCutOff = errors.New("not cut off yet")

// refusedOr waits until a writing call was refused, which is false, or the
// controller got through all the same, which is true.
func (w *world) refusedOr(through func(context.Context) error) bool {
	w.t.Helper()
	mark, done := w.mark(), false
	w.eventually("the official controller is cut off", func(ctx context.Context) error {
		if through(ctx) == nil {
			done = true
			return nil
		}
		calls, err := w.Sim.Journal(ctx, mark)
		if err != nil {
			return err
		}
		for _, e := range writes(calls) {
			if e.Code == denied {
				return nil
			}
		}
		return errCutOff
	})
	return done
}

// finish kills the official controller and lets Berth do the rest: build, unless
// the Services are deleted already, and delete.
func (w *world) finish(official interface{ Kill() }, when string, services []corev1.Service, start string, deleted bool) {
	w.t.Helper()
	official.Kill()
	w.must(w.Sim.Disarm(w.t.Context()))
	if !deleted {
		berth := w.berth()
		w.eventually(when+", Berth builds", w.Programmed(services...))
		w.must(w.Delete(w.t.Context(), services...))
		w.eventually(when+", Berth deletes", w.Gone(services...))
		w.stop(berth)
	} else if w.Gone(services...)(w.t.Context()) != nil {
		berth := w.berth()
		w.eventually(when+", Berth deletes", w.Gone(services...))
		w.stop(berth)
	}
	if diff := cmp.Diff(start, w.state()); diff != "" {
		w.t.Errorf("%s: left after deletion (-want +got):\n%s", when, diff)
	}
}
