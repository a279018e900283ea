package wire

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

const (
	// settleDelay is how long a new security group may be unknown elsewhere.
	settleDelay = 2 * time.Second
	// mergeTries is how often a group that another writer changes at the same time is read
	// again before the step gives up.
	mergeTries = 3
)

func createGroup(c *change, g model.Group) plan.Outcome {
	in := &ec2.CreateSecurityGroupInput{GroupName: &g.Name, Description: &g.Description, VpcId: &g.VPC}
	if tags := tagList(g.Tags, ec2Tag); len(tags) > 0 {
		in.TagSpecifications = []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeSecurityGroup, Tags: tags}}
	}
	out, err := writeCall(c.Ctx, c.Session.ec2.CreateSecurityGroup, in)
	if err != nil {
		return kit.Failed(err)
	}
	proof := stack.Name
	if c.Session.config.Cluster.Owns(g.Tags) {
		proof = stack.Tag
	}
	return c.Created(awssdk.ToString(out.GroupId), proof, g)
}

// deleteGroup answers InUse while interfaces of a deleted load balancer still
// have the group, which takes AWS some minutes to end.
func deleteGroup(c *change) plan.Outcome {
	_, err := writeCall(c.Ctx, c.Session.ec2.DeleteSecurityGroup, &ec2.DeleteSecurityGroupInput{GroupId: awssdk.String(c.ID())})
	return kit.Deleted(err)
}

func grantIngress(c *change) plan.Outcome {
	add, _ := plan.Members[model.Permission](c.Step)
	group := c.ID()
	var refused []plan.Refusal
	err := c.Session.mergeAgain(c.Ctx, group, func(found map[model.Permission]bool) error {
		missing := slices.DeleteFunc(slices.Clone(add), func(p model.Permission) bool { return found[literalPermission(c, p)] })
		slices.SortStableFunc(missing, model.Permission.ByNeed)
		err := c.Session.authorize(c.Ctx, group, foundRules(c, missing))
		if isRuleConflict(err) || !fault.OfMember(err) {
			return err
		}
		if fault.Is(err, fault.Quota) {
			refused, err = grantWithinLimit(c, group, missing, err)
			return err
		}
		refused, err = splitMembers(missing, func(part []model.Permission) error { return c.Session.authorize(c.Ctx, group, foundRules(c, part)) })
		return err
	})
	return c.Members(refused, cmp.Or(notYet(err, true), ofName(refused)))
}

// ofName returns a refusal for a name that AWS does not have, or nil. It fails the whole
// step: what the name replaces must not be removed.
func ofName(refused []plan.Refusal) error {
	for _, m := range refused {
		if namesFor(codeOfFault(m.Err)) != nil {
			return m.Err
		}
	}
	return nil
}

// grantWithinLimit grants as many rules as the group has room for, after AWS refused
// all of them together: first those without which clients are not admitted.
func grantWithinLimit(c *change, group string, missing []model.Permission, full error) ([]plan.Refusal, error) {
	found, err := c.Session.rulesIn(c.Ctx, group)
	if err != nil {
		return nil, err
	}
	// Every account has the default quota; whether there is more, one rule tells.
	room := min(max(model.DefaultRuleLimit-len(found), 0), len(missing))
	for _, part := range [][]model.Permission{missing[:room], missing[room:min(room+1, len(missing))]} {
		switch err := c.Session.authorize(c.Ctx, group, foundRules(c, part)); {
		case fault.Is(err, fault.Quota):
			return everyOne(missing[room:], full), nil
		case err != nil:
			return nil, err
		}
	}
	rest := missing[min(room+1, len(missing)):]
	return splitMembers(rest, func(part []model.Permission) error { return c.Session.authorize(c.Ctx, group, foundRules(c, part)) })
}

func revokeIngress(c *change) plan.Outcome {
	_, remove := plan.Members[model.Permission](c.Step)
	group := c.ID()
	err := c.Session.mergeAgain(c.Ctx, group, func(found map[model.Permission]bool) error {
		there := remove
		if found != nil {
			there = slices.DeleteFunc(slices.Clone(remove), func(p model.Permission) bool { return !found[literalPermission(c, p)] })
		}
		return c.Session.revoke(c.Ctx, group, foundRules(c, there))
	})
	return c.Members(nil, err)
}

// mergeAgain runs an edit of a group of our own. Only if the group turns out to
// differ from what the plan knew, it is read and the edit made to fit. Until
// then found is nil.
func (s *Session) mergeAgain(ctx context.Context, group string, edit func(found map[model.Permission]bool) error) error {
	err := edit(nil)
	for range mergeTries {
		if !isRuleConflict(err) {
			return err
		}
		rules, readErr := s.rulesIn(ctx, group)
		if readErr != nil {
			return readErr
		}
		found := map[model.Permission]bool{}
		for _, r := range rules {
			found[r.Permission] = true
		}
		err = edit(found)
	}
	return err
}

// isRuleConflict reports whether a call was refused because a rule already exists, or
// no longer exists.
func isRuleConflict(err error) bool {
	code := codeOfFault(err)
	return code == "InvalidPermission.Duplicate" || code == "InvalidPermission.NotFound"
}

// isUnknownGroup reports whether a call was refused because the group that it edits
// does not exist, and not one that a rule names. EC2 has one code for both, and the id
// in its text.
func isUnknownGroup(err error, group string) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return ok && f.Code == "InvalidGroup.NotFound" && strings.Contains(err.Error(), group)
}

// literalPermission returns the permission with its source as EC2 writes it.
func literalPermission(c *change, p model.Permission) model.Permission {
	p = model.Normal(p)
	if !p.Source.IsZero() {
		p.Source = stack.RefID(c.Batch.ID(c.Step, p.Source))
	}
	return p
}

func foundRules(c *change, list []model.Permission) []model.FoundRule {
	out := make([]model.FoundRule, 0, len(list))
	for _, p := range list {
		out = append(out, model.FoundRule{Permission: literalPermission(c, p)})
	}
	return out
}

func codeOfFault(err error) string {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.Code
	}
	return ""
}
