package reconcile

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// TestLastHealth: the last read of each resource is known with the time of the oldest one, a failed read changes nothing, and a
// deleted Service leaves nothing.
func TestLastHealth(t *testing.T) {
	one, two := stack.Key{Kind: "group", Name: "1"}, stack.Key{Kind: "group", Name: "2"}
	owner, now := stack.Owner{Namespace: "shop", Name: "web", UID: "u"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var refusal error
	healthy := false
	var cloud providers.Bound
	cloud.Health = func(_ context.Context, have *stack.Stack) ([]providers.MemberHealth, error) {
		var out []providers.MemberHealth
		for _, res := range have.Resources {
			out = append(out, providers.MemberHealth{Of: res.Key, Member: "10.0.0." + res.Key.Name, Healthy: healthy})
		}
		return out, refusal
	}
	r := New(cloud, Options{Now: func() time.Time { return now }})
	draft := &Draft{}
	draft.Owner, draft.Have = owner, &stack.Stack{Owner: owner, Resources: []stack.Resource{{Key: one}, {Key: two}}}
	result := Result{Draft: draft}
	read := func(of ...stack.Key) { _, _ = r.MembersOf(t.Context(), result, of) } // the caller compares the cache
	check := func(what string, at time.Time, want ...providers.MemberHealth) {
		t.Helper()
		found, when := r.LastHealth(owner)
		if !slices.Equal(found, want) || !when.Equal(at) {
			t.Errorf("%s: %v at %v, want %v at %v", what, found, when, want, at)
		}
	}
	check("before any read", time.Time{})
	begin := now
	read(one, two)
	now, healthy = now.Add(time.Minute), true
	read(two)
	first, second := providers.MemberHealth{Of: one, Member: "10.0.0.1"}, providers.MemberHealth{Of: two, Member: "10.0.0.2", Healthy: true}
	check("after a read of one resource", begin, first, second)
	refusal, healthy = errors.New("throttled"), false
	read(one, two)
	check("after a failed read", begin, first, second)
	r.Forget(owner)
	check("after the deletion", time.Time{})
}
