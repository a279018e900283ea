package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
)

// endlessCloud returns a cloud whose Build for Services of a name ends only with its context;
// asked is called with every check of the context.
func endlessCloud(w *world, name string, asked func()) providers.Bound {
	bound := providers.Bind(toyCloud(), "", "cluster", w)
	build := bound.Build
	bound.Build = func(req providers.Request, f providers.Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
		for req.Service.Name == name && !req.Over() {
			asked()
		}
		return build(req, f, have)
	}
	return bound
}

// TestDeadline: a Service that takes too long to build is given up, its status reports
// the reason, and it is retried much later; others are served.
func TestDeadline(t *testing.T) {
	now := time.Now()
	w := newWorld()
	bound := endlessCloud(w, "hostile", func() { now = now.Add(time.Second) })
	r := reconcile.New(bound, reconcile.Options{Now: func() time.Time { return now }, PlanTime: 20 * time.Second})
	r.SetNodes(twoNodes())
	r.AllKnown()
	_, err := r.Draft(t.Context(), jobFor(newShop("hostile", one)))
	if !fault.Is(err, fault.Internal) || fault.After(err) < time.Minute || !strings.Contains(err.Error(), "given up after 20s") {
		t.Fatalf("waits %s: %v", fault.After(err), err)
	}
	d, err := r.Draft(t.Context(), jobFor(newShop("ordinary", one)))
	if err != nil || d.Plan.Empty() {
		t.Fatalf("an ordinary Service: %v", err)
	}
}

// TestDeadlineOfComparing: comparing ends as well, with a plan that does nothing.
func TestDeadlineOfComparing(t *testing.T) {
	now, step := time.Now(), time.Duration(0)
	bound := endlessCloud(newWorld(), "", nil)
	build := bound.Build
	bound.Build = func(req providers.Request, f providers.Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
		out, problems, err := build(req, f, have)
		if req.Over() {
			t.Error("building has taken no time")
		}
		step = 15 * time.Second // from now on every look at the clock takes as long
		return out, problems, err
	}
	clock := func() time.Time {
		now = now.Add(step)
		return now
	}
	r := reconcile.New(bound, reconcile.Options{Now: clock, PlanTime: time.Minute})
	r.SetNodes(twoNodes())
	r.AllKnown()
	d, err := r.Draft(t.Context(), jobFor(newShop("hostile", one)))
	if !fault.Is(err, fault.Internal) || !d.Plan.Empty() {
		t.Fatalf("%v, %d steps", err, len(d.Plan.Steps))
	}
}

// TestDraftEndsWithItsContext: a process that stops waits for no Build.
func TestDraftEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := reconcile.New(endlessCloud(newWorld(), "hostile", cancel), reconcile.Options{})
	r.SetNodes(twoNodes())
	r.AllKnown()
	if _, err := r.Draft(ctx, jobFor(newShop("hostile", one))); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}
