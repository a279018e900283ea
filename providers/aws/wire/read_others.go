package wire

import (
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
)

// otherIn is the key name of a target group that was made for the Service of a view to send to
// another one, by its tags, which never change; empty: it was not.
func (r *networkRead) otherIn(v *view, arn string) string {
	tags := r.tags[arn]
	if len(lookupValues(v.scope.Own, model.KindTargetGroup, model.ByNamespace)) == 0 || !model.LBCMarks(r.cluster, v.scope.Owner, tags) {
		return ""
	}
	service, port, ported := strings.Cut(tags[model.TagLBCResource], ":")
	name, same := strings.CutPrefix(service, v.scope.Owner.Namespace+"/")
	if !ported || !same || name == v.scope.Owner.Name {
		return ""
	}
	return model.OtherMark + name + "/" + port
}

// forOther reports whether a target group was made for the Service of a view to send to
// another one, and is on its load balancer, on none, or on one of several Services.
func (r *networkRead) forOther(v *view, t elbv2types.TargetGroup, attached bool) bool {
	arn := awssdk.ToString(t.TargetGroupArn)
	return r.otherIn(v, arn) != "" && (attached || len(t.LoadBalancerArns) == 0 || model.PlaceIn(r.cluster, r.tags[arn]) != "")
}

// otherPlaces are the key names of the target groups for other Services by ARN, as far
// as they are on a load balancer. Of two for one port, of which one replaces the other,
// the second has a name that is not desired, until the desired state shows which one it
// is.
func (r *networkRead) otherPlaces(v *view, lb, group string) map[string]string {
	out, taken := map[string]string{}, map[string]bool{}
	for _, t := range v.targetGroups {
		arn := awssdk.ToString(t.TargetGroupArn)
		name := r.otherIn(v, arn)
		if name == "" || !slices.Contains(t.LoadBalancerArns, lb) {
			continue
		}
		if taken[name] {
			name = model.OtherMark + "old-" + awssdk.ToString(t.TargetGroupName)
		}
		taken[name] = true
		out[arn] = model.PartOf(group, name)
	}
	return out
}

// mayBeForOthers are, of the target groups on the load balancer of a scope, the ones
// that may have been created to send to another Service: they have the name of one of
// the namespace.
func (r *networkRead) mayBeForOthers(scope providers.Scope) []string {
	own, all := lookupValues(scope.Own, model.KindTargetGroup, model.ByPrefix), lookupValues(scope.Own, model.KindTargetGroup, model.ByNamespace)
	var out []string
	for _, t := range r.attached[arnOf(r.balancerOf(scope))] {
		if name := awssdk.ToString(t.TargetGroupName); hasPrefix(name, all) && !hasPrefix(name, own) {
			out = append(out, awssdk.ToString(t.TargetGroupArn))
		}
	}
	return out
}

// mixed are the target groups of a scope behind listeners that send to several: only their tags
// tell which of them are for other Services.
func (r *networkRead) mixed(scope providers.Scope) []string {
	if len(lookupValues(scope.Own, model.KindTargetGroup, model.ByNamespace)) == 0 {
		return nil
	}
	v := r.view(scope)
	var out []string
	for _, l := range r.listeners[arnOf(v.balancer)] {
		if groups := forwardedTo(l); len(groups) > 1 {
			for _, g := range groups {
				if arn := awssdk.ToString(g.TargetGroupArn); slices.Contains(v.forOwnPods, arn) {
					out = append(out, arn)
				}
			}
		}
	}
	return out
}
