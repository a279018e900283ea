package alibaba_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/test/props"
)

// TestFlowsAreForwards: the observed flows are the traffic that the simulator passes on.
func TestFlowsAreForwards(t *testing.T) { onAlibaba().FlowsAreForwards(t, withNodes(3), allCases()) }

// TestFlowsOfLists: the clients of the observed flows are the ranges of the access control lists.
func TestFlowsOfLists(t *testing.T) {
	w := beginWorld(t, withNodes(3))
	lists := w.Sim.Cloud.Seed.Lists
	for _, c := range []struct{ kind, lists string }{{"white", lists[0]}, {"black", lists[0] + "," + lists[1]}, {"black", lists[2]}} {
		svc := props.Service("web", withKeys("acl-status", "on", "acl-id", c.lists, "acl-type", c.kind)).Service
		w.Serve(svc)
		bound := w.Open(t)
		d, err := props.Process(t, bound, w.Machines).Draft(t.Context(), reconcile.Job{Service: svc})
		if err != nil {
			t.Fatal(err)
		}
		flows := bound.Flows([]*stack.Stack{d.Have})
		forwards := w.Sim.Cloud.Forwards()
		for i, f := range flows {
			want := forwards[i].Admits
			got := f.From
			if c.kind == "black" {
				want, got = forwards[i].Denies, traffic.Subtract(traffic.Everyone(traffic.IPv4), f.From)
			}
			if !slices.Equal(traffic.RangeTexts(got), traffic.RangeTexts(traffic.Ranges(want...))) {
				t.Errorf("%s %s: %s", c.kind, strings.Join(want, " "), traffic.RangesText(got))
			}
		}
		if len(flows) != 2 || len(forwards) != 2 {
			t.Errorf("%d flows, %d forwards", len(flows), len(forwards))
		}
	}
}
