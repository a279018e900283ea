package azure

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
)

// removeBalancer deletes a load balancer that has no frontend left. Azure refuses
// it while a scale set is in one of its pools: Services that go at the same moment
// see each other's rules, each leaves the members to the others, and nobody is
// left to take them out but the one who deletes.
func (c *change) removeBalancer(lb Object) error {
	id := lb.text("id")
	err := c.remove(c.ctx, id)
	if !fault.Is(err, fault.InUse) || c.config.PoolType == poolNodeIP {
		return err
	}
	defer c.facts.forgetFleet()
	sets, listErr := c.setsNear(lb)
	if listErr != nil {
		return listErr
	}
	for _, set := range sets {
		for _, pool := range lb.props().list(listPools) {
			if err := c.leave(ScaleSet{ID: strings.ToLower(set.text("id")), Flex: isFlexible(set)}, id+"/"+listPools+"/"+pool.text("name")); err != nil {
				return err
			}
		}
	}
	return c.remove(c.ctx, id)
}

// setsNear are the scale sets that may be in a load balancer's pools: those of
// the nodes' group, and of the groups of its members.
func (c *change) setsNear(lb Object) ([]Object, error) {
	groups := map[string]bool{c.config.Group: true}
	for _, pool := range lb.props().list(listPools) {
		for _, member := range pool.props().list(listMembers) {
			if id := strings.ToLower(member.text("id")); strings.Contains(id, "/virtualmachinescalesets/") {
				groups[groupOf(id)] = true
			}
		}
	}
	var out []Object
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		path := "/subscriptions/" + c.config.Subscription + "/resourceGroups/" + group + "/providers/Microsoft.Compute/virtualMachineScaleSets"
		sets, _, err := c.list(c.ctx, path, computeVersion, nil)
		if err != nil {
			return nil, err
		}
		for _, set := range sets {
			if usesBalancer(set, lb) {
				out = append(out, set)
			}
		}
	}
	return out, nil
}

// usesBalancer tells whether the model of a scale set, or one of its machines, is
// in a pool of the load balancer.
func usesBalancer(set, lb Object) bool {
	inModel := func(pool Object) bool {
		name := pool.text("name")
		configuration := configurationOf(modelInterfaces(set), name)
		return configuration != nil && inPool(configuration, poolID(lb, name))
	}
	isMember := func(pool Object) bool {
		return slices.ContainsFunc(pool.props().list(listMembers), func(o Object) bool {
			return strings.HasPrefix(strings.ToLower(o.text("id")), strings.ToLower(set.text("id"))+"/")
		})
	}
	return slices.ContainsFunc(lb.props().list(listPools), func(pool Object) bool { return inModel(pool) || isMember(pool) })
}
