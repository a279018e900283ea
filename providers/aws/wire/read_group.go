package wire

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// keepGroups finds, among the load balancers whose tags are known, those of groups, and
// the ones that no controller has created.
func (r *networkRead) keepGroups(arns []string, byARN map[string]elbv2types.LoadBalancer) {
	for _, arn := range arns {
		whose := r.facts.stackOf(arn)
		if group, is := strings.CutPrefix(whose, model.GroupStack); is {
			r.ofGroup[group] = byARN[arn]
		} else if whose == "" {
			r.ofGroup[awssdk.ToString(byARN[arn].LoadBalancerName)] = byARN[arn]
		}
	}
}

// keepGiven finds what has the names that Services give of load balancers of others.
func (r *networkRead) keepGiven(all []elbv2types.LoadBalancer) {
	names := r.factValues(model.KindSharedNetwork, model.ByName)
	r.given = map[string]model.Given{}
	for _, lb := range all {
		name := awssdk.ToString(lb.LoadBalancerName)
		if !containsSorted(names, name) {
			continue
		}
		g := model.Given{ARN: arnOf(lb), Type: string(lb.Type), VPC: awssdk.ToString(lb.VpcId)}
		switch whose := r.facts.stackOf(g.ARN); {
		case strings.HasPrefix(whose, model.MadeElsewhere):
			g.Maker = whose
		case strings.HasPrefix(whose, model.GroupStack):
			g.Maker = model.MadeElsewhere + "for the " + whose + " of Services"
		case whose != "":
			g.Maker = model.MadeElsewhere + "for Service " + whose
		}
		r.given[name] = g
	}
}

// mayBeIn lists the groups in which a scope may have something, before tags of target
// groups are known: the groups that it names, and the groups whose load balancer has a
// target group of its name.
func (r *networkRead) mayBeIn(scope providers.Scope) []string {
	out := lookupValues(scope.Own, model.KindSharedNetwork, model.ByGroup)
	prefixes := lookupValues(scope.Own, model.KindTargetGroup, model.ByPrefix)
	for group, lb := range r.ofGroup {
		if slices.ContainsFunc(r.attached[arnOf(lb)], func(t elbv2types.TargetGroup) bool { return hasPrefix(awssdk.ToString(t.TargetGroupName), prefixes) }) {
			out = append(out, group)
		}
	}
	return eachOnce(out)
}

// groupsOf lists the groups in which a scope has something, or wants to.
func (r *networkRead) groupsOf(v *view) []string {
	out := lookupValues(v.scope.Own, model.KindSharedNetwork, model.ByGroup)
	for _, t := range v.targetGroups {
		if group := model.PlaceIn(r.cluster, r.tags[awssdk.ToString(t.TargetGroupArn)]); group != "" {
			out = append(out, group)
		}
	}
	return eachOnce(out)
}

// isMember reports whether a scope has a target group that is marked as of a group.
func (r *networkRead) isMember(v *view, group string) bool {
	return slices.ContainsFunc(v.targetGroups, func(t elbv2types.TargetGroup) bool {
		return model.GroupIn(r.cluster, r.tags[awssdk.ToString(t.TargetGroupArn)]) == group
	})
}

// sharedBalancers are the load balancers of groups that a scope may have a part of.
func (r *networkRead) sharedBalancers(scope providers.Scope) []string {
	var out []string
	for _, group := range r.mayBeIn(scope) {
		if lb, ok := r.ofGroup[group]; ok {
			out = append(out, arnOf(lb))
		}
	}
	return out
}

// balancersOf are all load balancers that a scope may have a part of.
func (r *networkRead) balancersOf(scope providers.Scope) []string {
	out := r.sharedBalancers(scope)
	if lb := arnOf(r.balancerOf(scope)); lb != "" {
		out = append(out, lb)
	}
	return out
}

// frontJobs read the security groups by which clients come to load balancers of groups.
func (r *networkRead) frontJobs() []kit.Detail {
	var names []string
	for _, scope := range r.deep {
		if v := r.view(scope); len(scope.Own) > 0 {
			for _, group := range r.groupsOf(v) {
				if !model.IsAdopted(group) {
					names = append(names, model.FrontName(r.cluster, group))
				}
			}
		}
	}
	if names = eachOnce(names); len(names) == 0 {
		return nil
	}
	return []kit.Detail{{Of: names, Run: func() error {
		found, err := r.groupsBy(r.ctx, "group-name", names)
		r.Keep(func() {
			r.fronts = map[string]ec2types.SecurityGroup{}
			for _, g := range found {
				r.fronts[awssdk.ToString(g.GroupName)] = g
			}
		})
		return err
	}}}
}

// frontStack is the security group of a group, with the rules in it: a member that finds
// an unwanted one deletes it.
func (r *networkRead) frontStack(v *view, group string) []stack.Resource {
	if model.IsAdopted(group) {
		return nil
	}
	name := model.FrontName(r.cluster, group)
	v.seen = append(v.seen, name)
	g, ok := r.fronts[name]
	if !ok || model.GroupIn(r.cluster, tagsOfEC2(g.Tags)) != group {
		return nil
	}
	res := r.groupOf(model.FrontKey(group), g)
	res.Ownership, res.Proof = stack.Shared, stack.None
	if r.isMember(v, group) {
		res.Proof = stack.Tag
	}
	v.own[res.ID] = res.Key
	out := []stack.Resource{res}
	ports := r.ownPorts(v, group)
	for _, found := range rulesOf(g.IpPermissions) {
		p := model.Normal(found.Permission)
		if !p.Source.IsZero() {
			continue // made by hand
		}
		key := model.FrontRuleKey(res.Key.Name, p)
		proof := stack.Leftover
		if p.FromPort == p.ToPort && ports[p.FromPort] {
			proof = stack.Derived
		}
		out = append(out, stack.Resource{Key: key, ID: key.Name, In: res.Key, Ownership: stack.Shared, Proof: proof, Spec: model.FrontRule{Permission: p, Group: res.ID}})
	}
	return out
}

// ownPorts returns the ports of a group's load balancer that a scope listens on.
func (r *networkRead) ownPorts(v *view, group string) map[int32]bool {
	out := map[int32]bool{}
	for _, l := range r.listeners[arnOf(r.ofGroup[group])] {
		if slices.Contains(v.forOwnPods, targetOf(l, v.forOwnPods)) {
			out[awssdk.ToInt32(l.Port)] = true
		}
	}
	return out
}

// groupNetworkStack is what a Service has, or may join, of a group.
func (r *networkRead) groupNetworkStack(v *view, group string) []stack.Resource {
	lb, ok := r.ofGroup[group]
	arn := arnOf(lb)
	if !ok || r.Gone(arn) {
		return nil
	}
	v.seen = append(v.seen, arn)
	spec := r.networkOf(v, lb)
	spec.Members = r.membersOn(arn)
	res := stack.Resource{Key: model.SharedNetworkKey(group), ID: arn, Ownership: stack.Shared, State: stateOf(lb), Spec: spec}
	if model.IsAdopted(group) {
		spec.Members = nil
		res.Ownership, res.Spec = stack.External, spec
	} else if r.isMember(v, group) {
		res.Proof = stack.Tag
	}
	out := append([]stack.Resource{res}, r.partsOf(res, stack.Derived)...)
	places := r.places(v, arn, group)
	for _, l := range r.listeners[arn] {
		listener := r.groupListener(group, l, places, v.forOwnPods)
		out = append(out, listener)
		if listener.Proof != stack.None {
			v.seen = append(v.seen, listener.ID)
			out = append(out, r.partsOf(listener, stack.Derived)...)
		}
	}
	return out
}

// inGroups adds to the key names of target groups those of the parts of groups.
func (r *networkRead) inGroups(v *view, places map[string]string) map[string]string {
	if !v.deep || len(r.ofGroup) == 0 {
		return places
	}
	out := map[string]string{}
	maps.Copy(out, places)
	for _, group := range r.groupsOf(v) {
		maps.Copy(out, r.places(v, arnOf(r.ofGroup[group]), group))
	}
	return out
}

// groupListener is a listener of a group. One of another owner has a name of its own,
// and its present place.
func (r *networkRead) groupListener(group string, l elbv2types.Listener, places map[string]string, own []string) stack.Resource {
	res := r.listenerOf(l, places, own)
	res.In, res.Slot = model.SharedNetworkKey(group), model.SlotIn(group, awssdk.ToInt32(l.Port))
	target := targetOf(l, own)
	if slices.Contains(own, target) {
		res.Key.Name = model.PartOf(group, res.Key.Name)
		return res
	}
	res.Proof = stack.None
	res.Key.Name = model.PartOf(group, res.Key.Name) + " of " + cmp.Or(r.tags[target][model.TagLBCStack], "others")
	return res
}

// membersOn are the Services whose target groups are on a load balancer, the oldest first.
func (r *networkRead) membersOn(lb string) []model.GroupMember {
	var out []model.GroupMember
	for _, t := range r.attached[lb] {
		tags := r.tags[awssdk.ToString(t.TargetGroupArn)]
		service := tags[model.TagLBCStack]
		if service == "" || slices.ContainsFunc(out, func(m model.GroupMember) bool { return m.Service == service }) {
			continue
		}
		created, _ := strconv.ParseInt(tags[model.TagCreated], 10, 64) // without one it is the oldest
		out = append(out, model.GroupMember{Service: service, Created: created})
	}
	slices.SortFunc(out, model.GroupMember.Compare)
	return out
}
