package gce_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/service/reconcile"
)

// TestPoolFinalizer: older releases of the service controller never remove the finalizer
// of target pools, so that a Service gets it only where a controller uses it.
func TestPoolFinalizer(t *testing.T) {
	const pool = "gke.networking.io/l4-netlb-v1"
	for name, c := range map[string]struct {
		class     string
		has, want []string
	}{
		"plain":                   {},
		"carried before":          {has: []string{pool}, want: []string{pool}},
		"of the other controller": {has: []string{"gke.networking.io/l4-netlb-v2"}, want: []string{"gke.networking.io/l4-netlb-v2"}},
		"of a class":              {class: "l4-regional-external-legacy", want: []string{pool}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, svc := nearCloud(t, 2, 0), numberedService(1, c.class)
				if c.class == "" {
					svc.Spec.LoadBalancerClass = nil
				}
				svc.Finalizers = c.has
				last := reconcileFully(t, n.process(t), svc, reconcile.Job{NeverProvisioned: true})
				if got := last.Status.Finalizers; !slices.Equal(got, c.want) {
					t.Errorf("finalizers %v, want %v", got, c.want)
				}
				time.Sleep(time.Minute) // what gathers calls ends
			})
		})
	}
}
