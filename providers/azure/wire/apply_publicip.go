package wire

import (
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// writePublicIP makes, changes or releases a public IP.
func (c *change) writePublicIP(step plan.Step, spec model.PublicIP) plan.Outcome {
	switch step.ID.Action {
	case plan.Create:
		return c.createPublicIP(step, spec)
	case plan.Delete:
		return c.releasePublicIP(step)
	default: // an update
	}
	o, err := c.editPublicIP(step.ID.Key, func(found model.Object) (model.Object, error) {
		return model.PublicIPUpdate(found, spec, changedFields(step)), nil
	})
	if err != nil {
		return kit.Failed(err)
	}
	return c.publicIPOutcome(step, o)
}

// editPublicIP writes an edited public IP, unless the edit changes nothing.
func (c *change) editPublicIP(key stack.Key, edit func(model.Object) (model.Object, error)) (model.Object, error) {
	key.Kind = model.KindPublicIP
	var now model.Object
	err := kit.Merge(mergeTries, func() error {
		found, err := c.current(c.ctx, c.config.PublicIPID(key), networkVersion)
		if err != nil {
			return err
		}
		if found == nil {
			return fault.New(fault.NotFound, "public IP %s: not found", key.Name)
		}
		wanted, err := edit(found)
		if err != nil {
			return err
		}
		if now = found; model.StateOf(found) != stack.Failed && reflect.DeepEqual(map[string]any(wanted), map[string]any(found)) {
			return nil
		}
		now, err = c.put(c.ctx, c.config.PublicIPID(key), wanted, found.Text("etag"))
		return err
	})
	if err == nil {
		c.facts.learnIP(now)
	}
	return now, err
}

// createPublicIP checks for an existing public IP first, because a PUT would overwrite it;
// a list read just now is sufficient.
func (c *change) createPublicIP(step plan.Step, spec model.PublicIP) plan.Outcome {
	id := c.config.PublicIPID(step.ID.Key)
	found, known := c.memory.publicIP(id, c.now())
	if !known || found != nil {
		var err error
		if found, err = c.current(c.ctx, id, networkVersion); err != nil {
			return kit.Failed(err)
		}
	}
	if found != nil {
		return c.takePublicIP(step, found)
	}
	body, err := model.PublicIPBody(c.config, spec, step.ID.Owner, bindingWith(step))
	if err != nil {
		return kit.Failed(err)
	}
	o, err := c.put(c.ctx, id, body, "")
	if err != nil {
		return kit.Failed(err)
	}
	if model.PublicIPOf(o).Address == "" {
		if o, err = c.get(c.ctx, id, networkVersion); err == nil && o == nil {
			err = fault.New(fault.Conflict, "public IP %s: not found", step.ID.Key.Name)
		}
		if err != nil {
			return kit.Failed(err)
		}
	}
	c.facts.learnIP(o)
	return c.publicIPOutcome(step, o)
}

// takePublicIP adopts a public IP created by a controller of the cluster, such as this one
// before a crash.
func (c *change) takePublicIP(step plan.Step, found model.Object) plan.Outcome {
	f := model.PublicIPOf(found)
	if !f.Managed() && !f.GivenUp(c.cluster, step.ID.Owner) || !f.Tags.OfCluster(c.cluster) {
		return plan.Failed(fault.New(fault.Exists, "public IP %s: exists, and no controller of this cluster created it", step.ID.Key.Name))
	}
	if with := bindingWith(step); with != nil {
		o, err := c.editPublicIP(step.ID.Key, func(o model.Object) (model.Object, error) { return model.Bound(o, step.ID.Owner, *with) })
		if err != nil {
			return kit.Failed(err)
		}
		found = o
	}
	c.facts.learnIP(found)
	return c.publicIPOutcome(step, found)
}

func bindingWith(step plan.Step) *model.Binding {
	for _, w := range step.With {
		if b, ok := w.Spec.(model.Binding); ok {
			return &b
		}
	}
	return nil
}

// publicIPOutcome is what became of a public IP and, where the same call wrote
// it, of its binding.
func (c *change) publicIPOutcome(step plan.Step, o model.Object) plan.Outcome {
	out := plan.Outcome{Sent: plan.WasSent}
	for _, r := range model.PublicIPResources(o, model.PublicIPOf(o), c.cluster, step.ID.Owner, true) {
		switch {
		case r.Key == step.ID.Key:
			r.Proof = stack.Tag
			out.After = r
		case slices.ContainsFunc(step.With, func(w stack.Resource) bool { return w.Key == r.Key }):
			out.Parts = append(out.Parts, r)
		}
	}
	if out.After.Key == (stack.Key{}) {
		return plan.Failed(fault.New(fault.Conflict, "public IP %s: is not the cluster's any more", step.ID.Key.Name))
	}
	return out
}

// writeBinding writes what one Service has on a public IP.
func (c *change) writeBinding(step plan.Step, spec model.Binding) plan.Outcome {
	if step.ID.Action == plan.Delete {
		return c.unbind(step, spec)
	}
	o, err := c.editPublicIP(step.ID.Key, func(found model.Object) (model.Object, error) { return model.Bound(found, step.ID.Owner, spec) })
	if err != nil {
		return kit.Failed(err)
	}
	if spec.DNSLabel != nil {
		now := model.PublicIPOf(o).DNSLabel
		spec.DNSLabel = &now
	}
	return doneOutcome(step, o.Text("id"), stack.Tag, spec)
}

// unbind takes the Service off a public IP that stays because another Service wants
// it. One that none wants is released as a whole, in the step of its own.
func (c *change) unbind(step plan.Step, spec model.Binding) plan.Outcome {
	if spec.Service == "" || !c.wantedByOthers(step) {
		return kit.Deleted(nil)
	}
	return c.dropOwner(step)
}

// dropOwner takes the Service off a public IP, which stays.
func (c *change) dropOwner(step plan.Step) plan.Outcome {
	_, err := c.editPublicIP(step.ID.Key, func(found model.Object) (model.Object, error) {
		out, _ := model.Unbound(found, step.ID.Owner)
		return out, nil
	})
	return kit.Deleted(err)
}

// wantedByOthers reports whether another Service wants the public IP at this moment.
func (c *change) wantedByOthers(step plan.Step) bool {
	key := step.ID.Key
	key.Kind = model.KindPublicIP
	entry := stack.Resource{Key: key, Ownership: stack.Shared, Spec: model.PublicIP{}}
	return c.batch.Claims != nil && len(c.batch.Claims.Others(step.ID.Owner, entry)) > 0
}

// releasePublicIP deletes a public IP, or takes the Service off it if others are
// on it or something holds it that is not ours.
func (c *change) releasePublicIP(step plan.Step) plan.Outcome {
	id := c.config.PublicIPID(step.ID.Key)
	found, err := c.current(c.ctx, id, networkVersion)
	if err != nil {
		return kit.Failed(err)
	}
	if found == nil {
		return kit.Deleted(nil)
	}
	_, last := model.Unbound(found, step.ID.Owner)
	held, err := c.holds(found)
	switch {
	case err != nil:
		return kit.Failed(err)
	case last && !held && !c.wantedByOthers(step):
		if err = c.remove(c.ctx, id); err == nil {
			c.facts.ips.Forget(step.ID.Key)
		}
		return kit.Deleted(err)
	}
	return c.dropOwner(step)
}

// holds reports whether another resource uses the public IP. A frontend of the cluster's
// own that is already deleted from its load balancer does not count: Azure shows it for
// some seconds more, so the step waits.
func (c *change) holds(found model.Object) (bool, error) {
	holder := model.PublicIPOf(found).Attached
	if holder == "" {
		return false, nil
	}
	balancer, frontend, is := strings.Cut(holder, "/"+strings.ToLower(model.ListFrontends)+"/")
	if !is || model.GroupOf(balancer) != c.config.GroupOfBalancers() || !model.ContainsFold(c.config.Balancers(c.cluster), model.LastSegment(balancer)) {
		return true, nil
	}
	lb, err := c.get(c.ctx, balancer, networkVersion)
	if err != nil {
		return true, err
	}
	frontends := lb.Props().List(model.ListFrontends)
	if i := model.Named(frontends, frontend); i >= 0 && model.SameID(frontends[i].Ref("publicIPAddress"), found.Text("id")) {
		return true, nil // an outbound or NAT rule keeps the frontend
	}
	return false, &fault.Fault{Meaning: fault.InUse, After: lateDelay, Text: "public IP " + found.Text("name") + ": Azure still shows it on frontend " + frontend + ", which is deleted"}
}
