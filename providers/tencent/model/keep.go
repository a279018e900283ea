package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// KeepServing returns the existing stack with today's nodes and pods as targets.
func KeepServing(in Input, _ *Facts, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: have.Owner}
	for _, r := range have.Resources {
		if r.Proof == stack.None && r.Ownership != stack.External {
			continue
		}
		switch spec := r.Spec.(type) {
		case Listener:
			spec.Members = followTargets(in, have, r, spec.Members)
			r.Spec = spec
		case Rule:
			listener, _ := have.Get(r.In)
			spec.Members = followTargets(in, have, listener, spec.Members)
			r.Spec = spec
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

// followTargets returns today's nodes and pods in place of the found targets of a listener or of its rule.
func followTargets(in Input, have *stack.Stack, listener stack.Resource, found []Member) []Member {
	balancer, _ := stack.SpecOf[Balancer](have, listener.In)
	crosses := isCrossing(in.Config, balancer)
	isNode := func(m Member) bool { return m.Instance != "" }
	if crosses {
		ports := portsOfNodes(in, found)
		isNode = func(m Member) bool { return slices.Contains(ports, m.Port) }
	}
	return followPods(in, balancer, listener, followNodes(in, found, isNode, crosses), isNode)
}

// portsOfNodes returns the ports at which addresses are those of nodes: the node ports of today, and that of a port which
// the Service does not have any more. The latter is the one of a found target with the address of a node, unless pods are
// targets: those of the node's own network have its address.
func portsOfNodes(in Input, found []Member) []int32 {
	var out []int32
	for _, p := range in.Backends.Ports {
		if p.NodePort != 0 {
			out = append(out, p.NodePort)
		}
	}
	if directKey.Get(in.Values) {
		return out
	}
	for n := range in.Backends.Nodes.All() {
		address, ok := n.Address(corev1.IPv4Protocol)
		if at := slices.IndexFunc(found, func(m Member) bool { return ok && m.Address == address.String() }); at >= 0 {
			return append(out, found[at].Port) // all targets of a listener have one port
		}
	}
	return out
}

// followNodes returns today's nodes at the port of the found ones, which keep their weights. Pods stay.
func followNodes(in Input, found []Member, isNode func(Member) bool, crosses bool) []Member {
	at := slices.IndexFunc(found, isNode)
	if at < 0 {
		return found
	}
	p := nodeports.ServicePort{NodePort: found[at].Port}
	known := false
	for _, one := range in.Backends.Ports {
		if one.NodePort == found[at].Port {
			p, known = one, true
		}
	}
	local := onlyWithPods(in)
	if local && !known {
		return found
	}
	nodes := nodeMembers(in, p, crosses)
	if !local {
		nodes = keepWeights(nodes, found)
	}
	for _, m := range found {
		if !isNode(m) {
			nodes = append(nodes, m)
		}
	}
	out := providers.Follow(found, nodes, isNode)
	slices.SortFunc(out, CompareMembers)
	return out
}

// followPods returns today's pods in place of the found addresses, at the port of these. Where pods are not
// known, the found ones stay.
func followPods(in Input, balancer Balancer, listener stack.Resource, found []Member, isNode func(Member) bool) []Member {
	isPod := func(m Member) bool { return m.Address != "" && !isNode(m) }
	at := slices.IndexFunc(found, isPod)
	spec, ok := listener.Spec.(Listener)
	if at < 0 || !ok {
		return found
	}
	p, known := providers.FollowPort(in.Backends.Ports, spec.Port, transportOf(spec.Protocol))
	pods, readable := podMembers(in, p, spec.Protocol, familyOf(balancer.IPVersion))
	if !readable || len(pods) == 0 && !(known && directKey.Get(in.Values)) {
		return found
	}
	if !known {
		for i := range pods {
			pods[i].Port = found[at].Port
		}
	}
	if !weighsPods(in) {
		pods = keepWeights(pods, found)
	}
	out := append(slices.DeleteFunc(slices.Clone(found), isPod), pods...)
	slices.SortFunc(out, CompareMembers)
	return out
}

// MatchFound gives listeners of an existing load balancer that no note lists to the Service whose
// targets they have. One that has the name of the controllers and no targets at all is what an
// earlier process has created last. Only one Service has a node port; several can have the same
// pods, or none, so their listeners wait until the notes of all Services are known.
func MatchFound(want, have *stack.Stack) *stack.Stack {
	renamed := map[stack.Key]stack.Key{}
	for _, w := range want.Of(KindListener) {
		if _, found := have.Get(w.Key); found {
			continue
		}
		for _, h := range have.Of(KindListener) {
			if h.In == w.In && h.Slot == w.Slot && isAdoptable(want, have, w, h) {
				renamed[h.Key] = w.Key
			}
		}
	}
	if len(renamed) == 0 {
		return have
	}
	out := &stack.Stack{Owner: have.Owner}
	for _, r := range have.Resources {
		out.Resources = append(out.Resources, renameFound(r, renamed))
	}
	return out
}

// renameFound gives a found listener that is adopted, and its rules, the keys of the desired ones.
func renameFound(r stack.Resource, renamed map[stack.Key]stack.Key) stack.Resource {
	if to, ok := renamed[r.Key]; ok {
		r.Key, r.Proof = to, stack.Derived
	}
	if to, ok := renamed[r.In]; ok {
		spec, _ := r.Spec.(Rule)
		r.Key, r.In, r.Proof = RuleKey(to, spec.Domain, spec.URL), to, stack.Derived
	}
	return r
}

// isAdoptable reports whether a found listener is a desired one.
func isAdoptable(want, have *stack.Stack, w, h stack.Resource) bool {
	spec, _ := h.Spec.(Listener)
	if h.Proof != stack.None || spec.Name != ListenerName || spec.Claimed {
		return false
	}
	wanted, found := membersIn(want, w.Key), membersIn(have, h.Key)
	shared := func(m Member) bool {
		return (m.Instance != "" || !spec.Early) && slices.ContainsFunc(wanted, func(o Member) bool { return sameTarget(m, o) })
	}
	return len(found) == 0 && !spec.Early || slices.ContainsFunc(found, shared)
}

// membersIn returns the members of a listener and of its rules.
func membersIn(s *stack.Stack, listener stack.Key) []Member {
	r, _ := s.Get(listener)
	spec, _ := r.Spec.(Listener)
	out := spec.Members
	for r, rule := range stack.Each[Rule](s, KindRule) {
		if r.In == listener {
			out = append(out, rule.Members...)
		}
	}
	return out
}
