package graph

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

type spec struct{ Group stack.Ref }

func newKey(kind, name string) stack.Key { return stack.Key{Kind: stack.Kind(kind), Name: name} }

// newSource returns a load balancer with a listener and a shared rule; the group of its members is
// missing, and it has a listener that is not desired.
func newSource() Source {
	balancer, listener, group := newKey("balancer", ""), newKey("listener", "80"), newKey("group", "80")
	rule := newKey("rule", "80")
	existing := []stack.Resource{
		{Key: balancer, Spec: spec{}},
		{Key: listener, In: balancer, Spec: spec{Group: stack.RefTo(group)}},
		{Key: rule, Ownership: stack.Shared, Spec: spec{}},
	}
	want := &stack.Stack{Resources: append(slices.Clone(existing), stack.Resource{Key: group, Spec: spec{}})}
	have := &stack.Stack{Resources: append(slices.Clone(existing),
		stack.Resource{Key: newKey("listener", "81"), In: balancer, Proof: stack.Derived, Spec: spec{}},
		stack.Resource{Key: newKey("rule", "foreign"), Spec: spec{}})}
	return Source{
		Have: have, Want: want,
		Flows: []traffic.Flow{{Port: 80, Protocol: "TCP", Through: []stack.Key{balancer, listener, group, rule}, To: []traffic.Backend{{Name: "node", Port: 30080}}}},
		Others: func(stack.Resource) []stack.Owner {
			return []stack.Owner{{Namespace: "shop", Name: "other"}}
		},
	}
}

// TestBuild: a port leads over its listener and group to the members, a rule leads to them as well,
// and states and other Services are shown.
func TestBuild(t *testing.T) {
	g := Build(newSource())
	for _, want := range []Edge{
		{"port 80/TCP", "listener/80"}, {"balancer", "listener/80"}, {"listener/80", "group/80"},
		{"group/80", "member node:30080"}, {"rule/80", "member node:30080"}, {"service shop/other", "rule/80"},
	} {
		if !slices.Contains(g.Edges, want) {
			t.Errorf("no edge %v in %v", want, g.Edges)
		}
	}
	states := map[string]State{"group/80": Missing, "listener/81": Unwanted, "listener/80": Existing}
	for _, n := range g.Nodes {
		if want, ok := states[n.ID]; ok && n.State != want {
			t.Errorf("%s: state %q, want %q", n.ID, n.State, want)
		}
		if n.ID == "rule/foreign" {
			t.Error("a resource of others is drawn")
		}
	}
	if slices.Contains(g.Edges, Edge{"balancer", "member node:30080"}) {
		t.Error("the load balancer leads to the members directly")
	}
}

// TestManyMembersAreOneNode: a graph stays readable.
func TestManyMembersAreOneNode(t *testing.T) {
	in := newSource()
	in.Flows[0].To = make([]traffic.Backend, mostMembers+1)
	for i := range in.Flows[0].To {
		in.Flows[0].To[i] = traffic.Backend{Name: "node", Port: uint16(30000 + i)}
	}
	members := 0
	for _, n := range Build(in).Nodes {
		if n.Role == Member {
			members++
		}
	}
	if members != 1 {
		t.Errorf("%d nodes for the members", members)
	}
}

// TestControlCharacters: what a resource is named in the cloud cannot control a terminal.
func TestControlCharacters(t *testing.T) {
	in := newSource()
	in.Want.Resources[1].Key.Name, in.Have.Resources[1].Key.Name = "\x1b[31m80", "\x1b[31m80"
	g := Build(in)
	for form, text := range map[string]string{"dot": g.DOT(), "mermaid": g.Mermaid()} {
		if strings.Contains(text, "\x1b") || !strings.Contains(text, "[31m80") {
			t.Errorf("%s: %q", form, text)
		}
	}
}
