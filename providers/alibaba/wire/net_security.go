package wire

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// takeSecurity adds the security group of the Service. Of several the one stays that a load balancer has joined, or
// the oldest one, and the others are deleted.
func (f *finder) takeSecurity(all []securityDoc, balancers []netDoc) {
	owner, ok := f.lookup(model.KindSecurityGroup, model.ByTag)
	if !ok {
		return
	}
	own := slices.DeleteFunc(slices.Clone(all), func(d securityDoc) bool { tags := d.tags(); return tags[model.TagOwner] != owner || !f.isCluster(tags) })
	unsure := kit.SortMarked(own, func(d securityDoc) kit.Marked {
		joined := slices.ContainsFunc(balancers, func(lb netDoc) bool { return slices.Contains(lb.Security, d.ID) })
		return kit.Marked{ID: d.ID, Created: d.Created, Recorded: joined, Partial: d.tags()[model.TagCluster] == ""}
	})
	if unsure != nil {
		f.err = fault.New(fault.Conflict, "the security groups %s and %s both have the tag %s; change that of the one that is not the Service's", own[0].ID, unsure.ID, owner)
		return
	}
	for i, d := range own {
		r := stack.Resource{Key: stack.Key{Kind: model.KindSecurityGroup}, ID: d.ID, Proof: stack.Tag, Spec: model.SecurityGroup{Name: d.Name, Description: d.Description, Group: d.Group}}
		if i > 0 {
			r.Key = providers.DuplicateKey(model.KindSecurityGroup, d.ID)
		} else {
			f.security = d.ID
			f.things = append(f.things, d.ID)
		}
		f.out.Put(r)
	}
}

// securityGroups returns security groups by tags. Source: API of ECS, DescribeSecurityGroups.
func (s *Session) securityGroups(ctx context.Context, params url.Values) ([]securityDoc, error) {
	var out []securityDoc
	params = withMost(params)
	for {
		var answer struct {
			Next   string `json:"NextToken"`
			Groups struct {
				All []securityDoc `json:"SecurityGroup"`
			} `json:"SecurityGroups"`
		}
		if err := s.read(ctx, actListSecurity, params, &answer); err != nil {
			return nil, err
		}
		out = append(out, answer.Groups.All...)
		if answer.Next == "" {
			return out, nil
		}
		params.Set("NextToken", answer.Next)
	}
}

// securityRules returns the rules of a security group.
func (s *Session) securityRules(ctx context.Context, id string) ([]securityRuleDoc, error) {
	var answer struct {
		Permissions struct {
			All []securityRuleDoc `json:"Permission"`
		} `json:"Permissions"`
	}
	err := s.read(ctx, actGetSecurity, url.Values{"SecurityGroupId": {id}, "Direction": {"ingress"}}, &answer)
	if err != nil {
		return nil, fmt.Errorf("security group %s: %w", id, err)
	}
	return answer.Permissions.All, nil
}

// rulesAtOnce is how many rules of a security group one call takes. Source: API of ECS, AuthorizeSecurityGroup.
const rulesAtOnce = 100

// dropIPv6 describes the rule that drops clients with IPv6 addresses, without which a group of rules for IPv4
// admits all of them. The official controller has no such rule, and removes what has the description of its own.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/nlbv2 (security group rules).
const dropIPv6 = "k8s: IPv6 clients in none of the ranges"

// createSecurityGroup creates a security group with its rules.
func createSecurityGroup(c *change, spec model.SecurityGroup) plan.Outcome {
	params := url.Values{"SecurityGroupName": {spec.Name}, "Description": {spec.Description}, "VpcId": {c.Session.config.VPC}, "SecurityGroupType": {"enterprise"}}
	if spec.Group != "" {
		params.Set("ResourceGroupId", spec.Group)
	}
	addTags(params, map[string]string{model.TagOwner: model.DefaultName(c.Step.ID.Owner), model.TagCluster: c.Session.config.ClusterID})
	var made securityDoc
	err := sendCreation(c, "", params, func(params url.Values) error { return c.Session.write(c.Ctx, actCreateSecurity, params, &made) })
	if err != nil {
		return kit.Failed(err)
	}
	rules := []url.Values{ruleOf("0.0.0.0/0", "drop", 100, spec.Description)}
	if spec.DualStack {
		rules = append(rules, ruleOf("::/0", "drop", 100, dropIPv6))
	}
	for _, text := range spec.Ranges {
		rules = append(rules, ruleOf(text, "accept", 1, spec.Description))
	}
	if err := addRules(c, made.ID, rules); err != nil {
		return failedLater(err)
	}
	return c.Created(made.ID, stack.Tag, spec)
}

// ruleOf returns the parameters of a rule for all ports and protocols.
func ruleOf(text, policy string, priority int, description string) url.Values {
	source := "SourceCidrIp"
	if p, err := netip.ParsePrefix(text); err == nil && p.Addr().Is6() {
		source = "Ipv6SourceCidrIp"
	}
	return url.Values{"IpProtocol": {"ALL"}, "PortRange": {"-1/-1"}, source: {text}, "Policy": {policy}, "Priority": {strconv.Itoa(priority)}, "Description": {description}}
}

// addRules adds rules to a security group.
func addRules(c *change, group string, rules []url.Values) error {
	for some := range slices.Chunk(rules, rulesAtOnce) {
		params := url.Values{"SecurityGroupId": {group}}
		for i, rule := range some {
			for name, values := range rule {
				params.Set("Permissions."+strconv.Itoa(i+1)+"."+name, values[0])
			}
		}
		if err := c.Session.write(c.Ctx, actAddRules, params, nil); err != nil {
			return err
		}
	}
	return nil
}

// updateRanges adds rules for new ranges before those of others are removed, unless the group has no room. Only
// rules with the description of the Service are removed.
func updateRanges(c *change, spec model.SecurityGroup) plan.Outcome {
	rules, err := c.Session.securityRules(c.Ctx, c.ID())
	if err != nil {
		return kit.Failed(err)
	}
	var add []url.Values
	var remove, existing []string
	for _, r := range rules {
		if text := r.Range + r.Range6; r.Description == spec.Description && r.Policy == "Accept" {
			existing = append(existing, text)
			if !slices.Contains(spec.Ranges, text) {
				remove = append(remove, r.ID)
			}
		}
	}
	for _, text := range spec.Ranges {
		if !slices.Contains(existing, text) {
			add = append(add, ruleOf(text, "accept", 1, spec.Description))
		}
	}
	err = addRules(c, c.ID(), add)
	full := fault.Is(err, fault.Quota) && len(remove) > 0
	if err != nil && !full {
		return failedAfter(err, len(add) > rulesAtOnce)
	}
	for some := range slices.Chunk(remove, rulesAtOnce) {
		if err := c.Session.write(c.Ctx, actRemoveRules, idsParams("SecurityGroupRuleId", some, "SecurityGroupId", c.ID()), nil); err != nil {
			return failedAfter(err, len(add) > 0)
		}
	}
	if full { // the removed ones have made room
		return updateRanges(c, spec)
	}
	return c.Updated(spec, nil)
}
