package nodeports

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
)

func newNode(name string, change ...func(*Node)) Node {
	n := Node{Name: name, ProviderID: "cloud:///" + name, Ready: corev1.ConditionTrue, Internal: parseAddrs("10.0.0.1")}
	for _, c := range change {
		c(&n)
	}
	return n
}

func setLabels(kv ...string) func(*Node) {
	return func(n *Node) {
		n.Labels = map[string]string{}
		for _, s := range kv {
			k, v, _ := strings.Cut(s, "=")
			n.Labels[k] = v
		}
	}
}

func setReady(s corev1.ConditionStatus) func(*Node) { return func(n *Node) { n.Ready = s } }
func addTaint(key string) func(*Node)               { return func(n *Node) { n.TaintKeys = []string{key} } }
func noID(n *Node)                                  { n.ProviderID = "" }
func useDualStack(n *Node)                          { n.Internal = parseAddrs("10.0.0.1", "2001:db8::1") }

func TestSelect(t *testing.T) {
	fleet := []Node{
		newNode("d", setLabels("pool=blue", "fargate=yes"), useDualStack),
		newNode("a", setLabels("pool=blue")),
		newNode("c", setLabels("pool="), setReady(corev1.ConditionFalse)),
		newNode("b", setLabels("pool=green"), setReady(corev1.ConditionUnknown)),
		newNode("e", noID, setLabels("pool=blue")),
		newNode("f", func(n *Node) { n.Excluded, n.ExcludeLabel = true, true }),
		newNode("g", addTaint(TaintToBeDeleted)),
		newNode("h", addTaint("karpenter.sh/disrupted")),
		newNode("i", func(n *Node) { n.ExcludeLabel = true }),
		newNode("j", func(n *Node) { n.Deleting = true }),
	}
	unready := []Node{newNode("a", setReady(corev1.ConditionUnknown)), newNode("b", setReady(corev1.ConditionFalse)), newNode("c", noID)}
	for name, tc := range map[string]struct {
		nodes    []Node
		filter   Filter
		want     string
		pending  string
		eligible int
		emptied  bool
	}{
		"stock":                      {nodes: fleet, want: "a b c d h i", pending: "e", eligible: 7},
		"label value":                {nodes: fleet, filter: Filter{Selector: map[string]string{"pool": "blue"}}, want: "a d", pending: "e", eligible: 7},
		"label exists":               {nodes: fleet, filter: Filter{Selector: map[string]string{"pool": ""}}, want: "a b c d", pending: "e", eligible: 7},
		"two labels":                 {nodes: fleet, filter: Filter{Selector: map[string]string{"pool": "", "fargate": "yes"}}, want: "d", eligible: 7},
		"without label":              {nodes: fleet, filter: Filter{Without: []string{"fargate"}}, want: "a b c h i", pending: "e", eligible: 7},
		"without label value":        {nodes: fleet, filter: Filter{Without: []string{"pool=green", "fargate=no"}}, want: "a c d h i", pending: "e", eligible: 7},
		"without taint":              {nodes: fleet, filter: Filter{WithoutTaints: []string{"karpenter.sh/disrupted"}}, want: "a b c d i", pending: "e", eligible: 7},
		"IPv6":                       {nodes: fleet, filter: Filter{Family: corev1.IPv6Protocol}, want: "d", eligible: 7},
		"IPv4":                       {nodes: fleet, filter: Filter{Family: corev1.IPv4Protocol}, want: "a b c d h i", pending: "e", eligible: 7},
		"ready":                      {nodes: fleet, filter: Filter{RequireReady: true}, want: "a d h i", pending: "e", eligible: 7},
		"presence excludes":          {nodes: fleet, filter: Filter{ExcludeOnPresence: true}, want: "a b c d h", pending: "e", eligible: 7},
		"everyone":                   {nodes: fleet, filter: Filter{Everyone: true}, want: "a b c d e f g h i j", eligible: 10},
		"predicate":                  {nodes: fleet, filter: Filter{Also: []Predicate{{Name: "before c", Keep: func(n Node) bool { return n.Name < "c" }}}}, want: "a b", eligible: 7},
		"leaves no node":             {nodes: fleet, filter: Filter{Selector: map[string]string{"pool": "red"}}, eligible: 7, emptied: true},
		"none ready":                 {nodes: unready, filter: Filter{RequireReady: true}, pending: "c", eligible: 3, emptied: true},
		"none ready, unknown taken":  {nodes: unready, filter: Filter{RequireReady: true, UnknownIfNoneReady: true}, want: "a", pending: "c", eligible: 3},
		"some ready, unknown not":    {nodes: fleet, filter: Filter{RequireReady: true, UnknownIfNoneReady: true}, want: "a d h i", pending: "e", eligible: 7},
		"no nodes":                   {},
		"only pending":               {nodes: []Node{newNode("a", noID)}, pending: "a", eligible: 1, emptied: true},
		"all excluded is no filter":  {nodes: []Node{newNode("a", addTaint(TaintToBeDeleted))}},
		"one name twice counts once": {nodes: []Node{newNode("a"), newNode("a")}, want: "a", eligible: 2},
	} {
		t.Run(name, func(t *testing.T) {
			got := Select(tc.nodes, tc.filter)
			if diff := cmp.Diff(strings.Fields(tc.want), got.Names(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(strings.Fields(tc.pending), got.Pending(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("pending (-want +got):\n%s", diff)
			}
			if got.Eligible() != tc.eligible || got.FilteredOut() != tc.emptied {
				t.Errorf("want %d eligible, filtered out %t; got %d, %t", tc.eligible, tc.emptied, got.Eligible(), got.FilteredOut())
			}
		})
	}
}

func TestNodeSetDigest(t *testing.T) {
	base := []Node{newNode("a"), newNode("b")}
	same := map[string][]Node{
		"order":      {newNode("b"), newNode("a")},
		"readiness":  {newNode("a", setReady(corev1.ConditionFalse)), newNode("b")},
		"label":      {newNode("a", setLabels("x=y")), newNode("b")},
		"other node": {newNode("a"), newNode("b"), newNode("c", noID)},
		"taint":      {newNode("a", addTaint("x")), newNode("b")},
	}
	for name, nodes := range same {
		if !Select(base, Filter{}).Equal(Select(nodes, Filter{})) {
			t.Errorf("%s: want the same digest", name)
		}
	}
	seen := map[string]string{Select(base, Filter{}).Digest(): "base"}
	for name, nodes := range map[string][]Node{
		"one less":     {newNode("a")},
		"one more":     {newNode("a"), newNode("b"), newNode("c")},
		"provider id":  {newNode("a", func(n *Node) { n.ProviderID = "x" }), newNode("b")},
		"zone":         {newNode("a", func(n *Node) { n.Zone = "x" }), newNode("b")},
		"address":      {newNode("a", useDualStack), newNode("b")},
		"external":     {newNode("a", func(n *Node) { n.External = parseAddrs("192.0.2.1") }), newNode("b")},
		"address kind": {newNode("a", func(n *Node) { n.Internal, n.External = nil, n.Internal }), newNode("b")},
		"no nodes":     nil,
		"filtered out": {newNode("a", noID)},
	} {
		d := Select(nodes, Filter{}).Digest()
		if len(d) != 16 {
			t.Errorf("%s: want 16 hex digits, got %q", name, d)
		}
		if other, ok := seen[d]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[d] = name
	}
	if (NodeSet{}).Digest() != Select(nil, Filter{}).Digest() {
		t.Error("the zero set differs from the set of no nodes")
	}
}

// TestKeptLabels: only labels that the filter keeps stay on members, and only they
// make sets differ.
func TestKeptLabels(t *testing.T) {
	node := func(labels map[string]string) []Node {
		return []Node{{Name: "a", ProviderID: "cloud://a", Labels: labels}}
	}
	filter := Filter{Keep: []string{"pool"}}
	one := Select(node(map[string]string{"pool": "x", "team": "shop"}), filter)
	if n, _ := one.Get("a"); !cmp.Equal(map[string]string{"pool": "x"}, n.Labels) {
		t.Errorf("labels %v, want the kept one", n.Labels)
	}
	for _, c := range []struct {
		name   string
		labels map[string]string
		filter Filter
		same   bool
	}{
		{"another label differs", map[string]string{"pool": "x", "team": "toys"}, filter, true},
		{"the kept label differs", map[string]string{"pool": "y", "team": "shop"}, filter, false},
		{"the kept label is gone", map[string]string{"team": "shop"}, filter, false},
		{"it is not kept", map[string]string{"pool": "x"}, Filter{}, false},
	} {
		if got := Select(node(c.labels), c.filter).Equal(one); got != c.same {
			t.Errorf("%s: equal %t, want %t", c.name, got, c.same)
		}
	}
	if filter.Key() == (Filter{}).Key() || !slices.Contains(filter.LabelKeys(), "pool") {
		t.Errorf("key %s, labels %v", filter.Key(), filter.LabelKeys())
	}
}

func TestNodeSetIsImmutable(t *testing.T) {
	nodes := []Node{newNode("b"), newNode("a")}
	set := Select(nodes, Filter{})
	before := set.Digest()
	nodes[0].Name, nodes[1].Internal[0] = "z", parseAddrs("10.9.9.9")[0]
	set.Names()[0] = "z"
	n, ok := set.Get("a")
	if !ok || n.Internal[0] != parseAddrs("10.0.0.1")[0] || set.Digest() != before || set.Names()[0] != "a" {
		t.Errorf("the set changed with its input: %v %v", n, set.Names())
	}
	if _, ok := set.Get("c"); ok {
		t.Error("found a node that is no member")
	}
	if _, ok := (NodeSet{}).Get("a"); ok {
		t.Error("found a node in the zero set")
	}
	for range set.All() {
		break // Stopping early must be allowed.
	}
}

func TestSelectIgnoresOrder(t *testing.T) {
	var nodes []Node
	for i := range 50 {
		n := newNode(fmt.Sprintf("n%02d", i), setLabels(fmt.Sprintf("pool=%d", i%3)))
		if i%7 == 0 {
			noID(&n)
		}
		nodes = append(nodes, n)
	}
	f := Filter{Selector: map[string]string{"pool": "1"}}
	want := Select(nodes, f)
	rnd := rand.New(rand.NewSource(1))
	for range 20 {
		rnd.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		got := Select(nodes, f)
		if !got.Equal(want) || cmp.Diff(want.Pending(), got.Pending()) != "" || cmp.Diff(want.Names(), got.Names()) != "" {
			t.Fatalf("order of nodes matters: want %v, got %v", want.Names(), got.Names())
		}
	}
}

func TestFilterKey(t *testing.T) {
	yes := func(Node) bool { return true }
	distinct := []Filter{
		{},
		{Selector: map[string]string{"a": "b"}},
		{Selector: map[string]string{"a": ""}},
		{Selector: map[string]string{"a": "b", "c": "d"}},
		{Without: []string{"a"}},
		{Without: []string{"a=b"}},
		{Without: []string{"a", "b"}},
		{WithoutTaints: []string{"a"}},
		{Family: corev1.IPv4Protocol},
		{Family: corev1.IPv6Protocol},
		{RequireReady: true},
		{RequireReady: true, UnknownIfNoneReady: true},
		{ExcludeOnPresence: true},
		{Everyone: true},
		{Also: []Predicate{{"p", yes}}},
		{Also: []Predicate{{"q", yes}}},
		{Also: []Predicate{{"p", yes}, {"q", yes}}},
	}
	seen := map[string]int{}
	for i, f := range distinct {
		if j, ok := seen[f.Key()]; ok {
			t.Errorf("filters %d and %d share the key %s", i, j, f.Key())
		}
		seen[f.Key()] = i
	}
	a := Filter{Without: []string{"x", "y", "x"}, Also: []Predicate{{"p", yes}, {"q", yes}}}
	b := Filter{Without: []string{"y", "x"}, Also: []Predicate{{"q", yes}, {"p", yes}}}
	if a.Key() != b.Key() {
		t.Errorf("order changed the key:\n%s\n%s", a.Key(), b.Key())
	}
	got := Filter{Selector: map[string]string{"z": "", "m": "1"}, Without: []string{"a=b", "a", "m"}}.LabelKeys()
	if diff := cmp.Diff([]string{"a", "m", "z"}, got); diff != "" {
		t.Errorf("label keys (-want +got):\n%s", diff)
	}
}

func TestInterner(t *testing.T) {
	in := NewInterner()
	if in.Select(Filter{}).Len() != 0 {
		t.Error("a new interner knows nodes")
	}
	calls := 0
	counting := Filter{Also: []Predicate{{"count", func(Node) bool { calls++; return true }}}}
	in.Update([]Node{newNode("a"), newNode("b")})
	first := in.Select(counting)
	in.Select(counting)
	if calls != 2 {
		t.Errorf("want one look at each of 2 nodes, got %d looks", calls)
	}
	if stock := in.Select(Filter{}); stock.members != first.members {
		t.Error("sets with the same members do not share them")
	}
	in.Update([]Node{newNode("b"), newNode("a", setReady(corev1.ConditionFalse)), newNode("c", noID)})
	second := in.Select(counting)
	if second.members != first.members {
		t.Error("an update that changed no member made new members")
	}
	if second.Eligible() != 3 || len(second.Pending()) != 1 {
		t.Errorf("want the counts of the new nodes, got %d eligible, %v pending", second.Eligible(), second.Pending())
	}
	in.Update([]Node{newNode("b")})
	if in.Select(counting).Equal(first) || first.Len() != 2 {
		t.Error("want a new set, and the old one unchanged")
	}
	for range 3 {
		in.Update([]Node{newNode("z")})
	}
	if len(in.sets) != 0 || len(in.byDig) != 0 {
		t.Errorf("unused sets are kept: %d sets, %d members", len(in.sets), len(in.byDig))
	}
}

func TestInternerConcurrent(t *testing.T) {
	in := NewInterner()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 100 {
				in.Update([]Node{newNode(fmt.Sprintf("n%d", i))})
				if got := in.Select(Filter{RequireReady: i%2 == 0}); got.Len() != 1 {
					t.Errorf("want 1 member, got %v", got.Names())
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkSelect5000(b *testing.B) {
	var nodes []Node
	for i := range 5000 {
		nodes = append(nodes, newNode(fmt.Sprintf("node-%04d", i)))
	}
	for b.Loop() {
		Select(nodes, Filter{})
	}
}

// TestCameBack: a machine that was recreated or restarted under its name is another
// member, and found by comparison; a new machine, or an unknown one, is not.
func TestCameBack(t *testing.T) {
	machine := func(name, uid, boot string) Node {
		return newNode(name, func(n *Node) { n.UID, n.BootID = uid, boot })
	}
	before := Select([]Node{machine("a", "1", "x"), machine("b", "2", "x"), machine("c", "3", "x"), machine("d", "", "")}, Filter{})
	after := Select([]Node{machine("a", "1", "y"), machine("b", "9", "x"), machine("c", "3", "x"), machine("d", "4", "x"), machine("e", "5", "x")}, Filter{})
	if diff := cmp.Diff([]string{"a", "b"}, after.CameBack(before)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if before.Equal(Select([]Node{machine("a", "1", "y"), machine("b", "2", "x"), machine("c", "3", "x"), machine("d", "", "")}, Filter{})) {
		t.Error("a machine that restarted makes the same set")
	}
}

// TestUntilGone: a node about to go stays a member where the health check sees it;
// one that users excluded does not.
func TestUntilGone(t *testing.T) {
	fleet := []Node{
		newNode("a"), newNode("b", addTaint(TaintToBeDeleted)), newNode("c", func(n *Node) { n.Deleting = true }),
		newNode("d", func(n *Node) { n.Excluded = true }),
	}
	for name, tc := range map[string]struct {
		filter Filter
		want   []string
	}{
		"as the stock controller does":   {Filter{}, []string{"a"}},
		"where the health check sees it": {Filter{UntilGone: true}, []string{"a", "b", "c"}},
	} {
		if diff := cmp.Diff(tc.want, Select(fleet, tc.filter).Names()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if (Filter{}).Key() == (Filter{UntilGone: true}).Key() {
		t.Error("filters that differ have the same key")
	}
}
