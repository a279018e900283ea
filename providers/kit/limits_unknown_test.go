package kit_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/kit"
)

// TestUnknownRate: where the cloud documents no rate, the answers reveal it. A thousand calls of a
// hundred workers take little longer than the rate of the cloud allows.
func TestUnknownRate(t *testing.T) {
	for _, rate := range []float64{3, 10, 20, 60, 200} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const calls, workers = 1000, 100
				s := &server{rate: rate, burst: 2 * rate, took: 20 * time.Millisecond}
				l := newLimits(1, kit.Bucket{Name: "reads"})
				began := time.Now()
				work := make(chan struct{}, calls)
				for range calls {
					work <- struct{}{}
				}
				close(work)
				var all sync.WaitGroup
				for range workers {
					all.Go(func() {
						for range work {
							if err := l.Do(t.Context(), func(ctx context.Context) error { return s.call(ctx) }, "reads"); err != nil {
								t.Error(err)
							}
						}
					})
				}
				all.Wait()
				took, ideal := time.Since(began).Seconds(), (calls-2*rate)/rate
				if took > 1.1*ideal+2 || float64(s.refused) > 1.5*workers {
					t.Errorf("took %.1f s, at best %.1f s; %d refused of %d", took, ideal, s.refused, s.calls)
				}
			})
		})
	}
}
