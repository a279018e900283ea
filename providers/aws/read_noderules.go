package aws

import (
	"maps"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// nodeRuleStack is what the Service may have in the groups of the nodes: rules
// that are proven to be its own, and, without proof, those that other load
// balancers have there. A Service that wants one of the latter finds it in place.
func (r *read) nodeRuleStack(v *view) []stack.Resource {
	if !v.deep || len(v.scope.Own) == 0 {
		return nil
	}
	j := r.judge(v)
	var out []stack.Resource
	for _, g := range r.groups {
		for _, rule := range g.Rules {
			if rule.Source.IsZero() && !strings.HasPrefix(rule.Description, rulePrefix) {
				continue
			}
			out = append(out, j.resource(g.ID, rule))
		}
	}
	return out
}

// judge knows what makes a rule a Service's own.
type judge struct {
	view         *view
	names        map[string]string // names of own groups by id
	first        string            // the first group of the found Classic Load Balancer
	client       string            // the descriptions of its Network Load Balancer's rules
	health       string
	sharesWithLB bool // it has rules that all Network Load Balancers share
	elsewhere    map[clientRange]bool
}

// clientRange is a range of clients that a group of nodes lets in.
type clientRange struct{ group, cidr string }

func (r *read) judge(v *view) judge {
	j := judge{view: v, names: map[string]string{}}
	for name, g := range r.ownGroups {
		if g.GroupId != nil {
			if _, own := v.own[*g.GroupId]; own {
				j.names[*g.GroupId] = name
			}
		}
	}
	if d, ok := r.classicLBs[v.classic]; ok && len(d.SecurityGroups) > 0 && r.proofOf(v.scope.Owner, r.tags[v.classic]) != stack.None {
		j.first = d.SecurityGroups[0]
	}
	if v.network == "" {
		return j
	}
	j.client, j.health = clientDescription(v.network), healthDescription(v.network)
	lb, found := r.networkLBs[v.network]
	j.sharesWithLB = found && r.proofOf(v.scope.Owner, r.tags[arnOf(lb)]) != stack.None ||
		len(lookups(v.scope.Facts, KindNetwork, byWanted)) > 0 || r.describes(j.client, j.health)
	j.elsewhere = r.elsewhere(j.client)
	return j
}

// elsewhere are the ranges that only other load balancers let in. The rules for
// the size of packets, which name none, go with the ranges of clients, so those
// for these ranges are not ours.
func (r *read) elsewhere(client string) map[clientRange]bool {
	out, ours := map[clientRange]bool{}, map[clientRange]bool{}
	for _, g := range r.groups {
		for _, rule := range g.Rules {
			switch at := (clientRange{g.ID, rule.CIDR}); {
			case rule.Description == client:
				ours[at] = true
			case strings.HasPrefix(rule.Description, ruleClientPrefix):
				out[at] = true
			}
		}
	}
	maps.DeleteFunc(out, func(at clientRange, _ bool) bool { return ours[at] })
	return out
}

// describes tells whether any rule has one of the descriptions: the load
// balancer that they name may be gone while its rules are still there.
func (r *read) describes(client, health string) bool {
	for _, g := range r.groups {
		for _, rule := range g.Rules {
			if rule.Description == client || rule.Description == health {
				return true
			}
		}
	}
	return false
}

func (j judge) resource(group string, rule FoundRule) stack.Resource {
	p := rule.Permission
	if !p.Source.IsZero() {
		p.Source = j.view.ref(rule.Source.ID)
	}
	return stack.Resource{
		Key:  nodeRuleKey(group, p, j.names[rule.Source.ID]),
		ID:   nodeRuleID(group, rule.Permission, sourceText(rule.Permission)),
		In:   stack.Key{Kind: KindNodeGroup, Name: group},
		Hold: stack.Counted, Proof: j.proof(group, rule),
		Spec: NodeRule{Group: group, Permission: p, Description: rule.Description},
	}
}

// proof of a rule: the description names our load balancer, or its source is
// what our load balancer sends from. Of rules with a source group that is not
// the Service's own, only the one that the controller makes counts: it is for
// all protocols.
func (j judge) proof(group string, rule FoundRule) stack.Proof {
	switch {
	case j.client != "" && (rule.Description == j.client || rule.Description == j.health):
		return stack.Description
	case j.sharesWithLB && rule.Description == ruleMTU && !j.elsewhere[clientRange{group, rule.CIDR}]:
		return stack.Description
	case rule.Source.IsZero():
		return stack.None
	case j.names[rule.Source.ID] != "":
		return stack.Derived
	case rule.Source.ID == j.first && rule.Protocol == "-1":
		return stack.Derived
	}
	return stack.None
}
