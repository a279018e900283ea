package reconcile_test

import (
	"slices"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// TestUndeletedFollows: a pool whose deletion is refused has the nodes of today, at the cost of
// one call; a deletion that succeeds takes no more calls than before.
func TestUndeletedFollows(t *testing.T) {
	cloud, w := toyCloud(), newWorld()
	cloud.KeepServing = func(in providers.Input[string], _ struct{}, have *stack.Stack) *stack.Stack {
		out := have.Clone()
		for i, r := range out.Resources {
			if _, is := r.Spec.(members); is {
				out.Resources[i].Spec = members{Nodes: in.Backends.Nodes.Names()}
			}
		}
		return out
	}
	p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
	p.AllKnown()
	both := map[int32]int32{80: 30080, 81: 30081}
	p.settle(t, jobFor(newShop("a", both)))
	updates := 0
	w.refuse = func(s plan.Step) *plan.Outcome {
		switch {
		case s.ID.Key.Kind == kindMembers && s.ID.Key.Name == "81":
			updates++
		case s.ID.Key.Kind == kindPool && s.ID.Action == plan.Delete:
			o := plan.Failed(fault.New(fault.Denied, "no"))
			return &o
		}
		return nil
	}
	p.SetNodes([]nodeports.Node{newNode("n1"), newNode("n3")})
	for range 3 {
		if res, err := p.once(jobFor(newShop("a", one))); err != nil || res.Clean {
			t.Fatal(res.Clean, err)
		}
	}
	if shown := w.show(t); !slices.Contains(shown, "a pool 30081 [n1 n3]") || updates != 2 { // one adds, one removes
		t.Errorf("%d updates, and the cloud has %v", updates, shown)
	}
	w.refuse, updates = nil, 0
	p.SetNodes([]nodeports.Node{newNode("n1"), newNode("n4")})
	p.settle(t, jobFor(newShop("a", one)))
	if shown := w.show(t); slices.Contains(shown, "a pool 30081 [n1 n3]") || updates != 0 {
		t.Errorf("%d updates before a deletion that succeeds, and the cloud has %v", updates, shown)
	}
}
