package aws

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/go-multierror"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// found puts together what was read for one scope.
func (r *read) found(scope providers.Scope) providers.Found[*Facts] {
	out := providers.Found[*Facts]{At: r.now(), Facts: r.factsOf(scope)}
	v := r.view(scope)
	have := &stack.Stack{Owner: scope.Owner}
	have.Resources = append(have.Resources, r.groupStack(v)...)
	have.Resources = append(have.Resources, r.classicStack(v)...)
	have.Resources = append(have.Resources, r.networkStack(v)...)
	have.Resources = append(have.Resources, r.nodeRuleStack(v)...)
	have.Sort()
	out.Have = have
	out.Blind, out.Err = r.faults(scope, v)
	return out
}

// view is what one Service may see of what was read.
type view struct {
	scope   providers.Scope
	deep    bool
	classic string // its load balancers' names; empty: not asked for
	network string
	own     map[string]stack.Key // its own security groups by id
	seen    []string             // names and ARNs of what it looked at closer
}

func (r *read) view(scope providers.Scope) *view {
	v := &view{scope: scope, deep: scope.Depth == providers.Deep, own: map[string]stack.Key{}}
	if names := lookups(scope.Own, KindClassic, byName); len(names) > 0 {
		v.classic = names[0]
	}
	if names := lookups(scope.Own, KindNetwork, byName); len(names) > 0 {
		v.network = names[0]
	}
	return v
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

// asks tells which lists the scope's answer depends on.
func (r *read) asks(scope providers.Scope) map[family]bool {
	out := map[family]bool{}
	deep := scope.Depth == providers.Deep
	for _, l := range scope.Own {
		switch l.Kind {
		case KindClassic:
			out[familyClassic] = true
		case KindNetwork:
			out[familyNetwork] = true
		case KindTargetGroup:
			out[familyTargets] = deep
		case KindGroup:
			out[familyGroups] = true
		}
		out[familyNodes] = deep
	}
	if !deep {
		return out
	}
	for _, l := range scope.Facts {
		switch l.Kind {
		case kindSubnets:
			out[familySubnets] = true
		case KindNodeGroup:
			out[familyNodes] = true
		}
	}
	return out
}

// faults are those that the scope's answer suffers from. A list that was denied
// leaves its kinds blind, so that nobody takes "not shown" for "not there"; the
// rest goes on, for accounts that allow one sort of load balancer only.
func (r *read) faults(scope providers.Scope, v *view) ([]stack.Kind, error) {
	var all *multierror.Error
	var blind []stack.Kind
	asked := r.asks(scope)
	for _, f := range slices.Sorted(maps.Keys(r.failed)) {
		if !asked[f] {
			continue
		}
		if kinds := f.blinds(); fault.Is(r.failed[f], fault.Denied) && len(kinds) > 0 {
			blind = append(blind, kinds...)
			continue
		}
		all = multierror.Append(all, fmt.Errorf("%s: %w", f, r.failed[f]))
	}
	for id := range v.own {
		v.seen = append(v.seen, id)
	}
	slices.Sort(v.seen)
	for _, name := range v.seen {
		if err := r.broken[name]; err != nil {
			all = multierror.Append(all, fmt.Errorf("%s: %w", name, err))
		}
	}
	slices.Sort(blind)
	return blind, all.ErrorOrNil()
}

// factsOf are shared between all scopes with the same nodes, and with those of the
// read before if nothing has changed: in a large cluster their instances are most
// of what a read holds.
func (r *read) factsOf(scope providers.Scope) *Facts {
	digest := scope.Nodes.Digest()
	if f, ok := r.factsFor[digest]; ok {
		return f
	}
	of := factsKey{nodes: digest, machines: r.machinesAt, subnets: first(r.subnetList), groups: first(r.groups), names: len(r.groupNames)}
	f := r.facts.same(of, func() *Facts { return r.makeFacts(scope) })
	r.factsFor[digest] = f
	return f
}

// first points to the beginning of a list.
func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

func (r *read) makeFacts(scope providers.Scope) *Facts {
	f := &Facts{Cluster: r.config.Cluster, OwnSubnet: r.config.Subnet, VPC: r.config.VPC, Subnets: r.subnetList, NodeGroups: r.groups, GroupNames: r.groupNames}
	f.Instances = map[string]Instance{}
	for _, id := range instanceIDs(scope.Nodes) {
		if i, ok := r.machines[id]; ok {
			f.Instances[id] = i
		}
	}
	f.members = membersOf(scope.Nodes, f.Instances)
	f.members.groups, f.members.doubts = nodeGroups(f.members.ids, f)
	return f
}
