package wire

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/kit/codec"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// rule is a rule of a security group in an answer.
type rule = item[model.GroupRule]

// rulesIn returns the rules in the answer about a group.
func rulesIn(group item[model.Group]) (out []rule, err error) {
	kind := model.GroupRuleCodec()
	for _, text := range group.Rules {
		r, err := decodeItem(kind, text)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// createGroup makes a group with its rules. Neutron lets everything out of a new one,
// which was not asked for, so those rules go.
func createGroup(c *change, spec model.Group) plan.Outcome {
	s := c.Session
	made := answer[model.Group]{kind: model.GroupCodec()}
	if err := s.write(c.Ctx, createCall(s, made.kind, made.kind.Create(spec, nil)), &made); err != nil {
		return kit.Failed(err)
	}
	found, err := rulesIn(made.item)
	if err != nil {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	o := c.Created(made.item.ID, stack.Name, spec)
	for _, part := range c.Step.With {
		wanted, ok := part.Spec.(model.GroupRules)
		if !ok {
			continue
		}
		if err := s.writeRules(c.Ctx, made.item.ID, found, wanted.Rules); err != nil {
			return plan.Outcome{Err: err, Sent: plan.MaybeSent}
		}
		part.ID, part.Proof = made.item.ID, stack.Derived
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
		var found []rule
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

func (s *Session) listRules(ctx context.Context, group string) ([]rule, error) {
	return listItems(ctx, s, model.GroupRuleCodec(), url.Values{"security_group_id": {group}})
}

// writeRules creates the missing rules of a group, then deletes the ones that are not desired.
func (s *Session) writeRules(ctx context.Context, group string, found []rule, wanted []model.GroupRule) error {
	if err := s.postRules(ctx, group, missingRules(found, wanted)); err != nil {
		return err
	}
	return s.deleteRules(ctx, found, func(r model.GroupRule) bool { return !slices.Contains(wanted, r) })
}

func missingRules(found []rule, wanted []model.GroupRule) []model.GroupRule {
	return slices.DeleteFunc(slices.Clone(wanted), func(w model.GroupRule) bool {
		return slices.ContainsFunc(found, func(r rule) bool { return r.Spec == w })
	})
}

// postRules creates rules in one call.
func (s *Session) postRules(ctx context.Context, group string, list []model.GroupRule) error {
	if len(list) == 0 {
		return nil
	}
	kind, bodies := model.GroupRuleCodec(), []codec.Object{}
	for _, r := range list {
		body := kind.Create(r, nil)
		body["security_group_id"] = group
		bodies = append(bodies, body)
	}
	call := callAbout(s, http.MethodPost, kind)
	call.body = codec.Object{kind.Many: bodies}
	return s.write(ctx, call, nil)
}

// deleteRules deletes the rules that are obsolete, one by one.
func (s *Session) deleteRules(ctx context.Context, found []rule, isObsolete func(model.GroupRule) bool) error {
	for _, r := range found {
		if !isObsolete(r.Spec) {
			continue
		}
		if err := s.write(ctx, deleteCall(s, model.GroupRuleCodec(), r.ID), nil); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// deleteGroup deletes a group. If a port uses it meanwhile, the state is read again.
func deleteGroup(c *change) plan.Outcome {
	err := c.Session.write(c.Ctx, deleteCall(c.Session, model.GroupCodec(), c.Step.Target.ID), nil)
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
		call := s.request(http.MethodPut, collectionPorts, p.ID)
		call.header = map[string]string{"If-Match": "revision_number=" + strconv.Itoa(p.Revision)}
		call.body = codec.Object{"port": codec.Object{"security_groups": next}}
		var answer struct {
			Port port `json:"port"`
		}
		err := s.write(ctx, call, &answer)
		if err == nil {
			p.Groups, p.Revision = answer.Port.Groups, answer.Port.Revision
		}
		return err
	})
}
