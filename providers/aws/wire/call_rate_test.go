package wire

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	smithymiddleware "github.com/aws/smithy-go/middleware"
	"golang.org/x/sync/errgroup"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestBounded: no more calls than allowed are under way, all are made, and a caller that
// gives up does not use up a slot of another.
func TestBounded(t *testing.T) {
	const allowed, calls = 3, 40
	var now, made atomic.Int32
	last := smithymiddleware.HandlerFunc(func(ctx context.Context, _ any) (any, smithymiddleware.Metadata, error) {
		if n := now.Add(1); n > allowed {
			t.Errorf("%d calls at a time, allowed are %d", n, allowed)
		}
		for range 10 {
			runtime.Gosched() // let the others try
		}
		now.Add(-1)
		made.Add(1)
		return nil, smithymiddleware.Metadata{}, ctx.Err()
	})
	options := limitSteps(newLimits(providers.Env{Now: time.Now}, allowed))
	call := func(ctx context.Context) error { // with a stack of its own, as every call of the SDK
		stack := smithymiddleware.NewStack("test", func() any { return nil })
		for _, option := range options {
			if err := option(stack); err != nil {
				return err
			}
		}
		_, _, err := smithymiddleware.DecorateHandler(last, stack).Handle(ctx, nil)
		return err
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * allowed {
		if err := call(gone); !errors.Is(err, context.Canceled) || !fault.Is(err, fault.Unavailable) {
			t.Errorf("a call without a waiting caller: got %v", err)
		}
	}
	before := made.Load()
	var group errgroup.Group
	for range calls {
		group.Go(func() error { return call(t.Context()) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := made.Load() - before; got != calls {
		t.Errorf("calls: got %d, want %d", got, calls)
	}
}

// TestThrottledReadIsWhole: under AWS's own rates a read of many load balancers waits
// instead of failing, none of its calls is made twice, and reads of all kinds go
// through whose tokens others have taken.
func TestThrottledReadIsWhole(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const services = 12
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		var scopes []providers.Scope
		for n := range services {
			o := ownerOf(n)
			r.arrive(o, r.networkWish(o).stack())
			scopes = append(scopes, r.scope(o))
		}
		session, _, err := Open(t.Context(), r.config, providers.Env{Cluster: "kubernetes"})
		if err != nil {
			t.Fatal(err)
		}
		r.throttle()
		r.reset()
		found := session.Read(t.Context(), scopes)
		noFaults(t, found)
		for i, f := range found {
			if _, ok := f.Have.Get(stack.Key{Kind: model.KindTargets, Name: model.PortKey("tcp", 80)}); !ok {
				t.Errorf("Service %d: its targets were not read", i)
			}
		}
		made, refused := 0, 0
		for _, e := range r.sim.Cloud.Journal.Entries() {
			made++
			if e.Throttled {
				refused++
			}
		}
		if refused > 0 {
			t.Errorf("%d of %d calls were refused", refused, made)
		}
	})
}
