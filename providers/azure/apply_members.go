package azure

import (
	"slices"
	"strings"
	"sync"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// membership is what is to become of one interface or machine: pools by id, true
// to join and false to leave.
type membership map[string]bool

// graft puts the wishes onto an ip configuration; changed tells whether they were
// not fulfilled already.
func (m membership) graft(configurations func(pool string) Object) (changed bool) {
	for pool, join := range m {
		c := configurations(lastSegment(pool))
		if c == nil || inPool(c, pool) == join {
			continue
		}
		p := c.make("properties")
		list := p.list(memberOf)
		if join {
			list = append(list, idObject(pool))
		} else {
			list = slices.DeleteFunc(list, func(o Object) bool { return sameID(o.text("id"), pool) })
		}
		p.setList(memberOf, list)
		changed = true
	}
	return changed
}

// pool is the id of the pool of a step on members, from its key.
func (c *change) pool(step plan.Step) string {
	parts := strings.SplitN(step.ID.Key.Name, "/", 3)
	lb, pool := parts[0], parts[1]
	for _, name := range c.config.balancers(c.cluster) {
		if strings.EqualFold(name, lb) {
			lb = name
		}
	}
	if strings.EqualFold(pool, c.cluster) {
		pool = c.cluster
	} else if strings.EqualFold(pool, c.cluster+suffixIPv6) {
		pool = c.cluster + suffixIPv6
	}
	return c.config.balancerID(lb) + "/" + listPools + "/" + pool
}

// keeps tells whether the members of a pool stay although a Service that wanted
// them goes: others want them, or somebody's rules send there.
func (c *change) keeps(step plan.Step) (bool, error) {
	if c.batch.Claims != nil && len(c.batch.Claims.Others(step.ID.Owner, step.Target)) > 0 {
		return true, nil
	}
	id := c.pool(step)
	balancer, _, _ := strings.Cut(id, "/"+listPools+"/")
	lb, err := c.get(c.ctx, balancer, networkVersion)
	if err != nil {
		return false, err
	}
	if lb != nil && isClusterPool(c.cluster, lastSegment(id)) && hasStrangers(lb) {
		return true, nil // see poolProof
	}
	return lb != nil && poolInUse(lb, lastSegment(id), baseName(step.ID.Owner.UID)), nil
}

// writeInterfaces writes every interface of the batch once, many at a time.
func (c *change) writeInterfaces() {
	wishes, refused := map[string]membership{}, map[int]error{}
	members := make([][]NIC, len(c.batch.Steps))
	for i, step := range c.batch.Steps {
		spec, _ := step.Target.Spec.(NICs)
		add, remove := plan.Members[NIC](step)
		switch step.ID.Action {
		case plan.Create:
			add, remove = spec.Members, nil
		case plan.Delete:
			add, remove = nil, spec.Members
			kept, err := c.keeps(step)
			if err != nil {
				refused[i] = err
			}
			if kept || err != nil {
				remove = nil
			}
		default: // an update says what joins and what leaves
		}
		members[i] = append(slices.Clone(add), remove...)
		for join, list := range map[bool][]NIC{false: remove, true: add} {
			for _, n := range list {
				if wishes[n.ID] == nil {
					wishes[n.ID] = membership{}
				}
				wishes[n.ID][c.pool(step)] = join || wishes[n.ID][c.pool(step)]
			}
		}
	}
	errs := c.eachInterface(wishes)
	for i, step := range c.batch.Steps {
		if refused[i] != nil {
			c.set(i, failed(refused[i]))
			continue
		}
		c.set(i, membersOutcome(step, members[i], errs))
	}
	c.facts.forgetFleet()
}

// membersOutcome leaves out single interfaces that Azure would not take.
func membersOutcome(step plan.Step, members []NIC, errs map[string]error) plan.Outcome {
	out := gone()
	if step.ID.Action != plan.Delete {
		out = after(step, "", stack.Derived, step.Target.Spec)
	}
	for _, n := range members {
		switch err := errs[n.ID]; {
		case err == nil:
		case step.ID.Action != plan.Delete && fault.OfMember(err):
			out.Refused = append(out.Refused, plan.Refusal{Member: n, Err: err})
		default:
			return failed(err)
		}
	}
	return out
}

func (c *change) eachInterface(wishes map[string]membership) map[string]error {
	var ids []string
	for id := range wishes {
		ids = append(ids, id)
	}
	var mu sync.Mutex
	errs := map[string]error{}
	forEach(ids, func(id string) {
		err := again(func() error { return c.writeInterface(id, wishes[id]) })
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			errs[id] = err
		}
	})
	return errs
}

func (c *change) writeInterface(id string, wish membership) error {
	found, err := c.current(c.ctx, id, networkVersion)
	if err != nil {
		return err
	}
	if found == nil {
		for _, join := range wish {
			if join {
				return fault.New(fault.NotFound, "network interface %s: is gone", lastSegment(id))
			}
		}
		return nil
	}
	body := found.clone()
	if !wish.graft(func(pool string) Object { return familyConfiguration(body, pool) }) {
		return nil
	}
	_, err = c.put(c.ctx, id, networkVersion, body, found.text("etag"))
	return err
}

// writeScaleSet brings the model and the instances of a scale set into a pool, or
// out of it: the model first when they join, so that machines made meanwhile
// come with the pool, and last when they leave.
func (c *change) writeScaleSet(step plan.Step) plan.Outcome {
	spec, ok := step.Target.Spec.(ScaleSet)
	if !ok {
		return plan.Failed(fault.New(fault.Internal, "%s: its content is a %T", step.ID, step.Target.Spec))
	}
	defer c.facts.forgetFleet()
	add, remove := plan.Members[Instance](step)
	pool := c.pool(step)
	switch step.ID.Action {
	case plan.Delete:
		kept, err := c.keeps(step)
		if kept || err != nil {
			return outcomeOf(err)
		}
		return outcomeOf(c.leave(spec, pool))
	case plan.Create:
		add = spec.Instances
	default: // an update says what joins and what leaves
	}
	if len(add) > 0 || step.ID.Action == plan.Create {
		if err := c.writeModel(spec.ID, membership{pool: true}); err != nil {
			return failed(err)
		}
	}
	out := after(step, spec.ID, stack.Derived, spec)
	for join, list := range map[bool][]Instance{true: add, false: remove} {
		for instance, err := range c.eachInstance(spec.ID, list, membership{pool: join}) {
			if !fault.OfMember(err) {
				return failed(err)
			}
			out.Refused = append(out.Refused, plan.Refusal{Member: instance, Err: err})
		}
	}
	return out
}

// leave takes every instance out, also those that came since the plan was made.
func (c *change) leave(spec ScaleSet, pool string) error {
	wish := membership{pool: false}
	if !spec.Flex {
		list, _, err := c.list(c.ctx, spec.ID+"/virtualMachines", computeVersion, nil)
		if err != nil {
			return err
		}
		var all []Instance
		for _, o := range list {
			all = append(all, Instance{ID: o.text("instanceId")})
		}
		for _, err := range c.eachInstance(spec.ID, all, wish) {
			return err
		}
	}
	return c.writeModel(spec.ID, wish)
}

// writeModel writes nothing of the scale set but its network profile. The size
// goes along as it was read, held to it by the etag.
func (c *change) writeModel(id string, wish membership) error {
	return again(func() error {
		found, err := c.current(c.ctx, id, computeVersion)
		if err != nil || found == nil {
			return err
		}
		network := found.props().in("virtualMachineProfile", "networkProfile").clone()
		if !wish.graft(func(pool string) Object { return configurationOf(network.list("networkInterfaceConfigurations"), pool) }) {
			return nil
		}
		body := Object{"location": found["location"], "sku": found["sku"]}
		body.make("properties", "virtualMachineProfile")["networkProfile"] = map[string]any(network)
		if isFlexible(found) {
			body.props()["orchestrationMode"] = found.props()["orchestrationMode"]
		}
		_, err = c.put(c.ctx, id, computeVersion, body, found.text("etag"))
		return err
	})
}

func (c *change) eachInstance(set string, list []Instance, wish membership) map[Instance]error {
	var mu sync.Mutex
	errs := map[Instance]error{}
	forEach(list, func(instance Instance) {
		err := again(func() error { return c.writeInstance(set+"/virtualMachines/"+instance.ID, wish) })
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			errs[instance] = err
		}
	})
	return errs
}

func (c *change) writeInstance(id string, wish membership) error {
	found, err := c.current(c.ctx, id, computeVersion)
	if err != nil || found == nil {
		return err
	}
	network := found.props().in("networkProfileConfiguration").clone()
	if !wish.graft(func(pool string) Object { return configurationOf(network.list("networkInterfaceConfigurations"), pool) }) {
		return nil
	}
	body := Object{"location": found["location"]}
	p := body.make("properties")
	p["networkProfileConfiguration"] = map[string]any(network)
	if hardware := found.props().in("hardwareProfile"); hardware != nil {
		p["hardwareProfile"] = map[string]any(hardware)
	}
	_, err = c.put(c.ctx, id, computeVersion, body, found.text("etag"))
	return err
}
