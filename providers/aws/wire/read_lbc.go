package wire

import (
	"maps"
	"slices"
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
)

// findStacks finds, among all Network Load Balancers of the VPC, those whose tags name one
// of the Services. Which Service a load balancer is of is asked once: tags that tell it
// are made with it and never change.
func (r *networkRead) findStacks(all []elbv2types.LoadBalancer) error {
	wanted := eachOnce(append(r.values(model.KindNetwork, model.ByStack), r.values(model.KindNetwork, model.ByMoved)...))
	if len(all) == 0 {
		return nil
	}
	byARN := map[string]elbv2types.LoadBalancer{}
	for _, lb := range all {
		if lb.Type == elbv2types.LoadBalancerTypeEnumNetwork && awssdk.ToString(lb.VpcId) == r.config.VPC && r.mayBeOfStack(lb) {
			byARN[arnOf(lb)] = lb
		}
	}
	arns := slices.Sorted(maps.Keys(byARN))
	unread := slices.DeleteFunc(slices.Clone(arns), func(arn string) bool { _, ok := r.facts.stacks.Get(arn, 0); return ok })
	for chunk := range slices.Chunk(unread, tagsPerCall) {
		if err := r.readNetworkTags(chunk); err != nil {
			return err
		}
		for _, arn := range chunk {
			r.facts.stacks.Set(arn, r.stackIn(r.tags[arn]))
		}
	}
	r.facts.stacks.ForgetWhere(func(arn, _ string) bool { return !containsSorted(arns, arn) })
	if r.config.Controller.Serve {
		r.keepGroups(arns, byARN)
		r.keepGiven(all)
	}
	for _, arn := range arns {
		if name := r.facts.stackOf(arn); name != "" && containsSorted(wanted, name) {
			r.ofStack[name] = byARN[arn]
		}
	}
	return nil
}

// mayBeOfStack reports whether the tags of a load balancer have to be known. Where kind
// LBC is not served none that has been of it has a name that is made of a UID.
func (r *networkRead) mayBeOfStack(lb elbv2types.LoadBalancer) bool {
	return r.config.Controller.Serve || !uidName(awssdk.ToString(lb.LoadBalancerName))
}

// stackIn is the Service of this cluster that tags name, namespace/name, or what stands for
// a group, or for another controller that has made the load balancer; empty: none has.
func (s *Session) stackIn(tags model.Tags) string {
	if !s.config.Controller.Serve {
		return s.movedIn(tags)
	}
	if group := model.GroupIn(s.cluster, tags); group != "" {
		return model.GroupStack + group
	}
	switch cluster, service := tags[model.TagLBCCluster], tags[model.TagServiceName]; {
	case cluster == s.cluster && tags[model.TagLBCStack] != "":
		return tags[model.TagLBCStack]
	case cluster != "":
		return model.MadeElsewhere + "by the AWS Load Balancer Controller of the cluster " + cluster
	case service != "":
		return model.MadeElsewhere + "for Service " + service
	}
	return ""
}

// movedIn is the Service, namespace/name, of which tags of both kinds of Network Load Balancers
// say that it has the load balancer, or a part of it: it was of kind LBC and is of kind NLB.
// Empty: none.
func (s *Session) movedIn(tags model.Tags) string {
	name := tags[model.TagServiceName]
	if tags[model.TagLBCCluster] == s.cluster && tags[model.TagLBCStack] == name && s.config.Cluster.Marks(tags) {
		return name
	}
	return ""
}

// moved reports whether the load balancer of a view has been of kind LBC, and is found by that
// alone.
func (r *networkRead) moved(v *view) bool {
	return containsSorted(lookupValues(v.scope.Own, model.KindNetwork, model.ByMoved), r.facts.stackOf(arnOf(v.balancer)))
}

// hasMoved reports whether a security group is on such a load balancer.
func (r *networkRead) hasMoved(v *view, group string) bool {
	return r.moved(v) && slices.Contains(v.balancer.SecurityGroups, group)
}

// movedPorts are the ports to which such a load balancer sends, and asks whether targets are
// healthy. They are node ports, of which no other Service has the same.
func (r *networkRead) movedPorts(v *view) map[int32]bool {
	out := map[int32]bool{}
	if !r.moved(v) {
		return out
	}
	for _, group := range v.targetGroups {
		if port, err := strconv.ParseInt(awssdk.ToString(group.HealthCheckPort), 10, 32); err == nil {
			out[int32(port)] = true
		}
		targets, _ := r.parts[partOf{model.KindTargets, awssdk.ToString(group.TargetGroupArn)}].(model.Targets)
		for _, t := range targets.Targets {
			out[t.Port] = true
		}
	}
	return out
}

// balancerOf is the found Network Load Balancer of a scope, by the tags of kind LBC before
// names, and by the tags of both kinds after them; without an ARN if there is none.
func (r *networkRead) balancerOf(scope providers.Scope) elbv2types.LoadBalancer {
	for _, name := range lookupValues(scope.Own, model.KindNetwork, model.ByStack) {
		if lb, ok := r.ofStack[name]; ok {
			return lb
		}
	}
	for _, name := range lookupValues(scope.Own, model.KindNetwork, model.ByName) {
		if lb, ok := r.named[name]; ok {
			return lb
		}
	}
	for _, name := range lookupValues(scope.Own, model.KindNetwork, model.ByMoved) {
		if lb, ok := r.ofStack[name]; ok {
			return lb
		}
	}
	return elbv2types.LoadBalancer{}
}

// wantsDetails reports whether a scope requests details that take calls of their own.
func wantsDetails(scope providers.Scope, kind stack.Kind) bool {
	return readsKind(scope, kind) && len(lookupValues(scope.Facts, kind, model.ByWanted)) > 0
}

// sharedStack is the group that all load balancers of kind LBC send from. While the AWS
// Load Balancer Controller lets load balancers of its own in from it, it is not ours to
// delete.
func (r *vpcRead) sharedStack(v *view) []stack.Resource {
	var out []stack.Resource
	for _, name := range lookupValues(v.scope.Own, model.KindSharedGroup, model.ByName) {
		g, ok := r.own[name]
		if !ok {
			continue
		}
		key := stack.Key{Kind: model.KindSharedGroup, Name: name}
		res := r.groupOf(key, g)
		res.Ownership, res.Proof = stack.Shared, stack.None
		tags := res.Spec.(model.Group).Tags
		if tags[model.TagLBCCluster] == r.cluster && tags[model.TagLBCShared] == model.ResourceShared {
			v.own[res.ID] = key
			if !r.usedElsewhere(res.ID) {
				res.Proof = stack.Tag
			}
		}
		out = append(out, res)
	}
	return out
}

func (r *vpcRead) usedElsewhere(group string) bool {
	return slices.ContainsFunc(r.shared.NodeGroups, func(g model.NodeGroup) bool {
		return slices.ContainsFunc(g.Rules, func(rule model.FoundRule) bool {
			return rule.Source.ID == group && rule.Description == model.LBCRuleDescription
		})
	})
}

// controllerServes reports whether the scope asks for resources of kind LBC.
func (v *view) controllerServes() bool {
	return len(lookupValues(v.scope.Own, model.KindNetwork, model.ByStack)) > 0
}
