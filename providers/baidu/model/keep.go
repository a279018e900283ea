package model

import (
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// KeepServing returns the existing stack with today's nodes and pods as backends.
func KeepServing(in Input, _ *Facts, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: have.Owner}
	for _, r := range have.Resources {
		if r.Proof == stack.None && r.Ownership != stack.External {
			continue
		}
		switch spec := r.Spec.(type) {
		case Group:
			spec.Members = followPods(in, have, r.Key, followNodes(in, spec.Members))
			r.Spec = spec
		case Backends:
			spec.Members = followNodes(in, spec.Members)
			r.Spec = spec
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

// followNodes returns today's nodes where the found members are instances. Addresses stay.
func followNodes(input Input, found []Member) []Member {
	isNode := func(m Member) bool { return m.Instance != "" }
	if !slices.ContainsFunc(found, isNode) {
		return found
	}
	nodes := nodeMembers(markBound(listCandidates(input), found), mostKey.Get(input.Values), found)
	out := providers.Follow(found, nodes, isNode)
	slices.SortFunc(out, CompareMembers)
	return out
}

// followPods returns today's pods in place of the found addresses of a group, at the port of these. Where pods are
// not known, or no policy sends to the group, the found ones stay.
func followPods(in Input, have *stack.Stack, group stack.Key, found []Member) []Member {
	at := slices.IndexFunc(found, func(m Member) bool { return m.Address != "" })
	policies := have.Of(KindPolicy)
	user := slices.IndexFunc(policies, func(r stack.Resource) bool {
		spec, _ := r.Spec.(Policy)
		return spec.Group.To == group
	})
	if at < 0 || user < 0 {
		return found
	}
	policy, _ := policies[user].Spec.(Policy)
	p, known := providers.FollowPort(in.Backends.Ports, policy.Port, policy.Protocol)
	pods := podMembers(in, p, found)
	if len(pods) == 0 && !(known && podsKey.Get(in.Values)) {
		return found
	}
	if !known {
		for i := range pods {
			pods[i].Port = found[at].Port
		}
	}
	return sortMembers(pods, found)
}

// MatchFound gives listeners of a normal load balancer that no note lists to the Service whose port of
// the backends they have.
func MatchFound(want, have *stack.Stack) *stack.Stack {
	renamed := map[stack.Key]stack.Key{}
	for _, h := range have.Of(KindListener) {
		for _, w := range want.Of(KindListener) {
			wanted, _ := w.Spec.(Listener)
			found, _ := h.Spec.(Listener)
			if h.Proof == stack.None && h.In == w.In && h.Slot == w.Slot && found.BackendPort != 0 && found.BackendPort == wanted.BackendPort {
				renamed[h.Key] = w.Key
			}
		}
	}
	if len(renamed) == 0 {
		return have
	}
	out, others := &stack.Stack{Owner: have.Owner}, false
	for _, r := range have.Resources {
		if to, ok := renamed[r.Key]; ok {
			r.Key, r.Proof = to, stack.Derived
		}
		others = others || r.Key.Kind == KindListener && r.Proof == stack.None
		out.Resources = append(out.Resources, r)
	}
	if r, ok := out.Get(BackendsKey()); ok && !others {
		r.Proof = stack.Derived
		out.Put(r)
	}
	return out
}
