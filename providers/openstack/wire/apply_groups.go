package wire

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/rules"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func ruleOf(r rules.SecGroupRule) model.GroupRule {
	out := model.GroupRule{Direction: r.Direction, Family: r.EtherType, Protocol: r.Protocol, Port: int32(r.PortRangeMin), Last: int32(r.PortRangeMax), Remote: r.RemoteIPPrefix}
	if r.RemoteGroupID != "" {
		out.Remote = "group " + r.RemoteGroupID
	}
	return out
}

// createGroup makes a group with its rules. Neutron lets everything out of a new one,
// which was not asked for, so those rules go.
func createGroup(c *change, spec model.Group) plan.Outcome {
	s := c.Session
	var made *groups.SecGroup
	err := s.write(c.Ctx, bucketNetwork, func(ctx context.Context) (err error) {
		made, err = groups.Create(ctx, s.network, groups.CreateOpts{Name: spec.Name, Description: spec.Description}).Extract()
		return err
	})
	if err != nil {
		return kit.Failed(err)
	}
	o := c.Created(made.ID, stack.Name, spec)
	for _, part := range c.Step.With {
		wanted, ok := part.Spec.(model.GroupRules)
		if !ok {
			continue
		}
		if err := s.writeRules(c.Ctx, made.ID, made.Rules, wanted.Rules); err != nil {
			return plan.Outcome{Err: err, Sent: plan.MaybeSent}
		}
		part.ID, part.Proof = made.ID, stack.Derived
		o.Parts = append(o.Parts, part)
	}
	return o
}

// createRules writes the rules of an existing group of which none have been read.
func createRules(c *change, spec model.GroupRules) plan.Outcome {
	id := firstNonBlank(c.Step.Target.ID, c.Parent())
	found, err := c.Session.listRules(c.Ctx, id)
	if err == nil {
		err = c.Session.writeRules(c.Ctx, id, found, spec.Rules)
	}
	return c.Updated(spec, err)
}

// addRules adds rules to a group. The bulk call is refused as a whole if one of them exists.
func addRules(c *change, spec model.GroupRules) plan.Outcome {
	id := c.Step.Target.ID
	added, _ := plan.Members[model.GroupRule](c.Step)
	err := c.Session.postRules(c.Ctx, id, added)
	if fault.Is(err, fault.Exists) {
		var found []rules.SecGroupRule
		if found, err = c.Session.listRules(c.Ctx, id); err == nil {
			err = c.Session.postRules(c.Ctx, id, missingRules(found, added))
		}
	}
	return c.Updated(spec, err)
}

// removeRules removes rules from a group.
func removeRules(c *change, spec model.GroupRules) plan.Outcome {
	_, removed := plan.Members[model.GroupRule](c.Step)
	found, err := c.Session.listRules(c.Ctx, c.Step.Target.ID)
	if err == nil {
		err = c.Session.deleteRules(c.Ctx, found, func(r model.GroupRule) bool { return slices.Contains(removed, r) })
	}
	return c.Updated(spec, err)
}

func (s *Session) listRules(ctx context.Context, group string) ([]rules.SecGroupRule, error) {
	return listAll[rules.SecGroupRule](ctx, s, bucketNetwork, rules.List(s.network, rules.ListOpts{SecGroupID: group}), "security_group_rules")
}

// writeRules creates the missing rules of a group, then deletes the ones that are not desired.
func (s *Session) writeRules(ctx context.Context, group string, found []rules.SecGroupRule, wanted []model.GroupRule) error {
	if err := s.postRules(ctx, group, missingRules(found, wanted)); err != nil {
		return err
	}
	return s.deleteRules(ctx, found, func(r model.GroupRule) bool { return !slices.Contains(wanted, r) })
}

func missingRules(found []rules.SecGroupRule, wanted []model.GroupRule) []model.GroupRule {
	return slices.DeleteFunc(slices.Clone(wanted), func(w model.GroupRule) bool {
		return slices.ContainsFunc(found, func(r rules.SecGroupRule) bool { return ruleOf(r) == w })
	})
}

// postRules creates rules in one call.
func (s *Session) postRules(ctx context.Context, group string, list []model.GroupRule) error {
	if len(list) == 0 {
		return nil
	}
	var opts []rules.CreateOpts
	for _, r := range list {
		opts = append(opts, rules.CreateOpts{
			SecGroupID: group, Direction: rules.RuleDirection(r.Direction), EtherType: rules.RuleEtherType(r.Family), Protocol: rules.RuleProtocol(r.Protocol),
			PortRangeMin: int(r.Port), PortRangeMax: int(r.Last), RemoteIPPrefix: r.Remote,
		})
	}
	return s.write(ctx, bucketNetwork, func(ctx context.Context) error {
		_, err := rules.CreateBulk(ctx, s.network, opts).Extract()
		return err
	})
}

// deleteRules deletes the rules that are obsolete, one by one.
func (s *Session) deleteRules(ctx context.Context, found []rules.SecGroupRule, isObsolete func(model.GroupRule) bool) error {
	for _, r := range found {
		if !isObsolete(ruleOf(r)) {
			continue
		}
		err := s.write(ctx, bucketNetwork, func(ctx context.Context) error { return rules.Delete(ctx, s.network, r.ID).ExtractErr() })
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// deleteGroup deletes a group. If a port uses it meanwhile, the state is read again.
func deleteGroup(c *change) plan.Outcome {
	err := c.Session.write(c.Ctx, bucketNetwork, func(ctx context.Context) error {
		return groups.Delete(ctx, c.Session.network, c.Step.Target.ID).ExtractErr()
	})
	if fault.Is(err, fault.InUse) {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	return kit.Deleted(err)
}

// edit is what one port gets and loses, for all Services of a batch.
type edit struct {
	add, remove []string // ids of groups
	steps       []int    // of the batch, that wait for it
}

// applyPorts gives ports of nodes groups of several Services, and takes them away, with
// one change for each port.
func (s *Session) applyPorts(ctx context.Context, b plan.Batch) []plan.Outcome {
	out, given := make([]plan.Outcome, len(b.Steps)), make([]string, len(b.Steps))
	edits := map[string]*edit{}
	for i, step := range b.Steps {
		group := firstNonBlank(step.Target.ID, b.ID(step, stack.RefTo(step.Target.In)))
		after := step.Target
		after.ID, after.Proof = group, stack.Derived
		out[i], given[i] = plan.Done(after), group
		add, remove := portsOf(step)
		note := func(ports []string, into func(*edit)) {
			for _, p := range ports {
				if edits[p] == nil {
					edits[p] = &edit{}
				}
				into(edits[p])
				edits[p].steps = append(edits[p].steps, i)
			}
		}
		note(add, func(e *edit) { e.add = append(e.add, group) })
		note(remove, func(e *edit) { e.remove = append(e.remove, group) })
	}
	var ids []string
	for id := range edits {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	found, err := s.listPorts(ctx, "id", ids)
	if err != nil {
		return kit.Every(b, kit.Failed(err))
	}
	var mu sync.Mutex
	kit.ForEach(found, func(p port) {
		e := edits[p.ID]
		refused, err := s.editPort(ctx, p, *e)
		mu.Lock()
		defer mu.Unlock()
		for _, i := range e.steps {
			if why := cmp.Or(refused[given[i]], err); why != nil {
				out[i] = plan.Outcome{Err: why, Sent: plan.MaybeSent}
			}
		}
	})
	return out
}

// portsOf are the ports that a step adds and removes.
func portsOf(step plan.Step) (add, remove []string) {
	spec, _ := step.Target.Spec.(model.GroupPorts)
	switch step.ID.Action {
	case plan.Create:
		return spec.Ports, nil
	case plan.Delete:
		return nil, spec.Ports
	case plan.Update, plan.Forget:
	}
	return plan.Members[string](step)
}

// portTries is how often a port is read and updated again after a conflicting change.
const portTries = 5

// editPort changes the groups of a port. Neutron refuses the change if the port has changed
// since it was read. A deleted port has no groups. Neutron also refuses the whole change
// for one group that is not found; such groups are returned, by id.
func (s *Session) editPort(ctx context.Context, p port, e edit) (map[string]error, error) {
	var in []string // groups that are given so far
	written := false
	give := func(some []string) error {
		err := s.setGroups(ctx, &p, slices.Concat(in, some), e.remove)
		if err == nil {
			in, written = append(in, some...), true
		}
		return err
	}
	self := func(group string) string { return group }
	refused, err := kit.SplitAmong(&s.refused, p.ID, e.add, self, func(err error) bool { return !ofGroup(err) }, give)
	if err == nil && !written {
		err = give(nil) // what leaves
	}
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	out := map[string]error{}
	for _, r := range refused {
		group, _ := r.Member.(string)
		out[group] = r.Err
	}
	return out, err
}

// ofGroup reports whether a change of a port was refused because of one of the groups.
// Source: neutron/extensions/securitygroup.py (SecurityGroupNotFound).
func ofGroup(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return ok && f.Code == "SecurityGroupNotFound"
}

// setGroups gives groups to a port that has others besides, and takes some away; the
// port is then as Neutron has it.
func (s *Session) setGroups(ctx context.Context, p *port, add, remove []string) error {
	again := false
	return kit.Merge(portTries, func() error {
		if again {
			list, err := s.listPorts(ctx, "id", []string{p.ID})
			if err != nil || len(list) == 0 {
				return err
			}
			*p = list[0]
		}
		again = true
		next := slices.DeleteFunc(slices.Clone(p.Groups), func(g string) bool { return slices.Contains(remove, g) })
		for _, g := range add {
			if !slices.Contains(next, g) {
				next = append(next, g)
			}
		}
		if slices.Equal(next, p.Groups) {
			return nil
		}
		return s.write(ctx, bucketNetwork, func(ctx context.Context) error {
			now, err := ports.Update(ctx, s.network, p.ID, ports.UpdateOpts{SecurityGroups: &next, RevisionNumber: &p.Revision}).Extract()
			if err == nil {
				p.Groups, p.Revision = now.SecurityGroups, now.RevisionNumber
			}
			return err
		})
	})
}
