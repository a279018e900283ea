package azure_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestSwitched: a load balancer that cannot be made takes no other one away, also where
// nothing waits for the status, as in a plugin. A write of machines takes them from one pool
// to the other, and what is refused of members stands for no more than each of them. Who may come to a public address is
// written once it is known.
func TestSwitched(t *testing.T) {
	for pools, except := range map[simazure.PoolType][]string{
		simazure.NodeIP:  {"LoadBalancerBackendAddressPools.CreateOrUpdate"},
		simazure.NodeNIC: {"VirtualMachineScaleSets.CreateOrUpdate", "VirtualMachineScaleSetVMs.CreateOrUpdate"},
	} {
		t.Run(string(pools), func(t *testing.T) {
			start := fresh(simazure.SeedOptions{Nodes: 3, Pools: pools})
			public, internal := service("public", nil, nil), service("internal", map[string]string{"load-balancer-internal": "true"}, nil)
			props.Switched(t, start, public, internal, except...)
			props.Switched(t, start, internal, public, append(except, "SecurityGroups.CreateOrUpdate")...)
		})
	}
}
