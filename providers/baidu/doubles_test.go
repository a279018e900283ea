package baidu_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

func doublesOf(notes map[string]string) account.Doubles[simulated] {
	return account.Doubles[simulated]{
		List:   func(s simulated) []string { return s.Cloud.Balancers() },
		Double: func(s simulated, id string, after time.Duration) string { return s.Cloud.Double(id, after) },
		Unmark: func(s simulated, id string) {
			mark := ""
			for _, t := range s.Cloud.Balancer(id).Objects("tags") {
				mark = t.Text("tagValue")
			}
			s.Cloud.SetTags(id, map[string]string{model.TagUsed: mark})
		},
		Notes: notes,
	}
}

// TestDoubles: see account.Cloud.Doubled. These load balancers have no public address.
func TestDoubles(t *testing.T) {
	onBaidu().Doubled(t, withNodes(3), doublesOf(withKey(lb+"internal-vpc", "true")))
}

// TestDoubledPublic: of two load balancers, and of two addresses, those stay that are bound to each other.
func TestDoubledPublic(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		for _, after := range []time.Duration{-time.Hour, time.Hour} {
			virtual.Run(t, fmt.Sprintf("recorded %v, %s later", recorded, after), func(t *testing.T) {
				w := beginWorld(t, withNodes(3))
				svc := props.Service("web", nil).Service
				bare := svc.DeepCopy()
				w.Serve(svc)
				time.Sleep(2 * time.Hour)
				addresses, balancers := w.Sim.Cloud.Addresses(), w.Sim.Cloud.Balancers()
				double := func() {
					w.Sim.Cloud.DoubleAddress(addresses[0], after)
					w.Sim.Cloud.Double(balancers[0], after)
				}
				if !recorded {
					svc = bare
				}
				double()
				w.Restart(svc)
				w.Serve(svc)
				if a, b := w.Sim.Cloud.Addresses(), w.Sim.Cloud.Balancers(); !slices.Equal(a, addresses) || !slices.Equal(b, balancers) {
					t.Errorf("EIPs %v, want %v, load balancers %v, want %v", a, addresses, b, balancers)
				}
				double()
				w.Restart(svc)
				w.Release(svc)
				if a, b := w.Sim.Cloud.Addresses(), w.Sim.Cloud.Balancers(); len(a)+len(b) > 0 {
					t.Errorf("EIPs %v and load balancers %v are left", a, b)
				}
			})
		}
	}
}
