package wire

import (
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createPool creates a pool with as many instances as its insertion takes, and adds the
// rest. If that fails the pool exists nevertheless, and the next plan adds the missing
// instances.
func createPool(c *change, spec model.Pool) plan.Outcome {
	first := spec.Instances[:min(len(spec.Instances), model.PoolInsertLimit)]
	p := &computepb.TargetPool{
		Name: &spec.Name, Description: optionalText(spec.Description), SessionAffinity: optionalText(spec.Affinity), HealthChecks: c.links(spec.Checks),
	}
	for _, i := range first {
		p.Instances = append(p.Instances, c.urlOf(i))
	}
	err := writeAndWait(c.Ctx, c.Session, c.poolAPI.Insert, &computepb.InsertTargetPoolRequest{TargetPoolResource: p})
	if err != nil {
		c.doubts.note(err)
		return kit.Failed(err)
	}
	refused, err := c.addPoolMembers(spec.Name, spec.Instances[len(first):])
	if err != nil {
		spec.Instances = first
		return c.Created(c.path(model.KindPool, spec.Name), stack.Name, spec)
	}
	spec.Instances = slices.DeleteFunc(slices.Clone(spec.Instances), func(i string) bool {
		return slices.ContainsFunc(refused, func(r plan.Refusal) bool { return r.Member == any(i) })
	})
	o := c.Created(c.path(model.KindPool, spec.Name), stack.Name, spec)
	o.Refused = refused
	return o
}

func deletePool(c *change) plan.Outcome {
	return kit.Deleted(writeAndWait(c.Ctx, c.Session, c.poolAPI.Delete, &computepb.DeleteTargetPoolRequest{TargetPool: c.name()}))
}

func addToPool(c *change) plan.Outcome {
	add, _ := plan.Members[string](c.Step)
	refused, err := c.addPoolMembers(c.name(), add)
	return c.memberOutcome(refused, err)
}

func (c *change) addPoolMembers(pool string, instances []string) ([]plan.Refusal, error) {
	var refused []plan.Refusal
	for chunk := range slices.Chunk(instances, model.PoolMembersPerCall) {
		bad, err := kit.SplitAmong(&c.doubts.suspects, c.path(model.KindPool, pool), chunk, sameName, alreadyExists, func(part []string) error {
			err := writeAndWait(c.Ctx, c.Session, c.poolAPI.AddInstance, &computepb.AddInstanceTargetPoolRequest{
				TargetPool:                            pool,
				TargetPoolsAddInstanceRequestResource: &computepb.TargetPoolsAddInstanceRequest{Instances: c.references(part)},
			})
			c.doubts.note(err)
			return err
		})
		refused = append(refused, bad...)
		if err != nil && !fault.Is(err, fault.Exists) {
			return refused, err
		}
	}
	return refused, nil
}

// removeFromPool removes instances. Instances that are not in the pool count as removed;
// if the pool no longer exists all do.
func removeFromPool(c *change) plan.Outcome {
	_, remove := plan.Members[string](c.Step)
	for chunk := range slices.Chunk(remove, model.PoolMembersPerCall) {
		err := c.removePoolMembers(chunk)
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) {
			err = c.removePresent(chunk)
		}
		if err != nil {
			return kit.Failed(err)
		}
	}
	return c.memberOutcome(nil, nil)
}

// removePresent reads the pool and removes what of the instances is in it.
func (c *change) removePresent(instances []string) error {
	found, err := readCall(c.Ctx, c.poolAPI.Get, &computepb.GetTargetPoolRequest{Project: c.config.Project, Region: c.config.Region, TargetPool: c.name()})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	there := slices.DeleteFunc(slices.Clone(instances), func(i string) bool {
		return !slices.ContainsFunc(found.GetInstances(), func(url string) bool { return model.PathOf(url) == i })
	})
	if len(there) == 0 {
		return nil
	}
	return c.removePoolMembers(there)
}

func (c *change) removePoolMembers(instances []string) error {
	return writeAndWait(c.Ctx, c.Session, c.poolAPI.RemoveInstance, &computepb.RemoveInstanceTargetPoolRequest{
		TargetPool:                               c.name(),
		TargetPoolsRemoveInstanceRequestResource: &computepb.TargetPoolsRemoveInstanceRequest{Instances: c.references(instances)},
	})
}

func (s *Session) references(instances []string) []*computepb.InstanceReference {
	out := make([]*computepb.InstanceReference, 0, len(instances))
	for _, i := range instances {
		out = append(out, &computepb.InstanceReference{Instance: new(s.urlOf(i))})
	}
	return out
}

func addPoolChecks(c *change) plan.Outcome {
	add, _ := plan.Members[stack.Ref](c.Step)
	err := writeAndWait(c.Ctx, c.Session, c.poolAPI.AddHealthCheck, &computepb.AddHealthCheckTargetPoolRequest{
		TargetPool:                               c.name(),
		TargetPoolsAddHealthCheckRequestResource: &computepb.TargetPoolsAddHealthCheckRequest{HealthChecks: c.checkReferences(add)},
	})
	return c.memberOutcome(nil, err)
}

func removePoolChecks(c *change) plan.Outcome {
	_, remove := plan.Members[stack.Ref](c.Step)
	err := writeAndWait(c.Ctx, c.Session, c.poolAPI.RemoveHealthCheck, &computepb.RemoveHealthCheckTargetPoolRequest{
		TargetPool: c.name(),
		TargetPoolsRemoveHealthCheckRequestResource: &computepb.TargetPoolsRemoveHealthCheckRequest{HealthChecks: c.checkReferences(remove)},
	})
	return c.memberOutcome(nil, err)
}

func (c *change) checkReferences(refs []stack.Ref) []*computepb.HealthCheckReference {
	var out []*computepb.HealthCheckReference
	for _, url := range c.links(refs) {
		out = append(out, &computepb.HealthCheckReference{HealthCheck: new(url)})
	}
	return out
}
