package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/sim"
)

// throttledLong refuses reads, and then writes, for longer than a few tries: they wait
// and repeat themselves, the user need not hear of it, and its end is enough.
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
	w.disarm()
	w.programmed(svc)
	if told := w.warnings(svc.Name); len(told) > 0 {
		t.Errorf("calls that wait for their rate were told: %q", told)
	}
}
