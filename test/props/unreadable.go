package props

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
)

// refuseReads: a new process plans a Service that is served while one sort of read is
// refused, for each sort in turn. What cannot be read is not called absent: the user is
// not blamed, nothing is created, replaced or deleted, and the cause is named.
func refuseReads(t *testing.T, fresh New, c Case) {
	s := fresh(t)
	startProcess(t, s, s.Nodes(), c.Service).converge(c.Service, false)
	p := startProcess(t, s, s.Nodes())
	s.Control().Journal.Reset()
	whole, err := p.r.Draft(t.Context(), p.job(c.Service))
	if err != nil {
		t.Fatal(err)
	}
	reads := s.Control().Journal.Counts()
	for _, call := range slices.Sorted(maps.Keys(reads)) {
		service, operation, _ := strings.Cut(call, ".")
		for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
			p := startProcess(t, s, s.Nodes())
			if _, err := s.Control().Faults.Add(sim.Fault{Service: service, Operation: operation, Kind: sim.FaultError, Status: status, Message: "refused for the test"}); err != nil {
				t.Fatal(err)
			}
			draft, err := p.r.Draft(t.Context(), p.job(c.Service))
			s.Control().Faults.Clear()
			if problem := checkBlame(whole, draft, err); problem != "" {
				t.Errorf("%s answers %d: %s", call, status, problem)
			}
		}
	}
	if diff := cmp.Diff(0, countWrites(s)); diff != "" {
		t.Errorf("planning wrote (-want +got):\n%s", diff)
	}
}

// checkBlame returns what is wrong with a draft that could not read everything, compared
// with one that could; empty if nothing is.
func checkBlame(whole, draft *reconcile.Draft, err error) string {
	if err != nil {
		return "" // it fails as a whole, and the failure names the call
	}
	known := map[string]bool{}
	for _, p := range whole.Problems {
		known[p.String()] = true
	}
	for _, p := range draft.Problems {
		// A cloud that hides whether a thing exists leaves both open, and so does the text.
		open := strings.Contains(p.Message, "or the controller's credentials may not read it")
		if p.Severity == annotations.Error && !known[p.String()] && !open {
			return "the user reads: " + p.String()
		}
	}
	for _, step := range draft.Plan.Steps {
		if step.ID.Action == plan.Create || step.ID.Action == plan.Delete {
			return fmt.Sprintf("planned although it cannot be known: %s", step.ID)
		}
	}
	for _, b := range draft.Plan.Blocked {
		if b.By == plan.ByBlind && !b.FollowsOther() && !strings.Contains(b.Why, "refused for the test") {
			return fmt.Sprintf("%s is blocked and the refusal is not named: %s", b.Step.ID, b.Why)
		}
	}
	return ""
}
