package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// newCluster returns nodes n in zones of the given sizes.
func newCluster(sizes ...int) map[place][]member {
	out := map[place][]member{}
	for z, size := range sizes {
		p := place{zone: fmt.Sprintf("zone-%c", 'a'+z)}
		out[p] = []member{}
		for i := range size {
			name := fmt.Sprintf("node-%c%03d", 'a'+z, i)
			out[p] = append(out[p], member{node: name, Instance: name, Zone: p.zone})
		}
	}
	return out
}

func countByPlace(chosen map[place][]member) []int {
	var out []int
	for _, p := range slices.SortedFunc(maps.Keys(chosen), place.compare) {
		out = append(out, len(chosen[p]))
	}
	return out
}

func chosenNames(chosen map[place][]member) map[string]bool {
	out := map[string]bool{}
	for _, list := range chosen {
		for _, m := range list {
			out[m.Instance] = true
		}
	}
	return out
}

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		sizes []int
		limit int
		want  []int
	}{
		{[]int{10, 10, 10}, 24, []int{8, 8, 8}},
		{[]int{2, 30, 30}, 24, []int{2, 11, 11}},
		{[]int{30, 2, 30}, 25, []int{11, 2, 12}},
		{[]int{1, 1, 1}, 24, []int{1, 1, 1}},
		{[]int{0, 40}, 25, []int{0, 25}},
		{[]int{100}, 25, []int{25}},
	} {
		got := spreadEndpoints(newCluster(tt.sizes...), nil, tt.limit, "name/namespace")
		if d := cmp.Diff(tt.want, countByPlace(got)); d != "" {
			t.Errorf("%v, limit %d: (-want +got)\n%s", tt.sizes, tt.limit, d)
		}
	}
}

// TestSpreadHash: nodes that are no endpoints yet are picked by the hash of
// "<node>:<name>/<namespace>", so that Services differ.
func TestSpreadHash(t *testing.T) {
	one := chosenNames(spreadEndpoints(newCluster(100), nil, 25, "a/default"))
	two := chosenNames(spreadEndpoints(newCluster(100), nil, 25, "b/default"))
	if maps.Equal(one, two) {
		t.Error("two Services have the same subset of a hundred nodes")
	}
}

// TestSpreadSticks: nodes that come take no endpoint away; nodes that go are
// replaced, and no other endpoint moves; the order of nodes means nothing.
func TestSpreadSticks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	nodes := newCluster(12, 13, 14)
	before := chosenNames(spreadEndpoints(nodes, nil, 24, "name/namespace"))
	for range 200 {
		sizes := []int{10 + rng.IntN(8), 10 + rng.IntN(8), 10 + rng.IntN(8)}
		nodes = newCluster(sizes...)
		for _, list := range nodes {
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		after := chosenNames(spreadEndpoints(nodes, before, 24, "name/namespace"))
		there := chosenNames(nodes)
		for name := range before {
			if there[name] && !after[name] {
				t.Fatalf("sizes %v: %s is there and an endpoint no more", sizes, name)
			}
		}
		if len(after) != 24 {
			t.Fatalf("sizes %v: %d endpoints", sizes, len(after))
		}
		before = after
	}
}

// TestSpreadEvens: an added zone gets its share, and the whole stays within the limit.
func TestSpreadEvens(t *testing.T) {
	before := chosenNames(spreadEndpoints(newCluster(30, 30), nil, 24, "name/namespace"))
	got := spreadEndpoints(newCluster(30, 30, 30), before, 24, "name/namespace")
	if n := countByPlace(got); n[0]+n[1]+n[2] != 24 || n[2] < 6 {
		t.Errorf("after a third zone: %v", n)
	}
}

func TestSubsetLimit(t *testing.T) {
	for _, tt := range []struct {
		kind                  string
		zones, existing, pods int
		want                  int
	}{
		{InternalNEG, 1, 0, 9, 24}, {InternalNEG, 3, 0, 9, 24}, {InternalNEG, 5, 0, 9, 25},
		{NetLB, 3, 0, 2, 9}, {NetLB, 3, 0, 100, 100}, {NetLB, 3, 0, 1000, 250}, {NetLB, 3, 120, 10, 120},
	} {
		b := &builder{}
		b.in.Kind = tt.kind
		b.in.Backends.Endpoints.ByPort = endpointsOn(tt.pods)
		if got := b.subsetLimit(tt.zones, tt.existing); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}

// TestLocalLimit: with policy Local the nodes with pods are endpoints, 250 of them
// at most inside and 3000 outside, whether their pods are ready or not.
func TestLocalLimit(t *testing.T) {
	for _, tt := range []struct {
		kind        string
		nodes, want int
	}{
		{InternalNEG, 249, 249}, {InternalNEG, 300, maxLocalEndpoints},
		{NetLB, 300, 300}, {NetLB, 3100, maxNetLBLocal},
	} {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal}}
		b := newBuilder(input{Service: svc, Kind: tt.kind}, &Facts{}, &stack.Stack{})
		for i := range tt.nodes + 7 { // the last seven have no pods
			name := fmt.Sprintf("n-%04d", i)
			b.nodes = append(b.nodes, member{node: name, Instance: name, Zone: "z-1-a", ip: "10.0.0.1"})
			if i < tt.nodes {
				b.in.Backends.Endpoints.Hosts = append(b.in.Backends.Endpoints.Hosts, name)
			}
		}
		if got := len(chosenNames(b.subset(nil))); got != tt.want {
			t.Errorf("%s, %d nodes with pods: %d endpoints, want %d", tt.kind, tt.nodes, got, tt.want)
		}
	}
}
