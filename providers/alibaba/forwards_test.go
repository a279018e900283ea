package alibaba_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestFlowsAreForwards: after every step of every move between two cases, the flows of what
// was read are what the simulator passes on.
func TestFlowsAreForwards(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: 3}})
		seen, list := 0, allCases()
		for i, from := range list {
			for _, to := range append(slices.Clone(list[i+1:]), from) {
				svc := to.Service.DeepCopy()
				bound := w.Open(t)
				apply := bound.Apply
				bound.Apply = func(ctx context.Context, b plan.Batch) []plan.Outcome {
					out := apply(ctx, b)
					seen += w.compareFlows(from.Name+" to "+to.Name+", after "+b.Steps[0].ID.String(), bound.Flows)
					return out
				}
				w.process = props.Process(t, bound, w.nodes, reconcile.Job{Service: svc})
				w.serve(svc)
			}
		}
		if seen < 200 {
			t.Errorf("only %d forwards were compared", seen)
		}
	})
}

// compareFlows compares the flows of a fresh read with what the simulator passes on, and
// returns the number of them.
func (w *world) compareFlows(when string, flows traffic.Func) int {
	w.Helper()
	svc := allCases()[0].Service
	d, err := props.Process(w, w.Open(w), w.nodes).Draft(w.Context(), reconcile.Job{Service: svc})
	if err != nil {
		w.Fatal(err)
	}
	var passing, computed []string
	for _, f := range w.running.Cloud.Forwards() {
		var to []string
		to = append(to, f.Servers...)
		transport := "TCP"
		if f.Protocol == "udp" {
			transport = "UDP"
		}
		passing = append(passing, fmt.Sprintf("%s %d/%s public %v to %s", f.Address, f.Port, transport, f.Public, strings.Join(to, " ")))
	}
	for _, f := range flows([]*stack.Stack{d.Have}) {
		if !f.Serves() {
			continue
		}
		var to []string
		for _, b := range f.To {
			to = append(to, b.String())
		}
		slices.Sort(to)
		computed = append(computed, fmt.Sprintf("%s %d/%s public %v to %s", f.Address, f.Port, f.Protocol, f.From[0].Bits() == 0, strings.Join(to, " ")))
	}
	slices.Sort(passing)
	slices.Sort(computed)
	if d := cmp.Diff(passing, computed); d != "" {
		w.Errorf("%s (-passes +flows):\n%s", when, d)
	}
	return len(passing)
}
