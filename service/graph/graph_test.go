package graph

import (
	"encoding/xml"
	"io"
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
		{Key: newKey("address", ""), Spec: spec{Group: stack.RefTo(balancer)}},
	}
	want := &stack.Stack{Resources: append(slices.Clone(existing), stack.Resource{Key: group, Spec: spec{}})}
	have := &stack.Stack{Resources: append(slices.Clone(existing),
		stack.Resource{Key: newKey("listener", "81"), In: balancer, Proof: stack.Derived, Spec: spec{}},
		stack.Resource{Key: newKey("rule", "foreign"), Spec: spec{}})}
	return Source{
		Have: have, Want: want,
		Flows: []traffic.Flow{{Port: 80, Protocol: "TCP", Through: []stack.Key{balancer, listener, group, rule, newKey("address", "")}, To: []traffic.Backend{{Name: "node", Port: 30080}}}},
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
	for _, id := range []string{"balancer", "address"} {
		if slices.Contains(g.Edges, Edge{id, "member node:30080"}) {
			t.Errorf("%s leads to the members directly", id)
		}
	}
}

// TestParts: frontends, a pool and its members in an object that is no resource are connected.
func TestParts(t *testing.T) {
	object := newKey("object", "lb")
	have, through := &stack.Stack{}, []stack.Key{newKey("entries", ""), newKey("pool", ""), newKey("set", "a"), newKey("set", "b")}
	for _, key := range through {
		have.Resources = append(have.Resources, stack.Resource{Key: key, In: object, Proof: stack.Derived, Spec: spec{}})
	}
	g := Build(Source{Have: have, Flows: []traffic.Flow{{Port: 80, Protocol: "TCP", Through: through, To: []traffic.Backend{{Name: "node", Port: 80}}}}})
	want := []Edge{
		{"entries", "pool"}, {"pool", "set/a"}, {"pool", "set/b"}, {"port 80/TCP", "entries"}, {"set/a", "member node:80"}, {"set/b", "member node:80"},
	}
	if !slices.Equal(g.Edges, want) {
		t.Errorf("the edges are %v, want %v", g.Edges, want)
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

// TestSVG: the drawing is XML that has every label once, no two nodes overlap, ranks follow each
// other, and a name cannot end its element.
func TestSVG(t *testing.T) {
	in := newSource()
	in.Others = func(stack.Resource) []stack.Owner { return []stack.Owner{{Namespace: "shop", Name: "<script>&"}} }
	g := Build(in)
	drawn := g.SVG()
	decoder := xml.NewDecoder(strings.NewReader(drawn))
	var texts []string
	for inText := false; ; {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, drawn)
		}
		switch x := token.(type) {
		case xml.StartElement:
			if inText = x.Name.Local == "text"; x.Name.Local == "script" {
				t.Error("a name is an element")
			}
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts = append(texts, string(x))
			}
		}
	}
	for _, n := range g.Nodes {
		if !slices.Contains(texts, n.Label) {
			t.Errorf("no %q among %q", n.Label, texts)
		}
	}
	boxes := g.place()
	for i, a := range boxes {
		for _, b := range boxes[i+1:] {
			if a.x < b.x+b.width && b.x < a.x+a.width && a.y < b.y+b.height && b.y < a.y+a.height {
				t.Errorf("%s and %s overlap", a.ID, b.ID)
			}
			if a.rank < b.rank && a.x+a.width >= b.x {
				t.Errorf("%s of rank %d is not left of %s of rank %d", a.ID, a.rank, b.ID, b.rank)
			}
		}
	}
	for id, want := range map[string]int{"port 80/TCP": 0, "service shop/<script>&": 0, "listener/80": 1, "group/80": 2, "member node:30080": 3} {
		if b := findBox(boxes, id); b == nil || b.rank != want {
			t.Errorf("%s: %+v, want rank %d", id, b, want)
		}
	}
}

// TestControlCharacters: what a resource is named in the cloud cannot control a terminal.
func TestControlCharacters(t *testing.T) {
	in := newSource()
	in.Want.Resources[1].Key.Name, in.Have.Resources[1].Key.Name = "\x1b[31m80", "\x1b[31m80"
	g := Build(in)
	for form, text := range map[string]string{"dot": g.DOT(), "mermaid": g.Mermaid(), "svg": g.SVG()} {
		if strings.Contains(text, "\x1b") || !strings.Contains(text, "[31m80") {
			t.Errorf("%s: %q", form, text)
		}
	}
}
