package alibaba_test

import (
	"slices"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestDoubles: see account.Cloud.Doubled, for load balancers of both kinds.
func TestDoubles(t *testing.T) {
	d := account.Doubles[simulated]{
		Double: func(s simulated, id string, after time.Duration) string { return s.Cloud.Double(id, after) },
		Unmark: func(s simulated, id string) { s.Cloud.Untag(id, model.TagCluster) },
	}
	t.Run("clb", func(t *testing.T) {
		d.List = func(s simulated) []string { return s.Cloud.Balancers() }
		onAlibaba().Doubled(t, withNodes(3), d)
	})
	t.Run("nlb", func(t *testing.T) {
		d.List = func(s simulated) []string { return s.Cloud.Nets() }
		onNet().Doubled(t, withNodes(3), d)
	})
}

// TestDoubleOfPreserved: a Service that keeps its load balancer when it is deleted keeps one.
func TestDoubleOfPreserved(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(3))
		svc := props.Service("web", withKeys("preserve-lb-on-delete", "true")).Service
		w.Serve(svc)
		kept := w.Sim.Cloud.Balancers()
		w.Sim.Cloud.Double(kept[0], -time.Hour)
		w.Restart(svc)
		w.Release(svc)
		if left := w.Sim.Cloud.Balancers(); !slices.Equal(left, kept) {
			t.Errorf("load balancers %v, want %v", left, kept)
		}
	})
}

// TestDoubledSecurityGroup: of two security groups of a Service the one stays that its load balancer has joined.
func TestDoubledSecurityGroup(t *testing.T) {
	for _, after := range []time.Duration{-time.Hour, time.Hour} {
		virtual.Run(t, after.String(), func(t *testing.T) {
			w := onNet().Begin(t, withNodes(3))
			svc := netCase("web", nil, withRanges("10.0.0.0/8")).Service
			w.Serve(svc)
			time.Sleep(2 * time.Hour)
			kept := w.Sim.Cloud.SecurityGroups()
			w.Sim.Cloud.DoubleSecurityGroup(kept[0], after)
			w.Restart(svc)
			w.Serve(svc)
			if left := w.Sim.Cloud.SecurityGroups(); !slices.Equal(left, kept) {
				t.Errorf("security groups %v, want %v", left, kept)
			}
			w.Sim.Cloud.DoubleSecurityGroup(kept[0], after)
			w.Restart(svc)
			w.Release(svc)
			if left := w.Sim.Cloud.SecurityGroups(); len(left) > 0 {
				t.Errorf("security groups %v are left", left)
			}
		})
	}
}
