package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// markRules marks desired rules behind a driver that keeps the addresses of clients. A rule admits
// clients to a node port, whichever listener sends there: where a port gets another number and
// keeps its node port, the rules for the one serve the other as well.
func (b *builder) markRules(want GroupRules) GroupRules {
	want.Clients = !driverOf(b.in.Config.Provider).Proxies
	if !want.Clients || b.have == nil {
		return want
	}
	if found, exists := stack.SpecOf[GroupRules](b.have, rulesKey()); exists {
		want.Opens = selectWidening(want.Rules, found.Rules, doorsOnlyIn(b.have, b.out))
		want.Shuts = selectWidening(found.Rules, want.Rules, doorsOnlyIn(b.out, b.have))
	}
	return want
}

// selectWidening returns the rules that admit, at one of the doors, clients that others do not admit.
func selectWidening(rules, others []GroupRule, doors []door) []GroupRule {
	return slices.DeleteFunc(slices.Clone(rules), func(r GroupRule) bool {
		family := traffic.Family(r.Family)
		return !slices.ContainsFunc(doors, func(d door) bool {
			return !traffic.Contains(d.clients(others, family), d.clients([]GroupRule{r}, family))
		})
	})
}

// classOfRule returns the part of the step that adds or removes a rule; empty: that of all others.
func classOfRule(want stack.Spec, member any) string {
	rules, _ := want.(GroupRules)
	r, _ := member.(GroupRule)
	switch {
	case slices.Contains(rules.Opens, r):
		return strings.TrimSuffix(PartOpen, "+")
	case slices.Contains(rules.Shuts, r):
		return strings.TrimSuffix(PartShut, "-")
	}
	return ""
}

// door is a port of the nodes that a listener sends to.
type door struct {
	protocol string // in lower case
	port     int32
}

// doorsOnlyIn returns the ports of the nodes that the Service's listeners of one stack send to which
// another stack does not have.
func doorsOnlyIn(of, other *stack.Stack) []door {
	var out []door
	for _, r := range of.Of(KindListener) {
		if _, exists := other.Get(r.Key); exists || r.ID != "" && r.Proof == stack.None {
			continue
		}
		l, _ := r.Spec.(Listener)
		for _, m := range membersBehind(of, l) {
			out = append(out, door{strings.ToLower(transportOf(l.Protocol)), m.Port})
		}
	}
	slices.SortFunc(out, func(a, b door) int { return int(a.port - b.port) })
	return slices.Compact(out)
}

// membersBehind returns the members of the pool of a listener.
func membersBehind(s *stack.Stack, l Listener) []Member {
	var out []Member
	for _, p := range s.Of(KindPool) {
		if l.Pool.To != p.Key && (l.Pool.ID == "" || l.Pool.ID != p.ID) {
			continue
		}
		for m, spec := range stack.Each[Members](s, KindMembers) {
			if m.In == p.Key {
				out = append(out, spec.Members...)
			}
		}
	}
	return out
}
