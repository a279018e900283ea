package reconcile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
)

// TestLookup tells how every draft of a Service's life knew what is there, and
// which of them looked for drift.
func TestLookup(t *testing.T) {
	p := startKnown(newWorld())
	svc := shop("a", one)
	type seen struct {
		Lookup             reconcile.Lookup
		Rechecked, Drifted bool
	}
	draft := func(job reconcile.Job) seen {
		d, err := p.Draft(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		p.Run(t.Context(), d, nil)
		return seen{d.Lookup(), d.Rechecked(), d.Drifted()}
	}
	same(t, seen{Lookup: reconcile.LookupMiss}, draft(want(svc)))
	p.settle(t, want(svc))
	same(t, seen{Lookup: reconcile.LookupUnchanged}, draft(want(svc)))
	p.clock.Step(p.NextRead(reconcile.OwnerOf(svc)))
	same(t, seen{Lookup: reconcile.LookupMiss, Rechecked: true}, draft(want(svc)))
	p.settle(t, want(svc))
	for id := range p.w.things {
		delete(p.w.things, id)
	}
	p.clock.Step(p.NextRead(reconcile.OwnerOf(svc)))
	same(t, seen{Lookup: reconcile.LookupMiss, Rechecked: true, Drifted: true}, draft(want(svc)))
	p.settle(t, want(svc))
	same(t, seen{Lookup: reconcile.LookupHit}, draft(want(shop("a", map[int32]int32{80: 30080, 443: 30443}))))
	p.settle(t, want(shop("a", map[int32]int32{80: 30080, 443: 30443})))
	same(t, seen{Lookup: reconcile.LookupHit}, draft(release(svc)))
}

type mark struct{}

// TestJoin: who asks is known to reads and to steps, and does not end them.
func TestJoin(t *testing.T) {
	w := newWorld()
	bound := providers.Bind(toyCloud(), "", "cluster", w)
	var readBy, appliedBy any
	var ended bool
	read, apply := bound.Read, bound.Apply
	bound.Read = func(ctx context.Context, scopes []providers.Scope) []providers.Read {
		readBy = ctx.Value(mark{})
		return read(ctx, scopes)
	}
	bound.Apply = func(ctx context.Context, b plan.Batch) []plan.Outcome {
		appliedBy, ended = ctx.Value(mark{}), ctx.Err() != nil
		return apply(ctx, b)
	}
	r := reconcile.New(bound, reconcile.Options{GatherReleases: time.Millisecond, Join: func(all []context.Context) context.Context {
		return context.WithoutCancel(all[0])
	}})
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), mark{}, "shop"), time.Minute)
	defer cancel()
	d, err := r.Draft(ctx, want(shop("a", one)))
	if err != nil {
		t.Fatal(err)
	}
	r.Run(ctx, d, nil)
	same(t, []any{"shop", "shop", false}, []any{readBy, appliedBy, ended})
}

// TestDriftComesTogether: Services whose load balancers were made at different times
// are read again at a few moments, none later than after the interval.
func TestDriftComesTogether(t *testing.T) {
	w := newWorld()
	clock := testclock.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 7, 0, time.UTC))
	p := start(w, clock)
	p.AllKnown()
	moments := map[time.Time]int{}
	for i := range 300 {
		svc := shop(fmt.Sprintf("s-%d", i), one)
		p.settle(t, want(svc))
		due := clock.Now().Add(p.NextRead(reconcile.OwnerOf(svc)))
		if age := due.Sub(clock.Now()); age > 30*time.Minute || age < 25*time.Minute {
			t.Errorf("due after %v", age)
		}
		moments[due]++
		clock.Step(500 * time.Millisecond)
	}
	// Made over two and a half minutes, and spread by a tenth of half an hour.
	if len(moments) > 8 {
		t.Errorf("%d Services are due at %d moments", 300, len(moments))
	}
}
