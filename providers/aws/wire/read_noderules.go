package wire

import (
	"cmp"
	"strings"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
)

// nodeRuleStack lists the rules that the Service may have in the groups of the nodes:
// rules that are proven to be its own, and, without proof, the rules that other load
// balancers have there. A Service that wants one of the latter finds it in place. Rules
// for the own groups of other load balancers are left out, because no other Service
// wants them; with thousands of Services they would be most of what a read holds.
func (r *read) nodeRuleStack(v *view) []stack.Resource {
	if !v.deep || len(v.scope.Own) == 0 {
		return nil
	}
	j := r.judge(v)
	var out []stack.Resource
	for _, g := range r.vpc.shared.NodeGroups {
		for _, rule := range g.Rules {
			if rule.Source.IsZero() && !model.OfBalancer(rule.Description) || r.vpc.isUnnamed(rule) {
				continue
			}
			if res := j.resource(g.ID, rule); res.Proof != stack.None || j.others[rule.Source.ID] == "" {
				out = append(out, res)
			}
		}
	}
	return out
}

// judge knows what makes a rule a Service's own.
type judge struct {
	vpc          *vpcRead
	view         *view
	names        map[string]string // names of own groups by id
	others       map[string]string // names of groups that any load balancer has for itself, by id
	first        string            // the first group of the found Classic Load Balancer
	classic      string            // the description of rules for Classic Load Balancers of the cluster
	client       string            // the descriptions of its Network Load Balancer's rules
	health       string
	sharesWithLB bool            // it has rules that all Network Load Balancers share
	shared       map[string]bool // groups that all load balancers of kind LBC send from, by id
	released     bool            // nothing is asked for but what the Service has
	moved        map[int32]bool  // ports of a load balancer that was one of kind LBC, where that is not served
	clients      map[clientRange]ownership
}

// ownership says whose load balancers let a range of clients in.
type ownership struct{ ours, others bool }

// clientRange is a range of clients that a group of nodes lets in.
type clientRange struct{ group, cidr string }

func (r *read) judge(v *view) judge {
	j := judge{vpc: r.vpc, view: v, classic: model.ClassicDescription(r.cluster), names: map[string]string{}, others: r.vpc.shared.GroupNames, shared: map[string]bool{}, moved: r.networks.movedPorts(v)}
	for name, g := range r.vpc.own {
		if g.GroupId != nil {
			if _, own := v.own[*g.GroupId]; own {
				j.names[*g.GroupId] = name
				j.shared[*g.GroupId] = v.own[*g.GroupId].Kind == model.KindSharedGroup
			}
		}
	}
	if d, ok := r.classics.found[v.classic]; ok && len(d.SecurityGroups) > 0 && r.proofOf(v.scope.Owner, r.classics.tags[v.classic]) != stack.None {
		j.first = d.SecurityGroups[0]
	}
	if v.network == "" {
		return j
	}
	j.client, j.health = model.ClientDescription(v.network), model.HealthDescription(v.network)
	lb, found := r.networks.named[v.network]
	j.sharesWithLB = found && r.proofOf(v.scope.Owner, r.networks.tags[arnOf(lb)]) != stack.None ||
		len(lookupValues(v.scope.Facts, model.KindNetwork, model.ByWanted)) > 0 || r.vpc.describes(j.client, j.health)
	j.released = len(lookupValues(v.scope.Facts, model.KindSubnets, model.ByVPC)) == 0
	j.clients = r.vpc.clients(j.client)
	return j
}

// clients are the ranges of clients that load balancers let in.
func (r *vpcRead) clients(ours string) map[clientRange]ownership {
	out := map[clientRange]ownership{}
	for _, g := range r.shared.NodeGroups {
		for _, rule := range g.Rules {
			if !strings.HasPrefix(rule.Description, model.RuleClientPrefix) {
				continue
			}
			at := clientRange{g.ID, rule.CIDR}
			whose := out[at]
			if rule.Description == ours {
				whose.ours = true
			} else {
				whose.others = true
			}
			out[at] = whose
		}
	}
	return out
}

// describes reports whether any rule has one of the descriptions: the load balancer that
// they name may be deleted while its rules still exist.
func (r *vpcRead) describes(client, health string) bool {
	for _, g := range r.shared.NodeGroups {
		for _, rule := range g.Rules {
			if rule.Description == client || rule.Description == health {
				return true
			}
		}
	}
	return false
}

func (j judge) resource(group string, rule model.FoundRule) stack.Resource {
	p := rule.Permission
	source := cmp.Or(j.names[rule.Source.ID], j.others[rule.Source.ID])
	if source == "" && j.vpc.isNamedBySource(rule) {
		source = j.vpc.sources[rule.Source.ID]
	}
	if !p.Source.IsZero() {
		p.Source = j.view.ref(rule.Source.ID)
	}
	return stack.Resource{
		Key:       model.NodeRuleKey(group, p, source),
		ID:        model.NodeRuleID(group, rule.Permission, sourceText(rule.Permission)),
		In:        stack.Key{Kind: model.KindNodeGroup, Name: group},
		Ownership: stack.Shared, Proof: j.proof(group, rule),
		Spec: model.NodeRule{Group: group, Permission: p, Description: rule.Description},
	}
}

// proof of a rule: the description names our load balancer, or its source is
// what our load balancer sends from. Of rules with a source group that is not
// the Service's own, only the one that the controller makes counts: it is for
// all protocols.
func (j judge) proof(group string, rule model.FoundRule) stack.Proof {
	switch {
	case j.client != "" && (rule.Description == j.client || rule.Description == j.health):
		return stack.Description
	case rule.Description == model.OwnRuleDescription && rule.FromPort == rule.ToPort && j.moved[rule.FromPort]:
		return stack.Derived
	case rule.Description == model.OwnRuleDescription:
		return j.sharedProof()
	case j.shared[rule.Source.ID]:
		return stack.None // the official controller has created it, or a user by hand
	case rule.Description == model.RuleMTU:
		return j.sizeProof(clientRange{group, rule.CIDR})
	case rule.Source.IsZero():
		return stack.None
	case j.names[rule.Source.ID] != "":
		return stack.Derived
	case rule.Description == j.classic:
		return stack.Leftover
	case rule.Source.ID == j.first && rule.Protocol == "-1":
		return stack.Derived
	}
	return stack.None
}

// sharedProof of a rule that all load balancers of kind LBC share: it names none of them.
func (j judge) sharedProof() stack.Proof {
	if j.view.controllerServes() {
		return stack.Leftover
	}
	return stack.None
}

// sizeProof is the proof of a rule for the size of packets, which names no load
// balancer: it belongs to a range of clients. Rules of ranges that only other load
// balancers let in are not ours. Rules of no range at all are left over, and any
// released Service deletes them, because there may be no later one to do so.
func (j judge) sizeProof(at clientRange) stack.Proof {
	whose := j.clients[at]
	switch {
	case j.sharesWithLB && (whose.ours || !whose.others), j.released && whose == ownership{}:
		return stack.Description
	}
	return stack.None
}
