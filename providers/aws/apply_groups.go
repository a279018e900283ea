package aws

import (
	"errors"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

const (
	// settleDelay is how long a new security group may be unknown elsewhere.
	settleDelay = 2 * time.Second
	// regrafts is how often a group that somebody else changes at the same time
	// is read again before the step gives up.
	regrafts = 3
)

func createGroup(c *change, g Group) plan.Outcome {
	in := &ec2.CreateSecurityGroupInput{GroupName: &g.Name, Description: &g.Description, VpcId: &g.VPC}
	if tags := tagList(g.Tags, ec2Tag); len(tags) > 0 {
		in.TagSpecifications = []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeSecurityGroup, Tags: tags}}
	}
	out, err := tell(c.ctx, c.ec2.CreateSecurityGroup, in)
	if err != nil {
		return failed(err)
	}
	proof := stack.Name
	if c.config.Cluster.Owns(g.Tags) {
		proof = stack.Tag
	}
	return c.created(awssdk.ToString(out.GroupId), proof, g)
}

// deleteGroup answers InUse while interfaces of a deleted load balancer still
// have the group, which takes AWS some minutes to end.
func deleteGroup(c *change) plan.Outcome {
	_, err := tell(c.ctx, c.ec2.DeleteSecurityGroup, &ec2.DeleteSecurityGroupInput{GroupId: awssdk.String(c.id())})
	return deleted(err)
}

func grantIngress(c *change) plan.Outcome {
	add, _ := plan.Members[Permission](c.step)
	group := c.id()
	var refused []plan.Refusal
	err := c.regraft(group, func(found map[Permission]bool) error {
		missing := slices.DeleteFunc(slices.Clone(add), func(p Permission) bool { return found[c.literal(p)] })
		var err error
		refused, err = split(missing, func(part []Permission) error { return c.authorize(group, c.rules(part)) })
		return err
	})
	return c.members(refused, notYet(err, true))
}

func revokeIngress(c *change) plan.Outcome {
	_, remove := plan.Members[Permission](c.step)
	group := c.id()
	err := c.regraft(group, func(found map[Permission]bool) error {
		there := remove
		if found != nil {
			there = slices.DeleteFunc(slices.Clone(remove), func(p Permission) bool { return !found[c.literal(p)] })
		}
		return c.revoke(group, c.rules(there))
	})
	return c.members(nil, err)
}

// regraft runs an edit of a group of our own. Only if the group turns out to
// differ from what the plan knew, it is read and the edit made to fit. Until
// then found is nil.
func (c *change) regraft(group string, edit func(found map[Permission]bool) error) error {
	err := edit(nil)
	for range regrafts {
		if !differs(err) {
			return err
		}
		rules, readErr := c.rulesIn(c.ctx, group)
		if readErr != nil {
			return readErr
		}
		found := map[Permission]bool{}
		for _, r := range rules {
			found[r.Permission] = true
		}
		err = edit(found)
	}
	return err
}

// differs tells whether a call was refused because a rule is there already, or
// not there any more.
func differs(err error) bool {
	code := codeOfFault(err)
	return code == "InvalidPermission.Duplicate" || code == "InvalidPermission.NotFound"
}

// literal is the permission with its source as EC2 writes it.
func (c *change) literal(p Permission) Permission {
	p = normal(p)
	if !p.Source.IsZero() {
		p.Source = stack.RefID(c.batch.ID(c.step, p.Source))
	}
	return p
}

func (c *change) rules(list []Permission) []FoundRule {
	out := make([]FoundRule, 0, len(list))
	for _, p := range list {
		out = append(out, FoundRule{Permission: c.literal(p)})
	}
	return out
}

func (c *change) authorize(group string, rules []FoundRule) error {
	return c.Session.authorize(c.ctx, group, rules)
}

func (c *change) revoke(group string, rules []FoundRule) error {
	return c.Session.revoke(c.ctx, group, rules)
}

func codeOfFault(err error) string {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.Code
	}
	return ""
}
