package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/sim"
)

// throttledLong refuses writes, and then reads, for longer than a few tries: the
// user hears of each once, however often it is tried, and its end is enough.
func (p *place) throttledLong(t *testing.T) {
	const tries = 3
	w := p.start(t, 2)
	w.controller()
	refuse := func(operation string, f sim.Fault) {
		f.Kind, f.Operation = sim.FaultError, operation
		w.arm(f)
	}
	refused := func(operation string, since int) {
		w.eventually(fmt.Sprintf("%d tries of %s", tries, operation), func() error {
			entries, err := w.Sim.Journal(t.Context(), since)
			n := 0
			for _, e := range entries {
				if e.Status == p.answers.throttled.Status && strings.HasSuffix(e.Operation, operation) {
					n++
				}
			}
			if err == nil {
				err = atLeast(tries, n)
			}
			return err
		})
	}
	svc := w.one(p.kinds[0], 0)
	since := w.now()
	refuse("LoadBalancers.List", p.answers.throttled)
	w.must(w.Create(t.Context(), svc))
	refused("LoadBalancers.List", since)
	since = w.now()
	w.disarm()
	refuse("LoadBalancers.CreateOrUpdate", p.answers.throttled)
	refused("LoadBalancers.CreateOrUpdate", since)
	w.condition(svc.Name, status.TypeProgrammed, metav1.ConditionFalse, status.ReasonThrottled)
	w.disarm()
	w.programmed(svc)
	told := map[string]int{}
	for _, e := range w.warnings(svc.Name) {
		told[e]++
	}
	if len(told) != 2 {
		t.Errorf("two refusals were told as %d: %v", len(told), told)
	}
	for what, n := range told {
		if n > 1 {
			t.Errorf("told %d times: %s", n, what)
		}
	}
}
