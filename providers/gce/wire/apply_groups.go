package wire

import (
	"slices"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func groupPath(zone, name string) string { return "zones/" + zone + "/instanceGroups/" + name }

// createGroup creates a group and fills it. It has no network until it gets its first
// member. An existing group is filled up as well: another process, or GKE, may have
// created it meanwhile. Members that cannot be added now are left to the next plan.
func createGroup(c *change, spec model.Group) plan.Outcome {
	path := groupPath(spec.Zone, spec.Name)
	err := writeAndWait(c.Ctx, c.Session, c.groupAPI.Insert, &computepb.InsertInstanceGroupRequest{Zone: spec.Zone, InstanceGroupResource: &computepb.InstanceGroup{Name: &spec.Name}})
	switch {
	case fault.Is(err, fault.Exists):
		c.groups.Forget(path)
	case err != nil:
		return kit.Failed(err)
	default:
		c.groups.Set(path, []string{})
	}
	wanted := spec.Instances
	for _, i := range c.Same {
		if other, ok := c.Batch.Steps[i].Target.Spec.(model.Group); ok {
			wanted = unionOf(wanted, other.Instances)
		}
	}
	refused, _ := c.addMembers(path, wanted)
	if spec.Instances, err = c.currentMembers(path); err != nil {
		return kit.Failed(err)
	}
	o := c.Created(path, stack.Name, spec)
	o.Refused = refused
	return o
}

func deleteGroup(c *change) plan.Outcome {
	path := c.ID()
	err := writeAndWait(c.Ctx, c.Session, c.groupAPI.Delete, &computepb.DeleteInstanceGroupRequest{Zone: model.ZoneOf(path), InstanceGroup: model.LastOf(path)})
	if err == nil {
		c.groups.Forget(path)
	}
	return kit.Deleted(err)
}

// changeMembers adds or removes what all steps of the batch want to: one call,
// whatever the number of Services, and none for what another batch has done.
func (c *change) changeMembers() []plan.Outcome {
	var add, remove []string
	for _, i := range c.Same {
		a, r := plan.Members[string](c.Batch.Steps[i])
		add, remove = unionOf(add, a), unionOf(remove, r)
	}
	path := c.ID()
	remove = slices.DeleteFunc(remove, func(m string) bool { return slices.Contains(add, m) })
	refused, err := c.addMembers(path, add)
	if err == nil && len(remove) > 0 {
		err = c.removeMembers(path, remove)
	}
	out := make([]plan.Outcome, 0, len(c.Same))
	for _, i := range c.Same {
		step := c.Batch.Steps[i]
		if err != nil {
			out = append(out, kit.Failed(err))
			continue
		}
		after := step.Target
		after.ID = path
		o := plan.Done(after)
		mine, _ := plan.Members[string](step)
		for _, r := range refused {
			if name, ok := r.Member.(string); ok && slices.Contains(mine, name) {
				o.Refused = append(o.Refused, r)
			}
		}
		out = append(out, o)
	}
	return out
}

func unionOf(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// currentMembers are those of a group as last known, else as read.
func (c *change) currentMembers(group string) ([]string, error) {
	if known, ok := c.groups.Get(group, 0); ok {
		return known, nil
	}
	return c.membersOf(c.Ctx, group)
}

// addMembers adds the instances that are not members yet. If the cloud says that
// some are, the memory was wrong, and the group is read. Instances that the cloud
// refuses are left out by name.
func (c *change) addMembers(group string, names []string) ([]plan.Refusal, error) {
	var refused []plan.Refusal
	for chunk := range slices.Chunk(names, model.GroupMembersPerCall) {
		for try := 0; ; try++ {
			known, err := c.currentMembers(group)
			if err != nil {
				return refused, err
			}
			missing := slices.DeleteFunc(slices.Clone(chunk), func(m string) bool { return slices.Contains(known, m) })
			if len(missing) == 0 {
				break
			}
			bad, err := kit.SplitAmong(&c.doubts.suspects, group, missing, sameName, alreadyExists, func(part []string) error { return c.addInstances(group, part) })
			if fault.Is(err, fault.Exists) && try < mergeTries {
				c.groups.Forget(group)
				continue
			}
			refused = append(refused, bad...)
			if err != nil {
				return refused, err
			}
			break
		}
	}
	return refused, nil
}

func sameName(name string) string { return name }

func (c *change) addInstances(group string, names []string) error {
	err := writeAndWait(c.Ctx, c.Session, c.groupAPI.AddInstances, &computepb.AddInstancesInstanceGroupRequest{
		Zone: model.ZoneOf(group), InstanceGroup: model.LastOf(group),
		InstanceGroupsAddInstancesRequestResource: &computepb.InstanceGroupsAddInstancesRequest{Instances: c.instances(model.ZoneOf(group), names)},
	})
	c.doubts.note(err)
	if err == nil {
		c.groups.Changed(group, editMembers(strings.Compare, names, nil))
	}
	return err
}

// removeMembers removes the instances that are members. If the cloud does not
// know one of them, the memory was wrong, and the group is read.
func (c *change) removeMembers(group string, names []string) error {
	for chunk := range slices.Chunk(names, model.GroupMembersPerCall) {
		for try := 0; ; try++ {
			known, err := c.currentMembers(group)
			if fault.Is(err, fault.NotFound) {
				return nil // with the group all its members are deleted
			}
			if err != nil {
				return err
			}
			there := slices.DeleteFunc(slices.Clone(chunk), func(m string) bool { return !slices.Contains(known, m) })
			if len(there) == 0 {
				break
			}
			err = c.removeInstances(group, there)
			if (fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid)) && try < mergeTries {
				c.groups.Forget(group)
				continue
			}
			if err != nil {
				return err
			}
			break
		}
	}
	return nil
}

func (c *change) removeInstances(group string, names []string) error {
	err := writeAndWait(c.Ctx, c.Session, c.groupAPI.RemoveInstances, &computepb.RemoveInstancesInstanceGroupRequest{
		Zone: model.ZoneOf(group), InstanceGroup: model.LastOf(group),
		InstanceGroupsRemoveInstancesRequestResource: &computepb.InstanceGroupsRemoveInstancesRequest{Instances: c.instances(model.ZoneOf(group), names)},
	})
	if err == nil {
		c.groups.Changed(group, editMembers(strings.Compare, nil, names))
	}
	return err
}

func (s *Session) instances(zone string, names []string) []*computepb.InstanceReference {
	out := make([]*computepb.InstanceReference, 0, len(names))
	for _, n := range names {
		out = append(out, &computepb.InstanceReference{Instance: new(s.urlOf("zones/" + zone + "/instances/" + n))})
	}
	return out
}
