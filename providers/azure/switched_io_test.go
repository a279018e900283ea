package azure_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestSwitched: an existing load balancer stays until its replacement is complete, also where
// nothing waits for the status, as in a plugin.
func TestSwitched(t *testing.T) {
	for _, pools := range []simazure.PoolType{simazure.NodeIP, simazure.NodeNIC} {
		t.Run(string(pools), func(t *testing.T) {
			start := newSubject(simazure.SeedOptions{Nodes: 3, Pools: pools})
			public, internal := serviceCase("public", nil, nil), serviceCase("internal", map[string]string{"load-balancer-internal": "true"}, nil)
			props.Switched(t, start, public, internal)
			props.Switched(t, start, internal, public)
		})
	}
}
