package azure_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestRenumbered verifies that no old port is removed before the new ports exist.
func TestRenumbered(t *testing.T) {
	for _, pools := range []simazure.PoolType{simazure.NodeIP, simazure.NodeNIC} {
		t.Run(string(pools), func(t *testing.T) {
			start := newSubject(simazure.SeedOptions{Nodes: 3, Pools: pools})
			props.Renumbered(t, start, serviceCase("public", nil, nil))
			props.Renumbered(t, start, serviceCase("internal", map[string]string{"load-balancer-internal": "true"}, nil))
		})
	}
}
