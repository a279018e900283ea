package account

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
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Forward is one port of one address that the simulated account passes on.
type Forward struct {
	Address  string
	Port     int
	Protocol string // TCP or UDP
	Public   bool
	To       []string // backends with their ports, as flows name them
}

func (f Forward) String() string {
	to := slices.Sorted(slices.Values(f.To))
	return fmt.Sprintf("%s %d/%s public %v to %s", f.Address, f.Port, f.Protocol, f.Public, strings.Join(to, " "))
}

// FlowsAreForwards moves a Service between all pairs of cases. After every step the flows of a
// fresh read must be the traffic that the account passes on.
func (c Cloud[O, S]) FlowsAreForwards(t *testing.T, opt O, list []props.Case) {
	virtual.Test(t, func(t *testing.T) {
		w := c.Begin(t, opt)
		seen, moves := 0, 0
		for i, from := range list {
			for _, to := range append(slices.Clone(list[i+1:]), from) {
				moves++
				svc := to.Service.DeepCopy()
				bound := w.Open(t)
				apply := bound.Apply
				bound.Apply = func(ctx context.Context, b plan.Batch) []plan.Outcome {
					out := apply(ctx, b)
					seen += w.compareFlows(from.Name+" to "+to.Name+", after "+b.Steps[0].ID.String(), reconcile.Job{Service: svc}, bound.Flows)
					return out
				}
				w.Process = props.Process(t, bound, w.Machines, reconcile.Job{Service: svc})
				w.Serve(svc)
			}
		}
		if seen < 3*moves {
			t.Errorf("only %d forwards were compared in %d moves", seen, moves)
		}
	})
}

// compareFlows compares the flows of a fresh read with what the account passes on, and returns
// the number of them.
func (w *World[S]) compareFlows(when string, job reconcile.Job, flows traffic.Func) int {
	w.Helper()
	d, err := props.Process(w, w.Open(w), w.Machines).Draft(w.Context(), job)
	if err != nil {
		w.Fatal(err)
	}
	var passing, computed []string
	for _, f := range w.Sim.Forwards() {
		passing = append(passing, f.String())
	}
	for _, f := range flows([]*stack.Stack{d.Have}) {
		if !f.Serves() {
			continue
		}
		line := Forward{Address: f.Address, Port: int(f.Port), Protocol: f.Protocol, Public: f.From[0].Bits() == 0}
		for _, b := range f.To {
			line.To = append(line.To, b.String())
		}
		computed = append(computed, line.String())
	}
	slices.Sort(passing)
	slices.Sort(computed)
	if d := cmp.Diff(passing, computed); d != "" {
		w.Errorf("%s (-passes +flows):\n%s", when, d)
	}
	return len(passing)
}
