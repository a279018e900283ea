package wire

import (
	"cmp"
	"errors"
	"strings"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack/plan"
)

// setChange is what a batch does to one uniform or flexible scale set: to its model,
// and to its machines.
type setChange struct {
	crowd       // its machines
	id          string
	join, leave membership      // of the model
	refused     map[int]error   // steps that cannot be done
	done        map[int]bool    // steps for which nothing is to be done
	emptied     map[string]bool // pools that every machine leaves, also those made since the plan
}

func (c *change) scaleSet(id string) *setChange {
	return &setChange{
		crowd: crowd{change: c, wishes: memberships{}, version: computeVersion, body: instanceBody, configuration: instanceConfiguration}, id: id,
		join: membership{}, leave: membership{}, refused: map[int]error{}, done: map[int]bool{}, emptied: map[string]bool{},
	}
}

// writeScaleSet brings the model and the machines of a scale set into pools, or out
// of them, for all steps at once: the model first when they join, so that machines
// made meanwhile come with the pool, and last when they leave.
func (c *change) writeScaleSet() {
	spec, _ := c.batch.Steps[0].Target.Spec.(model.ScaleSet)
	s := c.scaleSet(scaleSetOf(c.batch.Steps[0]))
	defer c.facts.forgetFleet()
	for i, step := range c.batch.Steps {
		s.wish(i, step)
	}
	listed := s.everyMachine(spec.Flex)
	joined := c.writeModel(s.id, s.join)
	errs := map[string]error{}
	if joined == nil {
		errs = s.write()
	}
	left := cmp.Or(listed, joined, s.firstLeaving(errs))
	if left == nil {
		left = c.writeModel(s.id, s.leave)
	}
	for i, step := range c.batch.Steps {
		c.set(i, s.outcome(i, step, errs, joined, left))
	}
}

// scaleSetOf is the id of the scale set that a step is about.
func scaleSetOf(step plan.Step) string {
	spec, _ := step.Target.Spec.(model.ScaleSet)
	return spec.ID
}

// wish notes what a step wants.
func (s *setChange) wish(i int, step plan.Step) {
	spec, ok := step.Target.Spec.(model.ScaleSet)
	if !ok {
		s.refused[i] = fault.New(fault.Internal, "%s: its content is a %T", step.ID, step.Target.Spec)
		return
	}
	add, remove := plan.Members[model.Instance](step)
	pool := s.pool(step)
	switch step.ID.Action {
	case plan.Delete:
		kept, err := s.keeps(step)
		if kept || err != nil {
			s.refused[i], s.done[i] = err, kept
			return
		}
		s.emptied[pool] = true
	case plan.Create:
		add = spec.Instances
		s.join[pool] = true
	default: // an update says what joins and what leaves
		if len(add) > 0 {
			s.join[pool] = true
		}
	}
	for join, list := range map[bool][]model.Instance{false: remove, true: add} {
		for _, instance := range list {
			s.wishes.add(s.machine(instance), pool, join)
		}
	}
}

func (s *setChange) machine(i model.Instance) string { return s.id + "/virtualMachines/" + i.ID }

// everyMachine lets all machines leave the pools that are given up, and the model,
// unless another step of the batch joins them.
func (s *setChange) everyMachine(flex bool) error {
	for pool := range s.emptied {
		if s.join[pool] {
			delete(s.emptied, pool)
			continue
		}
		s.leave[pool] = false
	}
	if len(s.emptied) == 0 || flex {
		return nil
	}
	list, _, err := s.list(s.ctx, s.id+"/virtualMachines", computeVersion, nil)
	s.show(list)
	for _, o := range list {
		for pool := range s.emptied {
			s.wishes.add(s.machine(model.Instance{ID: o.Text("instanceId")}), pool, false)
		}
	}
	return err
}

// firstLeaving is the fault of a machine that could not leave a pool that is given
// up; while one is in it, the model stays as well.
func (s *setChange) firstLeaving(errs map[string]error) error {
	for id, err := range errs {
		for pool := range s.emptied {
			if _, leaves := s.wishes[id][pool]; leaves {
				return err
			}
		}
	}
	return nil
}

func (s *setChange) outcome(i int, step plan.Step, errs map[string]error, joined, left error) plan.Outcome {
	switch {
	case s.refused[i] != nil:
		return kit.Failed(s.refused[i])
	case s.done[i]:
		return kit.Deleted(nil)
	case step.ID.Action == plan.Delete:
		return kit.Deleted(left)
	case joined != nil:
		return kit.Failed(joined)
	}
	add, remove := plan.Members[model.Instance](step)
	if step.ID.Action == plan.Create {
		spec, _ := step.Target.Spec.(model.ScaleSet)
		add = spec.Instances
	}
	out := membersOutcome(step, append(add, remove...), func(m model.Instance) error { return errs[s.machine(m)] })
	if out.Err == nil {
		out.After.ID = s.id
	}
	return out
}

// writeModel writes nothing of a scale set but the interfaces of its model.
func (c *change) writeModel(id string, wish membership) error {
	if len(wish) == 0 {
		return nil
	}
	return kit.Merge(mergeTries, func() error {
		found, err := c.current(c.ctx, id, computeVersion)
		if err != nil || found == nil {
			return err
		}
		body := modelBody(found, wish)
		if body == nil {
			return nil
		}
		_, err = c.accept(c.ctx, id, computeVersion, body, found.Text("etag"))
		if err == nil && bringsAlong(found) {
			c.memory.note(id, nil, errUnlisted, c.now())
		} else {
			c.moved(id, nil, err)
		}
		return err
	})
}

// errUnlisted reports that a successful write cannot be merged into the cached lists.
var errUnlisted = errors.New("the write has changed what only Azure knows")

// bringsAlong reports whether Azure updates the machines of a scale set when its model is
// written.
func bringsAlong(set model.Object) bool {
	return !isFlexible(set) && !strings.EqualFold(set.Props().In("upgradePolicy").Text("mode"), "Manual")
}

// modelBody is what is written of a scale set; nil if there is nothing to write. Its
// size is left out, which an autoscaler may be changing; its edge zone is not.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_vmss.go.
func modelBody(found model.Object, wish membership) model.Object {
	had := found.Props().In("virtualMachineProfile", "networkProfile")
	interfaces := had.Clone().List("networkInterfaceConfigurations")
	if !wish.merge(func(pool string) model.Object { return configurationOf(interfaces, pool) }) {
		return nil
	}
	body := placeOf(found)
	network := body.Make("properties", "virtualMachineProfile", "networkProfile")
	network.SetList("networkInterfaceConfigurations", interfaces)
	if isFlexible(found) {
		body.Props()["orchestrationMode"] = found.Props()["orchestrationMode"]
		if version, there := had["networkApiVersion"]; there {
			network["networkApiVersion"] = version
		}
	}
	return body
}

// placeOf is a body that says nothing yet but where the resource is.
func placeOf(found model.Object) model.Object {
	body := model.Object{"location": found["location"]}
	if zone, there := found["extendedLocation"]; there {
		body["extendedLocation"] = zone
	}
	return body
}

// instanceBody is what is written of a machine of a scale set; nil if there is
// nothing to write.
func instanceBody(found model.Object, wish membership) model.Object {
	network := found.Props().In("networkProfileConfiguration").Clone()
	if !wish.merge(func(pool string) model.Object {
		return configurationOf(network.List("networkInterfaceConfigurations"), pool)
	}) {
		return nil
	}
	body := placeOf(found)
	p := body.Make("properties")
	p["networkProfileConfiguration"] = map[string]any(network)
	if hardware := found.Props().In("hardwareProfile"); hardware != nil {
		p["hardwareProfile"] = map[string]any(hardware)
	}
	return body
}

// instanceConfiguration is the ip configuration of a machine of a scale set that is for a
// pool, and its id.
func instanceConfiguration(id string, machine model.Object, pool string) (model.Object, string) {
	interfaces := machine.Props().In("networkProfileConfiguration").List("networkInterfaceConfigurations")
	i := primaryIndex(interfaces)
	if i < 0 {
		return nil, ""
	}
	c := familyConfiguration(interfaces[i], pool)
	return c, id + "/networkInterfaces/" + interfaces[i].Text("name") + "/ipConfigurations/" + c.Text("name")
}

// leave takes a scale set out of a pool as a whole.
func (c *change) leave(set model.ScaleSet, pool string) error {
	s := c.scaleSet(set.ID)
	s.emptied[pool] = true
	if err := s.everyMachine(set.Flex); err != nil {
		return err
	}
	if err := s.firstLeaving(s.write()); err != nil {
		return err
	}
	return c.writeModel(s.id, s.leave)
}
