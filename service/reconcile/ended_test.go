package reconcile_test

import (
	"context"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
)

// TestRunOutlivesTheDraft: the context of a draft ends with it, and its run is judged all the
// same: it is clean, and no other run follows.
func TestRunOutlivesTheDraft(t *testing.T) {
	r := reconcile.New(providers.Bind(toyCloud(), "", "cluster", newWorld()), reconcile.Options{})
	r.SetNodes(twoNodes())
	r.AllKnown()
	ctx, cancel := context.WithCancel(t.Context())
	d, err := r.Draft(ctx, jobFor(newShop("shop", one)))
	if cancel(); err != nil {
		t.Fatal(err)
	}
	if res := r.Run(t.Context(), d, plan.OpenGates); !res.Clean || res.Again {
		t.Errorf("clean %v, again %v", res.Clean, res.Again)
	}
}
