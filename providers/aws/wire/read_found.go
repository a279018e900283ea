package wire

import (
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
)

// found puts together what was read for one scope.
func (r *read) found(scope providers.Scope) providers.Found[*model.Facts] {
	out := providers.Found[*model.Facts]{At: r.now(), Facts: r.vpc.factsOf(scope)}
	v := r.networks.view(scope)
	have := &stack.Stack{Owner: scope.Owner}
	have.Resources = append(have.Resources, r.vpc.sharedStack(v)...)
	have.Resources = append(have.Resources, r.groupStack(v)...)
	var groups []string
	if v.deep {
		groups = r.networks.groupsOf(v)
	}
	for _, group := range groups {
		have.Resources = append(have.Resources, r.networks.frontStack(v, group)...)
	}
	have.Resources = append(have.Resources, r.classics.classicStack(v)...)
	have.Resources = append(have.Resources, r.networks.networkStack(v)...)
	for _, group := range groups {
		have.Resources = append(have.Resources, r.networks.groupNetworkStack(v, group)...)
	}
	have.Resources = append(have.Resources, r.nodeRuleStack(v)...)
	r.pendWhileUnchecked(v, have)
	have.Sort()
	out.Have = have
	out.Blind, out.Err = r.faults(scope, v)
	return out
}

// pendWhileUnchecked takes a Network Load Balancer that has none but unchecked targets in one of its
// groups for one that is still being made, where a Classic Load Balancer of the Service serves.
func (r *read) pendWhileUnchecked(v *view, have *stack.Stack) {
	if classic, ok := have.Get(model.ClassicKey()); !ok || classic.Proof == stack.None {
		return
	}
	checked := true
	for _, t := range v.targetGroups {
		checked = checked && !r.networks.checking[awssdk.ToString(t.TargetGroupArn)]
	}
	for i := range have.Resources {
		if kind := have.Resources[i].Key.Kind; !checked && have.Resources[i].State == stack.Ready && (kind == model.KindNetwork || kind == model.KindSharedNetwork) {
			have.Resources[i].State = stack.Pending
		}
	}
}

// view is what one Service may see of what was read.
type view struct {
	scope   providers.Scope
	deep    bool
	classic string // its load balancers' names; empty: not asked for
	network string
	// balancer is its Network Load Balancer as found, which may have another name.
	balancer elbv2types.LoadBalancer
	own      map[string]stack.Key // its own security groups by id
	seen     []string             // names and ARNs of what it looked at closer
	// targetGroups are its own, forOwnPods their ARNs but of the ones that send to other Services.
	targetGroups []elbv2types.TargetGroup
	forOwnPods   []string
}

func (r *networkRead) view(scope providers.Scope) *view {
	v := &view{scope: scope, deep: scope.Depth == providers.Deep, own: map[string]stack.Key{}, balancer: r.balancerOf(scope)}
	v.classic = nameOf(scope, model.KindClassic)
	v.network = nameOf(scope, model.KindNetwork)
	v.targetGroups = r.ownTargetGroups(v)
	for _, t := range v.targetGroups {
		if arn := awssdk.ToString(t.TargetGroupArn); r.otherIn(v, arn) == "" {
			v.forOwnPods = append(v.forOwnPods, arn)
		}
	}
	return v
}

// nameOf returns the name of a load balancer that the scope looks up; empty: none.
func nameOf(scope providers.Scope, kind stack.Kind) string {
	names := lookupValues(scope.Own, kind, model.ByName)
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// ref points to the Service's own group, or to any other by its id.
func (v *view) ref(group string) stack.Ref {
	if k, ok := v.own[group]; ok {
		return stack.RefTo(k)
	}
	return stack.RefID(group)
}

func (v *view) refs(groups []string) []stack.Ref {
	var out []stack.Ref
	for _, g := range groups {
		out = append(out, v.ref(g))
	}
	return out
}

// requiredLists returns the lists on which the result of the scope depends.
func requiredLists(scope providers.Scope) map[string]bool {
	out := map[string]bool{}
	deep := scope.Depth == providers.Deep
	for _, l := range scope.Own {
		switch l.Kind {
		case model.KindClassic:
			out[familyClassic] = true
		case model.KindNetwork:
			out[familyNetwork] = true
		case model.KindTargetGroup:
			out[familyTargets] = deep
		case model.KindGroup, model.KindSharedGroup:
			out[familyGroups] = true
		}
		out[familyNodes] = deep
	}
	if !deep {
		return out
	}
	for _, l := range scope.Facts {
		switch l.Kind {
		case model.KindGroup:
			out[familyGroups] = out[familyGroups] || l.By == model.ByTagName || l.By == model.ByWanted
		case model.KindSharedNetwork:
			out[familyNetwork] = true
		case model.KindSubnets:
			out[familySubnets] = true
		case model.KindNodeGroup:
			out[familyNodes] = true
		case model.KindPods:
			out[familyPods] = true
		}
	}
	return out
}

// faults are the faults that affect the scope's result. A list that was denied leaves
// its kinds blind, so that "not shown" is not taken for "not found". The rest continues,
// for accounts that allow one sort of load balancer only.
func (r *read) faults(scope providers.Scope, v *view) (providers.Blind, error) {
	return r.Faults(requiredLists(scope), slices.AppendSeq(v.seen, maps.Keys(v.own)))
}
