package wire

import (
	"strings"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// writeLink makes, changes or deletes a private link service.
func (c *change) writeLink(step plan.Step, spec model.Link) plan.Outcome {
	id := model.ARMID(c.config.SubscriptionOfNetwork(), spec.Group, "privateLinkServices", spec.Name)
	found, err := c.current(c.ctx, id, networkVersion)
	if err != nil {
		return kit.Failed(err)
	}
	if step.ID.Action == plan.Delete {
		return kit.Deleted(c.deleteLink(id, found))
	}
	if by, _ := found.Tags().Get(model.TagOwner); found != nil && by != model.ServiceKey(step.ID.Owner) {
		return plan.Failed(fault.New(fault.Exists, "private link service %s: exists and does not belong to this Service", spec.Name))
	}
	o, err := c.put(c.ctx, id, model.LinkBody(c.config, found, spec), "")
	if err != nil {
		return kit.Failed(err)
	}
	now := model.LinkOf(o, nil)
	now.On = spec.On
	return doneOutcome(step, o.Text("id"), stack.Tag, now)
}

// deleteLink ends the connections first, without which Azure refuses.
func (c *change) deleteLink(id string, found model.Object) error {
	for _, connection := range found.Props().List("privateEndpointConnections") {
		if err := c.remove(c.ctx, id+"/privateEndpointConnections/"+connection.Text("name")); err != nil {
			return err
		}
	}
	if found == nil {
		return nil
	}
	return c.remove(c.ctx, id)
}

// writePolicy lets private link services take addresses of a subnet. It is never
// undone, since others may rely on it.
func (c *change) writePolicy(step plan.Step, spec model.Policy) plan.Outcome {
	if step.ID.Action == plan.Delete {
		return kit.Deleted(nil)
	}
	id := c.config.SubnetID(spec.Subnet)
	found, err := c.current(c.ctx, id, networkVersion)
	if err != nil {
		return kit.Failed(err)
	}
	if found == nil {
		return plan.Failed(fault.New(fault.Invalid, "subnet %s: does not exist", spec.Subnet))
	}
	if !subnetOf(found).PolicyDisabled {
		body := found.Clone()
		body.Make("properties")["privateLinkServiceNetworkPolicies"] = "Disabled"
		if found, err = c.put(c.ctx, id, body, ""); err != nil {
			return kit.Failed(err)
		}
		c.facts.subnet(strings.ToLower(spec.Subnet)).Forget()
	}
	return doneOutcome(step, found.Text("id"), stack.None, spec)
}
