package wire

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/stack"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestPagesOfCompute verifies that all pages of Compute's lists, whose links name the
// default port, are read, and that every machine is added to the pool.
func TestPagesOfCompute(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		for _, as := range []simazure.NodesAs{simazure.VM, simazure.VMSS} {
			r := newRig(t, simazure.Options{
				Seed: simazure.SeedOptions{Nodes: 7, Pools: simazure.NodeNIC, NodesAs: as}, ARM: simarm.Options{PageSize: 2},
			})
			svc := numberedService(1, model.Internal, nil)
			have, err := r.run(svc, false)
			if err != nil {
				t.Fatalf("%s: %v", as, err)
			}
			members := 0
			for _, kind := range []stack.Kind{model.KindNICs, model.KindScaleSet} {
				for _, res := range have.Of(kind) {
					switch spec := res.Spec.(type) {
					case model.NICs:
						members += len(spec.Members)
					case model.ScaleSet:
						members += len(spec.Instances)
					}
				}
			}
			if members != 7 {
				t.Errorf("%s: %d members, want 7", as, members)
			}
			paged := 0
			for _, e := range r.sim.Cloud.Journal.Entries() {
				if e.Service == "compute" && strings.Contains(e.Operation, "List") {
					paged++
				}
			}
			if paged < 3 {
				t.Errorf("%s: %d calls for lists of machines, so there was no second page", as, paged)
			}
		}
	})
}
