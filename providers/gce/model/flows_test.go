package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// TestFlows states what each resource does for clients: missing, it closes.
func TestFlows(t *testing.T) {
	rule, fw, deny := stack.Key{Kind: KindExternalRule, Name: ruleIPv4}, stack.Key{Kind: KindFirewall, Name: keyLegacy}, stack.Key{Kind: KindDeny, Name: keyLegacy}
	pool, backend, group := stack.Key{Kind: KindPool}, stack.Key{Kind: KindBackend, Name: keyV2}, stack.Key{Kind: KindGroup, Name: "z/g"}
	admits := func(ip, source string, ports ...string) Firewall {
		return Firewall{Allowed: []Allowed{{"tcp", ports}}, Sources: []string{source}, Destination: stack.RefID(ip), Priority: allowPriority}
	}
	whole := func() *stack.Stack {
		s := &stack.Stack{Owner: stack.Owner{Namespace: "shop", Name: "web"}}
		for k, spec := range map[stack.Key]stack.Spec{
			rule: Rule{Scheme: SchemeExternal, IPVersion: VersionIPv4, IP: "192.0.2.1", Protocol: protocolTCP, Ports: Ports{Range: "80-81"}, Target: stack.RefTo(pool)},
			pool: Pool{Instances: []string{"zones/z/instances/n1"}},
			fw:   admits("192.0.2.1", "10.0.0.0/8", "80", "81"),
		} {
			s.Put(stack.Resource{Key: k, Spec: spec})
		}
		return s
	}
	neighbour := func() *stack.Stack { return &stack.Stack{Owner: stack.Owner{Namespace: "team", Name: "api"}} }
	const flow80, flow81 = "shop/web 192.0.2.1 80/TCP from 10.0.0.0/8 to n1:80\n", "shop/web 192.0.2.1 81/TCP from 10.0.0.0/8 to n1:81\n"
	for name, c := range map[string]struct {
		change func(own, other *stack.Stack)
		want   string
	}{
		"whole":       {func(*stack.Stack, *stack.Stack) {}, flow80 + flow81},
		"no firewall": {func(s, _ *stack.Stack) { s.Drop(fw) }, ""},
		"no rule": {
			func(s, _ *stack.Stack) { s.Drop(rule) },
			"shop/web 192.0.2.1 80/TCP from 10.0.0.0/8 to nothing\nshop/web 192.0.2.1 81/TCP from 10.0.0.0/8 to nothing\n",
		},
		"no target": {
			func(s, _ *stack.Stack) { s.Drop(pool) },
			"shop/web 192.0.2.1 80/TCP from 10.0.0.0/8 to nothing\nshop/web 192.0.2.1 81/TCP from 10.0.0.0/8 to nothing\n",
		},
		"opened by a neighbour": {
			func(_, other *stack.Stack) {
				other.Put(stack.Resource{Key: fw, Spec: admits("192.0.2.1", "0.0.0.0/0", "81-82")})
			},
			flow80 + "shop/web 192.0.2.1 81/TCP from 0.0.0.0/0 to n1:81\nteam/api 192.0.2.1 82/TCP from 0.0.0.0/0 to nothing\n",
		},
		"a denial of equal priority": {
			func(s, _ *stack.Stack) {
				f := admits("192.0.2.1", "0.0.0.0/0")
				f.Allowed, f.Denied = nil, []Allowed{{Protocol: "all"}}
				s.Put(stack.Resource{Key: deny, Spec: f})
			}, "",
		},
		"a denial of less priority": {
			func(s, _ *stack.Stack) {
				f := admits("192.0.2.1", "0.0.0.0/0")
				f.Allowed, f.Denied, f.Priority = nil, []Allowed{{Protocol: "all"}}, allowPriority+1
				s.Put(stack.Resource{Key: deny, Spec: f})
			}, flow80 + flow81,
		},
		"an address to come": {
			func(s, _ *stack.Stack) {
				spec, _ := stack.SpecOf[Rule](s, rule)
				spec.IP, spec.Target, spec.Backend = "", stack.Ref{}, stack.RefTo(backend)
				s.Put(stack.Resource{Key: rule, Spec: spec})
				f := admits("", "10.0.0.0/8", "80")
				f.Destination = stack.RefTo(rule)
				s.Put(stack.Resource{Key: fw, Spec: f})
				s.Put(stack.Resource{Key: backend, Spec: Backend{Scheme: SchemeExternal, Groups: []stack.Ref{stack.RefTo(group), stack.RefID("neg")}}})
				s.Put(stack.Resource{Key: group, Spec: Group{Instances: []string{"n2"}}})
			}, "shop/web external-forwarding-rule/ipv4 80/TCP from 10.0.0.0/8 to n2:80, n3:80\n",
		},
		"a rule for all of IP beside one for a protocol": {
			func(s, other *stack.Stack) {
				l3 := Rule{Scheme: SchemeExternal, IPVersion: VersionIPv4, IP: "192.0.2.1", Protocol: protocolL3, Ports: Ports{All: true}}
				other.Put(stack.Resource{Key: stack.Key{Kind: KindExternalRule, Name: ruleL3}, Spec: l3})
				other.Put(stack.Resource{Key: fw, Spec: admits("192.0.2.1", "11.0.0.0/8", "80", "443")})
			}, "shop/web 192.0.2.1 80/TCP from 10.0.0.0/7 to n1:80\n" + flow81 + "team/api 192.0.2.1 443/TCP from 11.0.0.0/8 to nothing\n",
		},
	} {
		own, other := whole(), neighbour()
		other.Put(stack.Resource{Key: stack.Key{Kind: KindNEG, Name: "z"}, ID: "neg", Spec: NEG{Endpoints: []Endpoint{{Instance: "n3"}}}})
		c.change(own, other)
		if d := cmp.Diff(c.want, traffic.Text(computeFlows([]*stack.Stack{own, other}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
