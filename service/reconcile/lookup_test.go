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

// TestLookup lists the source of the observed state for every draft of a Service's life,
// and which of them checked for drift.
func TestLookup(t *testing.T) {
	p := startKnown(newWorld())
	svc := newShop("a", one)
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
	checkEqual(t, seen{Lookup: reconcile.LookupMiss}, draft(jobFor(svc)))
	p.settle(t, jobFor(svc))
	checkEqual(t, seen{Lookup: reconcile.LookupUnchanged}, draft(jobFor(svc)))
	p.clock.Step(p.NextRead(reconcile.OwnerOf(svc)))
	checkEqual(t, seen{Lookup: reconcile.LookupMiss, Rechecked: true}, draft(jobFor(svc)))
	p.settle(t, jobFor(svc))
	for id := range p.w.things {
		delete(p.w.things, id)
	}
	p.clock.Step(p.NextRead(reconcile.OwnerOf(svc)))
	checkEqual(t, seen{Lookup: reconcile.LookupMiss, Rechecked: true, Drifted: true}, draft(jobFor(svc)))
	p.settle(t, jobFor(svc))
	checkEqual(t, seen{Lookup: reconcile.LookupHit}, draft(jobFor(newShop("a", map[int32]int32{80: 30080, 443: 30443}))))
	p.settle(t, jobFor(newShop("a", map[int32]int32{80: 30080, 443: 30443})))
	checkEqual(t, seen{Lookup: reconcile.LookupHit}, draft(releaseJob(svc)))
}

type mark struct{}

// TestJoin: reads and steps see the span of their caller, and outlive its context.
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
	d, err := r.Draft(ctx, jobFor(newShop("a", one)))
	if err != nil {
		t.Fatal(err)
	}
	r.Run(ctx, d, nil)
	checkEqual(t, []any{"shop", "shop", false}, []any{readBy, appliedBy, ended})
}

// TestDriftComesTogether: Services whose load balancers were made at different times
// are read again at a few moments, none later than after the interval.
func TestDriftComesTogether(t *testing.T) {
	w := newWorld()
	clock := testclock.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 7, 0, time.UTC))
	p := startProcess(w, clock)
	p.AllKnown()
	moments := map[time.Time]int{}
	for i := range 300 {
		svc := newShop(fmt.Sprintf("s-%d", i), one)
		p.settle(t, jobFor(svc))
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
