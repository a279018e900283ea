package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// changeSpec returns a change of the spec that a stack has under a key.
func changeSpec[T stack.Spec](key stack.Key, f func(*T)) func(*stack.Stack) {
	return func(s *stack.Stack) {
		r, _ := s.Get(key)
		spec, _ := r.Spec.(T)
		f(&spec)
		r.Spec = spec
		s.Put(r)
	}
}

// TestFlows states what each resource does for clients: missing, it closes.
func TestFlows(t *testing.T) {
	lb, set, listener := productOf(LB).key(), stack.Key{Kind: KindSet, Name: "TCP-80"}, stack.Key{Kind: KindListener, Name: "80"}
	entry := func(list, direction, peer string, port int32) Entry { return Entry{list, direction, peer, port} }
	allow := func(s *stack.Stack, e Entry) {
		s.Put(stack.Resource{Key: e.Key(), Ownership: stack.Shared, Spec: e})
	}
	front, out := entry("l1", Ingress, "10.0.0.0/8", 80), entry("l1", Egress, "10.0.2.0/24", 30080)
	into := entry("l2", Ingress, "10.0.1.0/24", 30080)
	checkOut, checkInto := entry("l1", Egress, "10.0.2.0/24", 10256), entry("l2", Ingress, "10.0.1.0/24", 10256)
	whole := func() *stack.Stack {
		s := &stack.Stack{Owner: stack.Owner{Namespace: "shop", Name: "web"}}
		s.Put(stack.Resource{Key: lb, Spec: Balancer{
			Version: V4, Addresses: []Address{{IP: "192.0.2.1"}}, Guards: []Guard{{ID: "l1", CIDRs: []string{"10.0.1.0/24"}, Front: true}, {ID: "l2", CIDRs: []string{"10.0.2.0/24"}}},
		}})
		s.Put(stack.Resource{Key: set, In: lb, Spec: BackendSet{Health: Health{Port: 10256}, Backends: []Backend{{Address: "10.0.2.1", Port: 30080}, {Address: "10.0.2.2", Port: 30080}}}})
		s.Put(stack.Resource{Key: listener, In: lb, Spec: Listener{Protocol: "TCP", Port: 80, Set: stack.RefTo(set)}})
		for _, e := range []Entry{front, out, into, checkOut, checkInto} {
			allow(s, e)
		}
		return s
	}
	drop := func(k stack.Key) func(*stack.Stack) { return func(s *stack.Stack) { s.Drop(k) } }
	both := func(all ...func(*stack.Stack)) func(*stack.Stack) {
		return func(s *stack.Stack) {
			for _, f := range all {
				f(s)
			}
		}
	}
	guards := func(g ...Guard) func(*stack.Stack) { return changeSpec(lb, func(b *Balancer) { b.Guards = g }) }
	flow, nothing := "10.0.2.1:30080, 10.0.2.2:30080", "nothing"
	for name, c := range map[string]struct {
		change func(*stack.Stack)
		want   string // after the address; empty: no flow
	}{
		"whole":                  {func(*stack.Stack) {}, "192.0.2.1 80/TCP from 10.0.0.0/8 to " + flow},
		"not created":            {changeSpec(lb, func(b *Balancer) { b.Addresses = nil }), "load-balancer 80/TCP from 10.0.0.0/8 to " + flow},
		"no listener":            {drop(listener), ""},
		"no balancer":            {drop(lb), ""},
		"no clients":             {drop(front.Key()), ""},
		"no backend set":         {drop(set), "192.0.2.1 80/TCP from 10.0.0.0/8 to " + nothing},
		"no way out":             {drop(out.Key()), "192.0.2.1 80/TCP from 10.0.0.0/8 to " + nothing},
		"no way into nodes":      {drop(into.Key()), "192.0.2.1 80/TCP from 10.0.0.0/8 to " + nothing},
		"no way out of checks":   {drop(checkOut.Key()), "192.0.2.1 80/TCP from 10.0.0.0/8 to " + nothing},
		"no way into for checks": {drop(checkInto.Key()), "192.0.2.1 80/TCP from 10.0.0.0/8 to " + nothing},
		"rules of the front are managed alone": {
			both(guards(Guard{ID: "l1", CIDRs: []string{"10.0.1.0/24"}, Front: true}), drop(out.Key()), drop(into.Key()), drop(checkInto.Key())), "192.0.2.1 80/TCP from 10.0.0.0/8 to " + flow,
		},
		"no rules are managed":    {guards(), "192.0.2.1 80/TCP from 0.0.0.0/0 to " + flow},
		"a node is drained":       {changeSpec(set, func(s *BackendSet) { s.Backends[0].Drain = true }), "192.0.2.1 80/TCP from 10.0.0.0/8 to 10.0.2.2:30080"},
		"a node is a backup":      {changeSpec(set, func(s *BackendSet) { s.Backends[1].Backup = true }), "192.0.2.1 80/TCP from 10.0.0.0/8 to 10.0.2.1:30080"},
		"all nodes are backups":   {changeSpec(set, func(s *BackendSet) { s.Backends[0].Backup, s.Backends[1].Backup = true, true }), "192.0.2.1 80/TCP from 10.0.0.0/8 to " + flow},
		"clients are preserved":   {changeSpec(set, func(s *BackendSet) { s.Preserve = true }), "192.0.2.1 80/TCP from 10.0.1.0/24 to " + flow},
		"preserved to no node":    {both(changeSpec(set, func(s *BackendSet) { s.Preserve = true }), drop(into.Key())), ""},
		"another Service's rule":  {func(s *stack.Stack) { allow(s, entry("l1", Ingress, "11.0.0.0/8", 80)) }, "192.0.2.1 80/TCP from 10.0.0.0/7 to " + flow},
		"a list that is not used": {func(s *stack.Stack) { allow(s, entry("l3", Ingress, "11.0.0.0/8", 80)) }, "192.0.2.1 80/TCP from 10.0.0.0/8 to " + flow},
		"only nodes of one subnet": {
			changeSpec(set, func(s *BackendSet) { s.Backends[1].Address = "10.0.3.1" }), "192.0.2.1 80/TCP from 10.0.0.0/8 to 10.0.2.1:30080, 10.0.3.1:30080", // no rules are managed in 10.0.3.0/24
		},
	} {
		s := whole()
		c.change(s)
		want := ""
		if c.want != "" {
			want = "shop/web " + c.want + "\n"
		}
		if d := cmp.Diff(want, traffic.Text(traffic.Of(s.Owner, computeFlows([]*stack.Stack{s})))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestFlowsOfGroups does the same for network security groups and network load balancers.
func TestFlowsOfGroups(t *testing.T) {
	nlb, set, listener := productOf(NLB).key(), stack.Key{Kind: KindNetSet, Name: "TCP-80"}, stack.Key{Kind: KindNetListener, Name: "80"}
	nodes, own := stack.Key{Kind: KindGroupRules, Name: "g"}, stack.RefTo(groupKey())
	whole := func() *stack.Stack {
		s := &stack.Stack{Owner: stack.Owner{Namespace: "shop", Name: "web"}}
		s.Put(stack.Resource{Key: nlb, Spec: Balancer{Version: Both, Own: own, Addresses: []Address{{IP: "192.0.2.1"}, {IP: "2001:db8::1"}}, Guards: GroupGuards([]string{"g"})}})
		s.Put(stack.Resource{Key: set, In: nlb, Spec: BackendSet{Health: Health{Port: 10256}, Backends: []Backend{{Address: "10.0.2.1", Port: 30080}}}})
		s.Put(stack.Resource{Key: listener, In: nlb, Spec: Listener{Protocol: protocolTCPUDP, Port: 80, Set: stack.RefTo(set), Version: V4}})
		s.Put(stack.Resource{Key: ownRulesKey(), Spec: GroupRules{Group: own, Rules: []GroupRule{{Ingress, "10.0.0.0/8", stack.Ref{}, 80}, {Egress, "g", stack.Ref{}, 30080}, {Egress, "g", stack.Ref{}, 10256}}}})
		s.Put(stack.Resource{Key: nodes, Spec: GroupRules{Group: stack.RefID("g"), Rules: []GroupRule{{Ingress, "", own, 30080}, {Ingress, "", own, 10256}, {Ingress, "10.0.0.0/9", stack.Ref{}, 30080}}}})
		return s
	}
	const door = "shop/web network-security-group-rules/g 30080/TCP from 10.0.0.0/9 to nothing\nshop/web network-security-group-rules/own 80/TCP from 10.0.0.0/8 to nothing\n"
	flow := func(from, to string) string {
		return "shop/web 192.0.2.1 80/TCP from " + from + " to " + to + "\nshop/web 192.0.2.1 80/UDP from " + from + " to " + to + "\n"
	}
	without := func(key stack.Key, at int) func(*stack.Stack) {
		return changeSpec(key, func(g *GroupRules) { g.Rules = append(g.Rules[:at:at], g.Rules[at+1:]...) })
	}
	const closed = "nothing"
	for name, c := range map[string]struct {
		change func(*stack.Stack)
		want   string
	}{
		"whole":                 {func(*stack.Stack) {}, flow("10.0.0.0/8", "10.0.2.1:30080") + door},
		"no way out":            {without(ownRulesKey(), 1), flow("10.0.0.0/8", closed) + door},
		"no checks":             {without(nodes, 1), flow("10.0.0.0/8", closed) + door},
		"no way into nodes":     {without(nodes, 0), flow("10.0.0.0/8", closed) + door},
		"clients are preserved": {changeSpec(set, func(s *BackendSet) { s.Preserve = true }), flow("10.0.0.0/9", "10.0.2.1:30080") + door},
		"not in the group":      {changeSpec(nlb, func(b *Balancer) { b.Own, b.Guards = stack.Ref{}, nil }), flow("0.0.0.0/0", "10.0.2.1:30080") + door},
		"the other family":      {changeSpec(listener, func(l *Listener) { l.Version = V6 }), door},
	} {
		s := whole()
		c.change(s)
		if d := cmp.Diff(c.want, traffic.Text(computeFlows([]*stack.Stack{s}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
