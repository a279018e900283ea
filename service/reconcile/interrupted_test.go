package reconcile_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/observed"
)

// TestReleaseAfterAnInterruptedRun: the last read of a release is late enough to show what a
// previous process had under way when it ended, and no later if it had completed its run.
func TestReleaseAfterAnInterruptedRun(t *testing.T) {
	const arrived, visible = reconcile.LeaderLateness, reconcile.LeaderLateness + observed.StaleRead
	addressed := newShop("a", one)
	addressed.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	for name, tt := range map[string]struct {
		served  bool     // by this process, before the release
		records []string // on the Service at each draft of the release; the last one stays
		foreign bool
		want    time.Duration // since the start
	}{
		"ended within its run":          {records: []string{""}, want: visible},
		"ended after its run":           {records: []string{"digest"}, want: arrived},
		"the release clears the record": {records: []string{"digest", ""}, want: arrived},
		"served here since":             {served: true, records: []string{"digest"}, want: visible},
		"completed by another one":      {records: []string{""}, foreign: true, want: arrived},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			startLate(w).settle(t, jobFor(addressed))
			p := startLate(w)
			start := p.clock.Now()
			if tt.served {
				p.settle(t, jobFor(addressed))
			}
			for at := range 10 {
				job := releaseJob(addressed)
				job.Applied, job.Foreign = tt.records[min(at, len(tt.records)-1)], tt.foreign
				res, err := p.once(job)
				if err != nil || res.Err != nil {
					t.Fatal(err, res.Err)
				}
				if res.Released {
					break
				}
				p.clock.Step(res.Wait)
			}
			checkEqual(t, tt.want, p.clock.Since(start))
			checkEqual(t, []string{}, w.show(t))
		})
	}
}
