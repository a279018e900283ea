package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// TestFlows states what each resource does for clients: missing, it closes.
func TestFlows(t *testing.T) {
	whole := func() *stack.Stack {
		s := &stack.Stack{Owner: stack.Owner{Namespace: "shop", Name: "web"}}
		s.Put(stack.Resource{Key: BalancerKey(), ID: "b1", Spec: Balancer{Name: "web"}})
		s.Put(stack.Resource{Key: MachinesKey(), In: BalancerKey(), Spec: Machines{Names: []string{"n1", "n2"}}})
		s.Put(stack.Resource{Key: ListenerKey("TCP", 80), In: BalancerKey(), Spec: Listener{"TCP", 80, 30080}})
		s.Put(stack.Resource{Key: OpeningKey("tcp"), Ownership: stack.Shared, Spec: Opening{"tcp"}})
		return s
	}
	const door = "cluster opening/tcp 0/TCP from 0.0.0.0/0 to nothing\n"
	for name, c := range map[string]struct {
		change func(*stack.Stack)
		want   string
	}{
		"whole":       {func(*stack.Stack) {}, door + "shop/web b1.quay.example 80/TCP from 0.0.0.0/0 to n1:30080, n2:30080\n"},
		"only wanted": {func(s *stack.Stack) { s.Resources[0].ID = "" }, door + "shop/web balancer 80/TCP from 0.0.0.0/0 to n1:30080, n2:30080\n"},
		"internal":    {func(s *stack.Stack) { s.Resources[0].Spec = Balancer{Internal: true} }, door + "shop/web b1.quay.example 80/TCP from 10.0.0.0/8 to n1:30080, n2:30080\n"},
		"no listener": {func(s *stack.Stack) { s.Drop(ListenerKey("TCP", 80)) }, door},
		"no machines": {func(s *stack.Stack) { s.Drop(MachinesKey()) }, door + "shop/web b1.quay.example 80/TCP from 0.0.0.0/0 to nothing\n"},
		"no opening":  {func(s *stack.Stack) { s.Drop(OpeningKey("tcp")) }, "shop/web b1.quay.example 80/TCP from 0.0.0.0/0 to nothing\n"},
		"other opening": {func(s *stack.Stack) {
			s.Drop(OpeningKey("tcp"))
			s.Put(stack.Resource{Key: OpeningKey("udp"), Spec: Opening{"udp"}})
		}, "cluster opening/udp 0/UDP from 0.0.0.0/0 to nothing\nshop/web b1.quay.example 80/TCP from 0.0.0.0/0 to nothing\n"},
		"no balancer": {func(s *stack.Stack) { s.Resources = s.Resources[1:] }, door},
	} {
		s := whole()
		c.change(s)
		if d := cmp.Diff(c.want, traffic.Text(Flows([]*stack.Stack{s}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
