package account

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Doubles is what a test of doubled load balancers needs of a simulator.
type Doubles[S Simulator] struct {
	// List returns the ids of all load balancers.
	List func(S) []string
	// Double copies a load balancer with its marks, created so long after it, and returns the id of the copy.
	Double func(s S, id string, after time.Duration) string
	// Unmark removes a part of the marks of a load balancer.
	Unmark func(s S, id string)
	// Notes are the annotations of the Service.
	Notes map[string]string
}

// Doubled checks that of two load balancers with the complete mark of one Service the one stays that the
// Service records, or else the older one, and that a release deletes both. One with a part of the mark stays.
func (c Cloud[O, S]) Doubled(t *testing.T, opt O, d Doubles[S]) {
	for name, one := range map[string]struct {
		after    time.Duration
		recorded bool
		copied   bool // the copy stays
	}{
		"recorded, older copy":        {-time.Hour, true, false},
		"recorded, younger copy":      {time.Hour, true, false},
		"not recorded, older copy":    {-time.Hour, false, true},
		"not recorded, younger copy":  {time.Hour, false, false},
		"recorded, copy of that time": {0, true, false},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w, svc, bare := c.served(t, opt, d)
			kept := d.List(w.Sim)[0]
			copied := d.Double(w.Sim, kept, one.after)
			if one.copied {
				kept = copied
			}
			if !one.recorded {
				svc = bare
			}
			w.Restart(svc)
			w.Serve(svc)
			if left := d.List(w.Sim); !slices.Equal(left, []string{kept}) {
				t.Errorf("load balancers %v, want %s", left, kept)
			}
			d.Double(w.Sim, kept, one.after)
			w.Restart(svc)
			w.Release(svc)
			if left := d.List(w.Sim); len(left) > 0 {
				t.Errorf("load balancers %v are left", left)
			}
		})
	}
	virtual.Run(t, "part of the mark", func(t *testing.T) {
		w, _, svc := c.served(t, opt, d)
		copied := d.Double(w.Sim, d.List(w.Sim)[0], -time.Hour)
		d.Unmark(w.Sim, copied)
		for _, release := range []bool{false, true} {
			w.Restart(svc)
			for range 3 {
				res, _ := props.Work(w.Context(), w.Process, reconcile.Job{Service: svc.DeepCopy(), Release: release})
				time.Sleep(res.Wait)
			}
		}
		if left := d.List(w.Sim); !slices.Contains(left, copied) {
			t.Errorf("load balancers %v, and %s was the user's", left, copied)
		}
	})
}

// served returns a world with a served Service, and the Service as it was before.
func (c Cloud[O, S]) served(t *testing.T, opt O, d Doubles[S]) (w *World[S], svc, bare *corev1.Service) {
	w = c.Begin(t, opt)
	svc = c.complete(props.Service("web", d.Notes).Service)
	bare = svc.DeepCopy()
	w.Serve(svc)
	time.Sleep(2 * time.Hour) // of virtual time, so that no copy is of the future
	return w, svc, bare
}
