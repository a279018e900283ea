package account

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const (
	// mostRatio is how many times as long as its ideal time a phase may take at the rates of the cloud.
	mostRatio = 1.3
	// mostRefused is the share of calls that may be refused.
	mostRefused = 0.02
	// refillTime is the time in which the buckets of a cloud are full again.
	refillTime = time.Minute
)

// Rates measures a number of Services with two ports that change at once, at the rates of the cloud. The ideal time
// of a phase is what the rates require for its calls, and what the phase takes for one Service. No run may fail.
func (c Cloud[O, S]) Rates(t *testing.T, opt O, n int) {
	alone := map[string]time.Duration{}
	virtual.Run(t, "1", func(t *testing.T) {
		c.lifeOf(c.Begin(t, opt), 1).Run(func(p Phase) { alone[p.Name] = p.Took })
	})
	virtual.Run(t, fmt.Sprint(n), func(t *testing.T) {
		w := c.Begin(t, opt)
		life := c.lifeOf(w, n)
		life.Work = w.workUnfailing
		if err := w.Control().Limit(); err != nil {
			t.Fatal(err)
		}
		life.Run(func(p Phase) {
			var calls []sim.Call
			refused := 0
			for _, e := range w.Control().Journal.Entries() {
				calls = append(calls, e.Call())
				if e.Throttled {
					refused++
				}
			}
			ideal := sim.Ideal(w.Control().Rates, calls) + alone[p.Name]
			t.Logf("%s of %d in %s, ideally %s; %d of %d calls were refused", p.Name, n, p.Took, ideal, refused, len(calls))
			if p.Took.Seconds() > mostRatio*ideal.Seconds() || float64(refused) > mostRefused*float64(len(calls)) {
				t.Errorf("%s: too slow, or too many calls were refused", p.Name)
			}
			time.Sleep(refillTime)
		})
	})
}

// workUnfailing works on a Service as Serve and Release do. No run may end with an error.
func (w *World[S]) workUnfailing(svc *corev1.Service, release bool) {
	w.Helper()
	for range rounds {
		res, err := w.Once(svc, release)
		switch {
		case err != nil || res.Err != nil:
			w.Errorf("%s: %v, %v", svc.Name, err, res.Err)
			return
		case release && res.Released, !release && res.Clean:
			return
		}
		time.Sleep(res.Wait)
	}
	w.Errorf("%s: not finished after %d runs", svc.Name, rounds)
}
