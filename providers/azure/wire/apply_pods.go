package wire

import (
	"errors"
	"fmt"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// writeContainer makes, changes or deletes the load balancer of one Service.
func (c *change) writeContainer(step plan.Step, spec model.Container) plan.Outcome {
	id := c.config.ContainerID(model.ContainerName(step.ID.Owner.UID))
	if step.ID.Action == plan.Delete {
		return kit.Deleted(c.remove(c.ctx, id))
	}
	var now model.Object
	err := kit.Merge(mergeTries, func() error {
		found, err := c.current(c.ctx, id, networkVersion)
		if err != nil {
			return err
		}
		now, err = c.put(c.ctx, id, model.ContainerBody(c.config, found, spec), found.Text("etag"))
		return err
	})
	if err != nil {
		return kit.Failed(err)
	}
	return doneOutcome(step, now.Text("id"), stack.Name, model.ContainerOf(c.config, now, step.ID.Owner.UID))
}

// writeContainerIP creates or deletes the public IP of one Service. An existing one of that
// name is the Service's.
func (c *change) writeContainerIP(step plan.Step, spec model.ContainerIP) plan.Outcome {
	id := c.config.ContainerIPID(model.ContainerIPName(step.ID.Owner.UID))
	if step.ID.Action == plan.Delete {
		return kit.Deleted(c.remove(c.ctx, id))
	}
	now, err := c.current(c.ctx, id, networkVersion)
	if err == nil && (now == nil || model.StateOf(now) == stack.Failed) {
		now, err = c.put(c.ctx, id, model.ContainerIPBody(c.config, spec), now.Text("etag"))
	}
	if err == nil && model.ContainerIPOf(now).Address == "" {
		now, err = c.get(c.ctx, id, networkVersion)
	}
	if err == nil && now == nil {
		err = fault.New(fault.Conflict, "public IP %s: not found", spec.Name)
	}
	if err != nil {
		return kit.Failed(err)
	}
	return doneOutcome(step, now.Text("id"), stack.Name, model.ContainerIPOf(now))
}

// writeGateway writes the services and then the addresses of all steps, with one call for
// each. If the gateway refuses the content of a call, the rejected step is searched for, so
// that one Service does not block the others.
func (c *change) writeGateway() {
	var services, addresses []int
	for i, step := range c.batch.Steps {
		if step.ID.Key.Kind == model.KindPods {
			addresses = append(addresses, i)
			continue
		}
		services = append(services, i)
	}
	for _, steps := range [][]int{services, addresses} {
		if len(steps) > 0 {
			c.part(steps).writeGatewaySteps()
		}
	}
}

// errNoGateway reports that the gateway does not exist, for which no step is to blame.
var errNoGateway = errors.New("there is no service gateway")

// writeGatewaySteps writes steps that are all about services, or all about addresses.
func (c *change) writeGatewaySteps() {
	places := make([]int, len(c.batch.Steps))
	for i := range places {
		places[i] = i
	}
	decided := map[int]bool{}
	target := c.config.GatewayID() + "/" + string(c.batch.Steps[0].ID.Key.Kind)
	name := func(i int) string { return c.batch.Steps[i].Digest() }
	refused, err := fault.SplitAmong(&c.facts.suspects, target, places, name, fault.MaxSplits, func(some []int) error {
		err := c.part(some).writeGatewayPart()
		if isAboutContent(err) {
			return &fault.Fault{Meaning: fault.Invalid, Err: err} // whatever it says of a step, it can be looked for
		}
		for _, i := range some {
			decided[i] = decided[i] || err == nil
		}
		return err
	})
	for _, r := range refused {
		decided[r.Member] = true
		if cause := errors.Unwrap(r.Err); cause != nil {
			r.Err = cause
		}
		c.set(r.Member, kit.Failed(r.Err))
	}
	for _, i := range places {
		if !decided[i] {
			c.set(i, kit.Failed(err))
		}
	}
}

// isAboutContent reports whether a call was refused for the content of some of the
// Services; then no part of it was applied.
func isAboutContent(err error) bool {
	if errors.Is(err, errNoGateway) {
		return false
	}
	for _, m := range []fault.Meaning{fault.Invalid, fault.Conflict, fault.InUse, fault.NotFound} {
		if fault.Is(err, m) {
			return true
		}
	}
	return false
}

// writeGatewayPart writes steps that are all about services, or all about addresses.
func (c *change) writeGatewayPart() error {
	which, action, field := pathServices, "updateServices", "serviceRequests"
	merge := func(found []model.Object) model.GatewayEdit { return model.MergeServices(c.config, found, c.batch) }
	if c.batch.Steps[0].ID.Key.Kind == model.KindPods {
		which, action, field = pathLocations, "updateAddressLocations", "addressLocations"
		merge = func(found []model.Object) model.GatewayEdit { return model.MergeAddresses(found, c.batch) }
	}
	gateway := c.config.GatewayID()
	found, exists, err := c.list(c.ctx, gateway+"/"+which, networkVersion, nil)
	if err != nil {
		return fmt.Errorf("service gateway %s: %w", model.GatewayName, err)
	}
	edit := merge(found)
	if !exists && len(edit.Requests) > 0 {
		return &fault.Fault{Meaning: fault.Invalid, Text: fmt.Sprintf("service gateway %s: does not exist in the resource group %s", model.GatewayName, c.config.Group), Err: errNoGateway}
	}
	if len(edit.Requests) > 0 {
		body := model.Object{"action": model.PartialUpdate}
		body.SetList(field, edit.Requests)
		err := c.post(c.ctx, gateway+"/"+action, body)
		after := model.Object{}
		after.SetList("value", edit.After)
		c.memory.note(gateway+"/"+which, after, err, c.now())
		if err != nil {
			return fmt.Errorf("service gateway %s: %w", model.GatewayName, err)
		}
	}
	for i, step := range c.batch.Steps {
		c.set(i, c.gatewayOutcome(step, edit.Refused[i]))
	}
	return nil
}

func (c *change) gatewayOutcome(step plan.Step, refused error) plan.Outcome {
	switch {
	case refused != nil:
		return plan.Failed(refused)
	case step.ID.Action == plan.Delete:
		return kit.Deleted(nil)
	}
	out := doneOutcome(step, "", stack.Name, step.Target.Spec)
	for _, w := range step.With {
		w.Proof = stack.Derived
		out.Parts = append(out.Parts, w)
	}
	return out
}
