package wire

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
)

// removeBalancer deletes a load balancer without frontends. Azure refuses that while a
// scale set is in one of its pools. Services that are deleted at the same moment see each
// other's rules, so each leaves the members to the others. The deletion of the load
// balancer removes them.
func (c *change) removeBalancer(lb model.Object) error {
	id := lb.Text("id")
	err := c.remove(c.ctx, id)
	if !fault.Is(err, fault.InUse) || c.config.PoolType == model.PoolNodeIP {
		return err
	}
	defer c.facts.forgetFleet()
	sets, listErr := c.setsNear(lb)
	if listErr != nil {
		return listErr
	}
	for _, set := range sets {
		for _, pool := range lb.Props().List(model.ListPools) {
			if err := c.leave(model.ScaleSet{ID: strings.ToLower(set.Text("id")), Flex: isFlexible(set)}, id+"/"+model.ListPools+"/"+pool.Text("name")); err != nil {
				return err
			}
		}
	}
	return c.remove(c.ctx, id)
}

// setsNear are the scale sets that may be in a load balancer's pools: those of
// the nodes' group, and of the groups of its members.
func (c *change) setsNear(lb model.Object) ([]model.Object, error) {
	groups := map[string]bool{c.config.Group: true}
	for _, pool := range lb.Props().List(model.ListPools) {
		for _, member := range pool.Props().List(model.ListMembers) {
			if id := strings.ToLower(member.Text("id")); strings.Contains(id, "/virtualmachinescalesets/") {
				groups[model.GroupOf(id)] = true
			}
		}
	}
	var out []model.Object
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

// usesBalancer reports whether the model of a scale set, or one of its machines, is in a
// pool of the load balancer.
func usesBalancer(set, lb model.Object) bool {
	inModel := func(pool model.Object) bool {
		name := pool.Text("name")
		configuration := configurationOf(modelInterfaces(set), name)
		return configuration != nil && inPool(configuration, poolID(lb, name))
	}
	isMember := func(pool model.Object) bool {
		return slices.ContainsFunc(pool.Props().List(model.ListMembers), func(o model.Object) bool {
			return strings.HasPrefix(strings.ToLower(o.Text("id")), strings.ToLower(set.Text("id"))+"/")
		})
	}
	return slices.ContainsFunc(lb.Props().List(model.ListPools), func(pool model.Object) bool { return inModel(pool) || isMember(pool) })
}
