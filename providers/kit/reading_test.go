package kit_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// TestReadBatch: a failure affects only scopes that need the failed part; all other
// results are returned.
func TestReadBatch(t *testing.T) {
	denied, broken := fault.New(fault.Denied, "no"), fault.New(fault.Internal, "odd")
	expired := &fault.Fault{Meaning: fault.Denied, Cause: fault.Unauthenticated, Text: "expired"}
	r := kit.NewReadBatch()
	r.Lists(
		kit.List{Name: "groups", Blinds: []stack.Kind{"group", "rule"}, Run: func() error { return denied }},
		kit.List{Name: "subnets", Run: func() error { return denied }},
		kit.List{Name: "pools", Blinds: []stack.Kind{"pool"}, Run: func() error { return expired }},
		kit.List{Name: "balancers", Blinds: []stack.Kind{"balancer"}, Run: func() error { return nil }},
	)
	var lost atomic.Int32
	r.Details([]kit.Detail{
		{Of: []string{"a"}, Run: func() error { return nil }},
		{Of: []string{"b"}, Run: func() error { return fault.New(fault.NotFound, "gone") }},
		{Of: []string{"c", "d"}, Run: func() error { return broken }},
		{Of: []string{"e"}, Run: func() error {
			if lost.Add(1) == 1 {
				return fault.New(fault.Unavailable, "no answer")
			}
			return nil
		}},
	})
	for _, tc := range []struct {
		name   string
		asks   map[string]bool
		things []string
		blind  []stack.Kind
		err    string
	}{
		{"nothing to do with it", map[string]bool{"balancers": true}, []string{"a", "b", "e"}, nil, ""},
		{"kinds that may not be listed", map[string]bool{"groups": true}, nil, []stack.Kind{"group", "rule"}, ""},
		{"kinds that are not shown to expired credentials", map[string]bool{"pools": true}, nil, nil, "read pools: expired"},
		{"facts that may not be listed", map[string]bool{"subnets": true}, nil, nil, "read subnets: no"},
		{"a detail", nil, []string{"d", "a", "d"}, nil, "read d: odd"},
	} {
		blind, err := r.Faults(tc.asks, tc.things)
		if d := cmp.Diff(tc.blind, blind.Kinds()); d != "" {
			t.Errorf("%s: blind (-want +got):\n%s", tc.name, d)
		}
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tc.err {
			t.Errorf("%s: error %q, want %q", tc.name, got, tc.err)
		}
	}
	if !r.Gone("b") || r.Gone("a") || lost.Load() != 2 {
		t.Errorf("b gone: %v, a gone: %v, tries of e: %d", r.Gone("b"), r.Gone("a"), lost.Load())
	}
}

// TestDropGone: what was deleted after it was listed is removed with its parts, and what else a Service has stays.
func TestDropGone(t *testing.T) {
	r := kit.NewReadBatch()
	r.Details([]kit.Detail{{Of: []string{"lb-1"}, Run: func() error { return fault.New(fault.NotFound, "gone") }}})
	lb, other := stack.Key{Kind: "lb"}, stack.Key{Kind: "lb", Name: "other"}
	found := &stack.Stack{}
	found.Put(stack.Resource{Key: lb, ID: "lb-1"})
	found.Put(stack.Resource{Key: stack.Key{Kind: "listener"}, ID: "l-1", In: lb})
	found.Put(stack.Resource{Key: other, ID: "lb-2"})
	if r.DropGone(found); len(found.Resources) != 1 || found.Resources[0].Key != other {
		t.Errorf("left are %v", found.Resources)
	}
}

// TestAged: a value is fetched once within its age; a failure is not remembered.
func TestAged(t *testing.T) {
	var a kit.Aged[int]
	now, fetched := time.Unix(0, 0), 0
	fetch := func(context.Context) (int, error) { fetched++; return fetched, nil }
	get := func(after time.Duration) int {
		v, err := a.Get(t.Context(), now.Add(after), time.Minute, fetch)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if _, err := a.Get(t.Context(), now, time.Minute, func(context.Context) (int, error) { return 7, errors.New("no") }); err == nil {
		t.Error("the error of fetch is lost")
	}
	got := []int{get(0), get(59 * time.Second), get(time.Minute), get(61 * time.Second)}
	a.Forget()
	got = append(got, get(61*time.Second))
	if d := cmp.Diff([]int{1, 1, 2, 2, 3}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestKnown: only values that are not cached are read; the absence of a value is cached
// for a shorter time.
func TestKnown(t *testing.T) {
	k := kit.NewKnown[string, int](time.Hour, time.Minute, nil)
	now := time.Unix(0, 0)
	var asked [][]string
	fetch := func(_ context.Context, ids []string) (map[string]int, error) {
		asked = append(asked, ids)
		out := map[string]int{}
		for _, id := range ids {
			if id != "none" {
				out[id] = len(asked)
			}
		}
		return out, nil
	}
	get := func(after time.Duration, ids ...string) []string {
		found, _, err := k.Get(t.Context(), now.Add(after), ids, fetch)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Sorted(maps.Keys(found))
	}
	get(0, "a", "none")
	get(30*time.Second, "a", "none", "b")
	get(time.Minute, "a", "none", "b")
	k.Forget("a")
	got := get(time.Minute, "a")
	if d := cmp.Diff([][]string{{"a", "none"}, {"b"}, {"none"}, {"a"}}, asked); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"a"}, got); d != "" {
		t.Errorf("found (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"a", "b"}, slices.Sorted(maps.Keys(k.All()))); d != "" {
		t.Errorf("ids (-want +got):\n%s", d)
	}
}
