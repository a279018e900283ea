package azure_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestMistaken: what annotations name and Azure does not have takes nothing away.
func TestMistaken(t *testing.T) {
	internal := func(more ...string) map[string]string {
		out := map[string]string{"load-balancer-internal": "true"}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	for _, c := range []struct {
		props.Case
		key, value string
	}{
		{service("internal", internal(), nil), "load-balancer-internal-subnet", "nowhere"},
		{service("internal-subnet", internal("load-balancer-internal-subnet", "internal"), props.Local), "load-balancer-internal-subnet", "nowhere"},
		{service("internal-dual", internal(), props.Dual), "load-balancer-internal-subnet", "nowhere"},
		{service("public", nil, nil), "pip-name", "nowhere"},
		{service("public", nil, nil), "load-balancer-ipv4", "192.0.2.1"},
		{service("public", nil, nil), "load-balancer-resource-group", "nowhere"},
	} {
		for name, pools := range map[string]simazure.PoolType{"addresses": simazure.NodeIP, "interfaces": simazure.NodeNIC} {
			t.Run(name, func(t *testing.T) {
				seed := simazure.SeedOptions{Nodes: 3, Pools: pools, DualStack: true}
				props.Mistaken(t, fresh(seed), c.Case, prefix+c.key, c.value)
			})
		}
	}
}
