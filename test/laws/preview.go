package laws

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/preview"
	"github.com/berth-lb/berth/stack/traffic"
)

// CheckPreview compares what is shown of a plan with what the cloud in memory does: for each
// move of one Service, the ports computed from the observed stack equal the ports computed from
// the flows of the cloud after each performed step. At most the given number of moves is
// checked, the same ones every time; 0: all.
func CheckPreview(t *testing.T, s *Subject, most int) {
	t.Helper()
	w := newSweep(s, Bounds{})
	moves := sampleOf(w.alone(), most, func(m []Move) string { return s.describe(Scenario{Moves: m}) })
	ports, whole := 0, 0
	for _, m := range moves {
		if n := w.comparePreview(t, m); n > 0 {
			ports, whole = ports+n, whole+1
		}
	}
	if 2*whole < len(moves) {
		t.Errorf("%s: only %d of %d moves could be compared", s.Name, whole, len(moves))
	}
	t.Logf("%s: %d of %d moves shown with %d ports", s.Name, whole, len(moves), ports)
}

// comparePreview compares the ports of one move, and returns their number. A plan that the
// cloud in memory cannot perform as a whole is left out.
func (w *sweep) comparePreview(t *testing.T, moves []Move) int {
	t.Helper()
	x := &run{subject: w.subject, scenario: Scenario{Moves: moves, Open: true}, world: w.start(moves), day: Today}
	x.begin(moves, true)
	x.publish(moves[0], moves[0].To)
	planned := x.plan(moves[0])
	p, before := planned.plan, planned.have.Clone()
	prefixes := [][]traffic.Flow{x.flows()}
	x.watch = func() { prefixes = append(prefixes, x.flows()) }
	report := x.process.engine.Run(t.Context(), p, planned.have, plan.OpenGates)
	if !report.Clean() || len(x.steps) != len(p.Steps) {
		return 0
	}
	p.Steps = x.steps // in the order in which they were performed
	shown := preview.Ports(before, planned.desired, p, w.subject.Flows)
	var desired []traffic.Flow
	if planned.desired != nil {
		desired = w.subject.Flows([]*stack.Stack{planned.desired})
	}
	if done := preview.PortsOf(p, prefixes, desired); !reflect.DeepEqual(shown, done) {
		t.Errorf("%s: %s:\nshown:\n%sdone:\n%s", w.subject.Name, w.subject.describe(x.scenario), portsText(shown), portsText(done))
	}
	return len(shown)
}

func portsText(ports []preview.Port) string {
	var out strings.Builder
	for _, p := range ports {
		fmt.Fprintf(&out, "  %d/%s %s kept %v opens %v closes %v missing %v moves %v lost %v restored %v brief %v\n", p.Number, p.Protocol, p.Family,
			p.Kept, p.Opens, p.Closes, p.Missing, p.Moves, p.Lost, p.Restored, p.Brief)
	}
	return out.String()
}
