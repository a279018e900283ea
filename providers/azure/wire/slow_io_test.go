package wire

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestSlowWritesCostNoCalls: Services whose writes take their time cost as many calls
// as those whose writes end at once, the questions about operations included.
func TestSlowWritesCostNoCalls(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const services, much = 40, 1.1
		calls := func(latency time.Duration, seconds bool) (all int, counts map[string]int) {
			// Azure's answers name whole seconds, or nothing that is of use.
			r := newRig(t, simazure.Options{ARM: simarm.Options{Latency: latency, PollAfter: time.Millisecond, WholeSeconds: seconds}})
			began, start := time.Now(), r.Now
			r.Session.now = func() time.Time { return start.Add(time.Since(began)) }
			var svcs []*corev1.Service
			for i := range services {
				svcs = append(svcs, numberedService(i+1, model.Public, nil))
			}
			for _, release := range []bool{false, false, true} {
				r.AllTogether(release, svcs...)
			}
			return r.calls(), r.sim.Cloud.Journal.Counts()
		}
		quick, before := calls(0, false)
		for name, seconds := range map[string]bool{"whole seconds": true, "at once": false} {
			slow, counts := calls(2*time.Second, seconds)
			if float64(slow) > much*float64(quick) {
				t.Errorf("%s: %d calls with slow writes, %d without; want at most %.1f times as many (-quick +slow):\n%s", name, slow, quick, much, cmp.Diff(before, counts))
			}
		}
	})
}
