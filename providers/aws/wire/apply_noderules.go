package wire

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// applyNodeRules brings the rules of all steps into one group of nodes: one
// grant and one revocation, whatever the number of Services, on the rules as
// remembered or else as read. If the group is not as that says, it is read and
// merged again.
func (s *Session) applyNodeRules(ctx context.Context, b plan.Batch) []plan.Outcome {
	w := &nodeRuleWork{Session: s, ctx: ctx, batch: b, group: nodeGroupIn(b)}
	if found, ok := w.facts.rulesIn(s.now(), w.group); ok && w.expectable(found) && !w.attempt(found) {
		return w.outcomes()
	}
	for range mergeTries {
		found, err := s.rulesIn(ctx, w.group)
		if err != nil {
			w.granting, w.revoking = err, err
			return w.outcomes()
		}
		if !w.attempt(found) {
			return w.outcomes()
		}
	}
	w.granting = fault.New(fault.Conflict, "security group %s: changes while we write to it", w.group)
	w.revoking = w.granting
	return w.outcomes()
}

func nodeGroupIn(b plan.Batch) string {
	rule, _ := b.Steps[0].Target.Spec.(model.NodeRule)
	return rule.Group
}

// nodeRuleWork is one batch at work.
type nodeRuleWork struct {
	*Session
	ctx   context.Context
	batch plan.Batch
	group string

	found              []model.FoundRule
	limit              int                        // rules the group may have; 0 until AWS refused for it
	refused            map[int]error              // by step, as MergeRules said
	bad                map[model.Permission]error // as AWS said
	granting, revoking error                      // of the calls, or why they were not made
}

// expectable reports whether the remembered rules leave something to do for every step.
// Then AWS itself refuses if they are wrong: it grants no rule twice and revokes none
// that no longer exists. A step that seems to be done already has to be confirmed by a
// read.
func (w *nodeRuleWork) expectable(found []model.FoundRule) bool {
	there := map[model.Permission]bool{}
	for _, r := range found {
		there[r.Permission] = true
	}
	return !slices.ContainsFunc(w.batch.Steps, func(s plan.Step) bool {
		rule, ok := model.RuleOf(w.group, w.batch, s)
		return !ok || there[rule.Permission] != (s.ID.Action == plan.Delete)
	})
}

// attempt merges and writes once. It answers true if the group was not as it was
// said to be and another attempt may help.
func (w *nodeRuleWork) attempt(found []model.FoundRule) bool {
	w.found, w.refused, w.bad, w.granting, w.revoking = found, nil, map[model.Permission]error{}, nil, nil
	edit := model.MergeRules(w.group, w.found, w.batch, w.limit)
	w.refused = edit.Refused
	again := w.write(edit)
	if !again && w.granting == nil && w.revoking == nil {
		w.learn(edit)
	}
	return again
}

// write grants, then revokes, and does not go on after a fault: what is wrong
// with AWS, or with us, will not be better in the next call.
func (w *nodeRuleWork) write(edit model.GroupEdit) bool {
	if w.limit > 0 {
		// At its limit a group accepts no new rule before another one is deleted.
		if again := w.revokeAll(edit.Revoke); again || w.revoking != nil {
			w.granting = w.revoking
			return again
		}
		return w.authorizeAll(edit.Authorize)
	}
	if again := w.authorizeAll(edit.Authorize); again || w.granting != nil {
		w.revoking = w.granting
		return again
	}
	return w.revokeAll(edit.Revoke)
}

// learn keeps the rules as they are after the writes, for later builds.
func (w *nodeRuleWork) learn(edit model.GroupEdit) {
	now := slices.DeleteFunc(slices.Clone(w.found), func(r model.FoundRule) bool { return slices.Contains(edit.Revoke, r) })
	for _, r := range edit.Authorize {
		if w.bad[r.Permission] == nil {
			now = append(now, r)
		}
	}
	slices.SortFunc(now, model.FoundRule.Compare)
	w.facts.learnRules(w.group, now)
}

func (w *nodeRuleWork) authorizeAll(rules []model.FoundRule) bool {
	var again bool
	refused, err := fault.SplitAmong(&w.facts.suspects, w.group, rules, ruleName, fault.MaxSplits, func(part []model.FoundRule) error {
		err := w.authorize(w.ctx, w.group, part)
		switch {
		case isRuleConflict(err), isUnknownGroup(err, w.group):
		case fault.Is(err, fault.Quota) && w.limit == 0:
			w.limit = model.LearnedLimit(w.found)
		default:
			return err
		}
		again = true
		return fault.New(fault.Conflict, "security group %s: not as it was read", w.group)
	})
	if again {
		return true
	}
	for _, r := range refused {
		w.bad[r.Member.Permission] = r.Err
	}
	w.granting = err
	return false
}

// ruleName tells rules apart by what AWS may refuse them for.
func ruleName(r model.FoundRule) string { return fmt.Sprintf("%+v", r) }

func (w *nodeRuleWork) revokeAll(rules []model.FoundRule) bool {
	err := w.revoke(w.ctx, w.group, rules)
	if isRuleConflict(err) {
		return true
	}
	w.revoking = err
	return false
}

func (w *nodeRuleWork) outcomes() []plan.Outcome {
	there := map[model.Permission]model.FoundRule{}
	for _, r := range w.found {
		there[r.Permission] = r
	}
	out := make([]plan.Outcome, 0, len(w.batch.Steps))
	for i, step := range w.batch.Steps {
		rule, _ := model.RuleOf(w.group, w.batch, step)
		switch {
		case step.ID.Action == plan.Delete:
			out = append(out, kit.Deleted(w.revoking))
		case w.refused[i] != nil:
			out = append(out, kit.Failed(w.refused[i]))
		case w.bad[rule.Permission] != nil:
			out = append(out, kit.Failed(w.bad[rule.Permission]))
		default:
			out = append(out, w.granted(step, rule, there))
		}
	}
	return out
}

// granted is the outcome of a grant that was not refused. An existing rule keeps its
// description.
func (w *nodeRuleWork) granted(step plan.Step, rule model.FoundRule, there map[model.Permission]model.FoundRule) plan.Outcome {
	before, was := there[rule.Permission]
	if w.granting != nil && !was {
		return kit.Failed(w.granting)
	}
	after := step.Target
	after.ID = model.NodeRuleID(w.group, rule.Permission, sourceText(rule.Permission))
	after.Proof = stack.Derived
	spec, _ := step.Target.Spec.(model.NodeRule)
	if was {
		spec.Description = before.Description
	}
	switch {
	case spec.Description == model.ClassicDescription(w.cluster):
		after.Proof = stack.Leftover
	case model.OfBalancer(spec.Description):
		after.Proof = stack.Description
	case spec.Description == model.OwnRuleDescription:
		after.Proof = stack.Leftover
	}
	after.Spec = spec
	return plan.Done(after)
}

// rulesIn reads the rules of one group.
func (s *Session) rulesIn(ctx context.Context, group string) ([]model.FoundRule, error) {
	// By a filter, since EC2 has fewer tokens for reads without one.
	out, err := readCall(ctx, s.ec2.DescribeSecurityGroups, &ec2.DescribeSecurityGroupsInput{Filters: []ec2types.Filter{ec2Filter("group-id", group)}})
	if err != nil {
		return nil, err
	}
	if len(out.SecurityGroups) == 0 {
		return nil, &fault.Fault{Meaning: fault.NotFound, Code: "InvalidGroup.NotFound", Text: "security group " + group + ": not found"} // as EC2 says it of ids
	}
	return rulesOf(out.SecurityGroups[0].IpPermissions), nil
}

// authorize grants rules in one call; all or none.
func (s *Session) authorize(ctx context.Context, group string, rules []model.FoundRule) error {
	if len(rules) == 0 {
		return nil
	}
	_, err := writeCall(ctx, s.ec2.AuthorizeSecurityGroupIngress, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: &group, IpPermissions: wireOf(rules)})
	return err
}

// revoke deletes rules in one call; all or none. They are described as they were found: AWS
// does not need that, and endpoints that emulate it compare it.
func (s *Session) revoke(ctx context.Context, group string, rules []model.FoundRule) error {
	if len(rules) == 0 {
		return nil
	}
	_, err := writeCall(ctx, s.ec2.RevokeSecurityGroupIngress, &ec2.RevokeSecurityGroupIngressInput{GroupId: &group, IpPermissions: wireOf(rules)})
	return err
}
