package model

import (
	"slices"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// keepServing returns the existing resources with today's nodes behind them.
func keepServing(in input, facts *Facts, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: have.Owner}
	ids, _ := nodeInstances(in, facts)
	running := runningNodes(in, facts)
	for _, r := range have.Resources {
		if r.Proof == stack.None && r.Ownership != stack.External {
			continue
		}
		switch spec := r.Spec.(type) {
		case ClassicInstances:
			spec.Instances = ids
			r.Spec = spec
		case Targets:
			spec.Targets = targetsOn(in, facts, have, r, running)
			r.Spec = spec
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

// runningNodes returns the running instances of the nodes that a target group of instances
// admits. The nodes of a Service whose targets are pods include nodes without pods.
func runningNodes(in input, facts *Facts) []string {
	ids, _ := nodeInstances(in, facts)
	if in.Kind == LBC && targetTypeOf(in.Config, in.Service) == targetIP {
		ids = membersOf(amongPods(in), facts.Instances).ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return facts.Instances[id].Stopped })
}

// targetsOn are today's targets of an existing target group: the instances on each port
// that its targets have, or the pods of its port.
func targetsOn(in input, facts *Facts, have *stack.Stack, targets stack.Resource, ids []string) []Target {
	group, ok := stack.SpecOf[TargetGroup](have, targets.In)
	old, _ := targets.Spec.(Targets)
	if !ok {
		return nil
	}
	if group.TargetType == targetIP {
		pods := podsOn(in, facts, targets.Key.Name, group, old.Targets)
		if len(pods) == 0 && !podsMatter(in.Config, in.Service) {
			return old.Targets // the pods of this Service were not watched until now
		}
		return pods
	}
	if len(old.Targets) == 0 {
		return targetsAt(ids, group.Port)
	}
	var out []Target
	for _, port := range portsOf(old.Targets) {
		out = append(out, targetsAt(ids, port)...)
	}
	slices.SortFunc(out, CompareTargets)
	return out
}

// portsOf returns the ports of targets, each once.
func portsOf(targets []Target) []int32 {
	var out []int32
	for _, t := range targets {
		out = append(out, t.Port)
	}
	return sortedSet(out)
}

// podsOn returns today's pods of the port that a target group is for, of the group's family. If
// the Service has no such port any more, they are those of its other ports that listen where the
// found targets do; its found targets if there are none.
func podsOn(in input, facts *Facts, name string, group TargetGroup, old []Target) []Target {
	f := &controlled{builder: &builder{in: in}, target: targetIP}
	others := []Target{}
	for _, p := range in.Backends.Ports {
		pods := podTargets(f.podsIn(lbcPort{ServicePort: p}, group.Family == FamilyIPv6), facts, group, old)
		if PortKey(p.Protocol, p.Port) == portIn(name) {
			return pods
		}
		others = append(others, slices.DeleteFunc(pods, func(t Target) bool { return !slices.Contains(portsOf(old), t.Port) })...)
	}
	if len(others) == 0 {
		return old
	}
	slices.SortFunc(others, CompareTargets)
	return slices.Compact(others)
}

// podTargets returns pods as targets of an existing target group, sorted.
func podTargets(pods []nodeports.Endpoint, facts *Facts, group TargetGroup, old []Target) []Target {
	var out []Target
	for _, e := range pods {
		t := Target{ID: e.Addr.String(), Port: e.Port}
		if slices.ContainsFunc(old, func(o Target) bool { return o.Zone == ZoneOutside }) {
			t.Zone = ZoneOutside
		}
		if speaksQUIC(group.Protocol) {
			if t.Server = serverLike(t, old, facts.Servers[e.Pod]); t.Server == "" {
				continue // AWS takes none without
			}
		}
		out = append(out, t)
	}
	slices.SortFunc(out, CompareTargets)
	return out
}

// serverLike is the id for QUIC with which a target is registered, else that of its pod.
func serverLike(t Target, old []Target, of Servers) string {
	i := slices.IndexFunc(old, func(o Target) bool { return o.ID == t.ID && o.Port == t.Port })
	if i >= 0 {
		return old[i].Server
	}
	return of.at(t.Port)
}
