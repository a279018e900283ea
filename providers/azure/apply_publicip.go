package azure

import (
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// writePublicIP makes, changes or releases a public IP.
func (c *change) writePublicIP(step plan.Step, spec PublicIP) plan.Outcome {
	switch step.ID.Action {
	case plan.Create:
		return c.createPublicIP(step, spec)
	case plan.Delete:
		return c.releasePublicIP(step)
	default: // an update
	}
	o, err := c.editPublicIP(step.ID.Key, func(found Object) (Object, error) {
		return publicIPUpdate(found, spec, fields(step)), nil
	})
	if err != nil {
		return kit.Failed(err)
	}
	return c.publicIPOutcome(step, o)
}

// editPublicIP writes an edited public IP, unless the edit changes nothing.
func (c *change) editPublicIP(key stack.Key, edit func(Object) (Object, error)) (Object, error) {
	key.Kind = KindPublicIP
	var now Object
	err := kit.Merge(mergeTries, func() error {
		found, err := c.current(c.ctx, c.config.publicIPID(key), networkVersion)
		if err != nil {
			return err
		}
		if found == nil {
			return fault.New(fault.NotFound, "public IP %s: is gone", key.Name)
		}
		wanted, err := edit(found)
		if err != nil {
			return err
		}
		if now = found; stateOf(found) != stack.Failed && reflect.DeepEqual(map[string]any(wanted), map[string]any(found)) {
			return nil
		}
		now, err = c.put(c.ctx, c.config.publicIPID(key), wanted, found.text("etag"))
		return err
	})
	if err == nil {
		c.facts.learnIP(now)
	}
	return now, err
}

// createPublicIP looks first, because a PUT would write over what is there; a list
// of this moment will do.
func (c *change) createPublicIP(step plan.Step, spec PublicIP) plan.Outcome {
	id := c.config.publicIPID(step.ID.Key)
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
	body, err := publicIPBody(c.config, spec, step.ID.Owner, bindingWith(step))
	if err != nil {
		return kit.Failed(err)
	}
	o, err := c.put(c.ctx, id, body, "")
	if err != nil {
		return kit.Failed(err)
	}
	if publicIPOf(o).Address == "" {
		if o, err = c.get(c.ctx, id, networkVersion); err != nil || o == nil {
			return kit.Failed(orGone(err, step))
		}
	}
	c.facts.learnIP(o)
	return c.publicIPOutcome(step, o)
}

func orGone(err error, step plan.Step) error {
	if err != nil {
		return err
	}
	return fault.New(fault.Conflict, "public IP %s: is gone", step.ID.Key.Name)
}

// takePublicIP goes on with one that a controller of the cluster made, such as
// ourselves before a crash.
func (c *change) takePublicIP(step plan.Step, found Object) plan.Outcome {
	f := publicIPOf(found)
	if !f.Managed() && !f.givenUp(c.cluster, step.ID.Owner) || !f.Tags.ofCluster(c.cluster) {
		return plan.Failed(fault.New(fault.Exists, "public IP %s: is there and no controller of this cluster made it", step.ID.Key.Name))
	}
	if with := bindingWith(step); with != nil {
		o, err := c.editPublicIP(step.ID.Key, func(o Object) (Object, error) { return bound(o, step.ID.Owner, *with) })
		if err != nil {
			return kit.Failed(err)
		}
		found = o
	}
	c.facts.learnIP(found)
	return c.publicIPOutcome(step, found)
}

func bindingWith(step plan.Step) *Binding {
	for _, w := range step.With {
		if b, ok := w.Spec.(Binding); ok {
			return &b
		}
	}
	return nil
}

// publicIPOutcome is what became of a public IP and, where the same call wrote
// it, of its binding.
func (c *change) publicIPOutcome(step plan.Step, o Object) plan.Outcome {
	out := plan.Outcome{Sent: plan.WasSent}
	for _, r := range publicIPResources(o, publicIPOf(o), c.cluster, step.ID.Owner, true) {
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
func (c *change) writeBinding(step plan.Step, spec Binding) plan.Outcome {
	if step.ID.Action == plan.Delete {
		return c.unbind(step, spec)
	}
	o, err := c.editPublicIP(step.ID.Key, func(found Object) (Object, error) { return bound(found, step.ID.Owner, spec) })
	if err != nil {
		return kit.Failed(err)
	}
	if spec.DNSLabel != nil {
		now := publicIPOf(o).DNSLabel
		spec.DNSLabel = &now
	}
	return after(step, o.text("id"), stack.Tag, spec)
}

// unbind takes the Service off a public IP that stays because another Service wants
// it. One that none wants is released as a whole, in the step of its own.
func (c *change) unbind(step plan.Step, spec Binding) plan.Outcome {
	if spec.Service == "" || !c.claimed(step) {
		return gone()
	}
	_, err := c.editPublicIP(step.ID.Key, func(found Object) (Object, error) {
		out, _ := unbound(found, step.ID.Owner)
		return out, nil
	})
	if err != nil && !fault.Is(err, fault.NotFound) {
		return kit.Failed(err)
	}
	return gone()
}

// claimed tells whether at this moment another Service wants the public IP.
func (c *change) claimed(step plan.Step) bool {
	key := step.ID.Key
	key.Kind = KindPublicIP
	entry := stack.Resource{Key: key, Hold: stack.Counted, Spec: PublicIP{}}
	return c.batch.Claims != nil && len(c.batch.Claims.Others(step.ID.Owner, entry)) > 0
}

// releasePublicIP deletes a public IP, or takes the Service off it if others are
// on it or something holds it that is not ours.
func (c *change) releasePublicIP(step plan.Step) plan.Outcome {
	id := c.config.publicIPID(step.ID.Key)
	found, err := c.current(c.ctx, id, networkVersion)
	if err != nil {
		return kit.Failed(err)
	}
	if found == nil {
		return gone()
	}
	_, last := unbound(found, step.ID.Owner)
	held, err := c.holds(found)
	switch {
	case err != nil:
		return kit.Failed(err)
	case last && !held && !c.claimed(step):
		if err = c.remove(c.ctx, id); err == nil {
			c.facts.forgetIP(step.ID.Key)
		}
		return outcomeOf(err)
	}
	_, err = c.editPublicIP(step.ID.Key, func(o Object) (Object, error) {
		out, _ := unbound(o, step.ID.Owner)
		return out, nil
	})
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	return outcomeOf(err)
}

// holds tells whether something has a public IP that keeps it. A frontend of the
// cluster's own that is gone from its load balancer is nothing to keep it: Azure shows
// it for some seconds more, which is a wait.
func (c *change) holds(found Object) (bool, error) {
	holder := publicIPOf(found).Attached
	if holder == "" {
		return false, nil
	}
	balancer, frontend, is := strings.Cut(holder, "/"+strings.ToLower(listFrontends)+"/")
	if !is || groupOf(balancer) != c.config.balancerGroup() || !containsFold(c.config.balancers(c.cluster), lastSegment(balancer)) {
		return true, nil
	}
	lb, err := c.get(c.ctx, balancer, networkVersion)
	if err != nil {
		return true, err
	}
	frontends := lb.props().list(listFrontends)
	if i := named(frontends, frontend); i >= 0 && sameID(frontends[i].ref("publicIPAddress"), found.text("id")) {
		return true, nil // an outbound or NAT rule keeps the frontend
	}
	return false, &fault.Fault{Meaning: fault.InUse, After: lateDelay, Text: "public IP " + found.text("name") + ": Azure still shows it on frontend " + frontend + ", which is gone"}
}

func outcomeOf(err error) plan.Outcome {
	if err != nil {
		return kit.Failed(err)
	}
	return gone()
}
