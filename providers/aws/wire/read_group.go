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
func (r *read) keepGroups(arns []string, byARN map[string]elbv2types.LoadBalancer) {
	r.groupLBs = map[string]elbv2types.LoadBalancer{}
	for _, arn := range arns {
		whose := r.facts.stackOf(arn)
		if group, is := strings.CutPrefix(whose, model.GroupStack); is {
			r.groupLBs[group] = byARN[arn]
		} else if whose == "" {
			r.groupLBs[awssdk.ToString(byARN[arn].LoadBalancerName)] = byARN[arn]
		}
	}
}

// givenNames are the names that Services give of load balancers of others.
func (r *read) givenNames() []string {
	var out []string
	for _, s := range r.scopes {
		out = append(out, lookupValues(s.Facts, model.KindSharedNetwork, model.ByName)...)
	}
	return out
}

// keepGiven finds what has the names that Services give of load balancers of others.
func (r *read) keepGiven(all []elbv2types.LoadBalancer) {
	names := r.givenNames()
	r.given = map[string]model.Given{}
	for _, lb := range all {
		name := awssdk.ToString(lb.LoadBalancerName)
		if !slices.Contains(names, name) {
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
func (r *read) mayBeIn(scope providers.Scope) []string {
	out := lookupValues(scope.Own, model.KindSharedNetwork, model.ByGroup)
	prefixes := lookupValues(scope.Own, model.KindTargetGroup, model.ByPrefix)
	for group, lb := range r.groupLBs {
		if slices.ContainsFunc(r.attached[arnOf(lb)], func(t elbv2types.TargetGroup) bool { return hasPrefix(awssdk.ToString(t.TargetGroupName), prefixes) }) {
			out = append(out, group)
		}
	}
	return eachOnce(out)
}

// groupsOf lists the groups in which a scope has something, or wants to.
func (r *read) groupsOf(v *view) []string {
	out := lookupValues(v.scope.Own, model.KindSharedNetwork, model.ByGroup)
	for _, t := range r.ownTargetGroups(v) {
		if group := model.PlaceIn(r.cluster, r.tags[awssdk.ToString(t.TargetGroupArn)]); group != "" {
			out = append(out, group)
		}
	}
	return eachOnce(out)
}

// isMember reports whether a scope has a target group that is marked as of a group.
func (r *read) isMember(v *view, group string) bool {
	return slices.ContainsFunc(r.ownTargetGroups(v), func(t elbv2types.TargetGroup) bool {
		return model.GroupIn(r.cluster, r.tags[awssdk.ToString(t.TargetGroupArn)]) == group
	})
}

// sharedBalancers are the load balancers of groups that a scope may have a part of, with the
// target groups on them, of which it must be known whose they are.
func (r *read) sharedBalancers(scope providers.Scope) (arns, targets []string) {
	for _, group := range r.mayBeIn(scope) {
		lb, ok := r.groupLBs[group]
		if !ok {
			continue
		}
		arns = append(arns, arnOf(lb))
		for _, t := range r.attached[arnOf(lb)] {
			targets = append(targets, awssdk.ToString(t.TargetGroupArn))
		}
	}
	return arns, targets
}

// frontJobs read the security groups by which clients come to load balancers of groups.
func (r *read) frontJobs() []kit.Detail {
	var names []string
	for _, scope := range r.scopes {
		if v := r.view(scope); v.deep && len(scope.Own) > 0 {
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
func (r *read) frontStack(v *view, group string) []stack.Resource {
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
func (r *read) ownPorts(v *view, group string) map[int32]bool {
	out := map[int32]bool{}
	own := r.ownARNs(v)
	for _, l := range r.listeners[arnOf(r.groupLBs[group])] {
		if slices.Contains(own, targetOf(l, own)) {
			out[awssdk.ToInt32(l.Port)] = true
		}
	}
	return out
}

// groupNetworkStack is what a Service has, or may join, of a group.
func (r *read) groupNetworkStack(v *view, group string) []stack.Resource {
	lb, ok := r.groupLBs[group]
	arn := arnOf(lb)
	if !ok || r.Gone(arn) {
		return nil
	}
	v.seen = append(v.seen, arn)
	spec := r.networkOf(v, lb)
	spec.Name, spec.Members = awssdk.ToString(lb.LoadBalancerName), r.membersOn(arn)
	res := stack.Resource{Key: model.SharedNetworkKey(group), ID: arn, Ownership: stack.Shared, State: stateOf(lb), Spec: spec}
	if model.IsAdopted(group) {
		spec.Members = nil
		res.Ownership, res.Spec = stack.External, spec
	} else if r.isMember(v, group) {
		res.Proof = stack.Tag
	}
	out := append([]stack.Resource{res}, r.balancerParts(res)...)
	own := r.ownARNs(v)
	places := r.groupPlaces(group, own)
	maps.Copy(places, r.otherPlaces(v, arn, group))
	for _, l := range r.listeners[arn] {
		listener := r.groupListener(group, l, places, own)
		out = append(out, listener)
		if listener.Proof != stack.None {
			out = append(out, r.listenerParts(v, listener)...)
		}
	}
	return out
}

// groupPlaces are the key names of the Service's target groups by ARN.
func (r *read) groupPlaces(group string, own []string) map[string]string {
	out := map[string]string{}
	for _, l := range r.listeners[arnOf(r.groupLBs[group])] {
		arn := targetOf(l, own)
		if _, taken := out[arn]; !taken && slices.Contains(own, arn) {
			out[arn] = model.PartOf(group, listenerName(l))
		}
		if old := leftBy(l, own); old != "" && out[old] == "" {
			out[old] = model.LeavingMark + model.PartOf(group, listenerName(l))
		}
	}
	return out
}

// inGroups adds to the key names of target groups those of the parts of groups.
func (r *read) inGroups(v *view, places map[string]string) map[string]string {
	if !v.deep || len(r.groupLBs) == 0 {
		return places
	}
	out := maps.Clone(places)
	for _, group := range r.groupsOf(v) {
		if out == nil {
			out = map[string]string{}
		}
		maps.Copy(out, r.groupPlaces(group, r.ownARNs(v)))
		maps.Copy(out, r.otherPlaces(v, arnOf(r.groupLBs[group]), group))
	}
	return out
}

// groupListener is a listener of a group. One of another owner has a name of its own,
// and its present place.
func (r *read) groupListener(group string, l elbv2types.Listener, places map[string]string, own []string) stack.Resource {
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
func (r *read) membersOn(lb string) []model.GroupMember {
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
