package azure_test

import (
	"testing"

	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestPermissions holds docs/permissions/azure.json against what is called, with
// pools of addresses and of the interfaces of all sorts of machines.
func TestPermissions(t *testing.T) {
	login(t)
	link := service("link", map[string]string{"load-balancer-internal": "true", "pls-create": "true"}, nil)
	walks := []permissions.Walk{{Fresh: fresh(simazure.SeedOptions{Nodes: 6}), Cases: append(cases(), link, cases()[1])}}
	for _, as := range []simazure.NodesAs{simazure.VMSS, simazure.VM, simazure.Flex} {
		walks = append(walks, permissions.Walk{
			Fresh: fresh(simazure.SeedOptions{Nodes: 3, NodesAs: as, Pools: simazure.NodeNIC}), Cases: []props.Case{cases()[0], cases()[1]}})
	}
	permissions.Check(t, permissions.Azure(), walks...)
}
