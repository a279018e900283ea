package props

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/sim"
)

// refusedFor is the message of the reads that a test refuses.
const refusedFor = "refused for the test"

// pageFor is part of the message of a read that a proxy answers.
const pageFor = "was answered with HTTP status 404 and "

// Answering is a Subject whose reads are refused with more answers than a missing right. The causes
// of its refusals are checked as well.
type Answering interface {
	// Answers are the HTTP statuses.
	Answers() []int
}

// AllAnswers are the statuses of refused reads: credentials, rights, absence, rates and defects.
func AllAnswers() []int {
	return []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests, http.StatusInternalServerError}
}

// refuseReads: a new process plans a Service that is served while one sort of read is
// refused, for each sort in turn, by the cloud and by a proxy with a page of HTML. What cannot be
// read is not called absent: the user is not blamed, nothing is created, replaced or deleted, and the
// cause is named.
func refuseReads(t *testing.T, fresh New, c Case) {
	s := fresh(t)
	startProcess(t, s, s.Nodes(), c.Service).converge(c.Service, false)
	p := startProcess(t, s, s.Nodes())
	s.Control().Journal.Reset()
	whole, err := p.r.Draft(t.Context(), p.job(c.Service))
	if err != nil {
		t.Fatal(err)
	}
	reads, details := s.Control().Journal.Counts(), callsAboutOne(s.Control().Journal.Entries(), whole.Have, plainIDs(s))
	codes := []int{http.StatusUnauthorized, http.StatusForbidden}
	more, answers := s.(Answering)
	if answers {
		codes = more.Answers()
	}
	for _, call := range slices.Sorted(maps.Keys(reads)) {
		service, operation, _ := strings.Cut(call, ".")
		refused := func(f sim.Fault) (*reconcile.Draft, error) {
			p := startProcess(t, s, s.Nodes())
			f.Service, f.Operation = service, operation
			if _, err := s.Control().Faults.Add(f); err != nil {
				t.Fatal(err)
			}
			defer s.Control().Faults.Clear()
			return p.r.Draft(t.Context(), p.job(c.Service))
		}
		for _, code := range codes {
			draft, err := refused(sim.Fault{Kind: sim.FaultError, Status: code, Message: refusedFor})
			problem := ""
			switch {
			case err == nil:
				problem = checkBlame(whole, draft, refusedFor, answers, code == http.StatusNotFound && details[call])
			case answers:
				problem = checkCause(err, code)
			}
			if problem != "" {
				t.Errorf("%s answers %d: %s", call, code, problem)
			}
		}
		draft, err := refused(sim.Fault{Kind: sim.FaultPage, Status: http.StatusNotFound})
		problem := ""
		if err == nil {
			problem = checkBlame(whole, draft, pageFor, true, false)
		} else if !strings.Contains(err.Error(), pageFor) {
			problem = "the answer is not named: " + err.Error()
		}
		if problem != "" {
			t.Errorf("%s answers a page of a proxy: %s", call, problem)
		}
	}
	if diff := cmp.Diff(0, countWrites(s)); diff != "" {
		t.Errorf("planning wrote (-want +got):\n%s", diff)
	}
}

// Placing is a Subject whose resources have identifiers with their region.
type Placing interface {
	// PlainID returns the identifier that calls have.
	PlainID(id string) string
}

// plainIDs returns how a subject writes the identifiers of resources in calls.
func plainIDs(s Subject) func(string) string {
	if placing, ok := s.(Placing); ok {
		return placing.PlainID
	}
	return func(id string) string { return id }
}

// callsAboutOne returns the calls whose parameters name an observed resource.
func callsAboutOne(entries []sim.Entry, have *stack.Stack, plain func(id string) string) map[string]bool {
	out := map[string]bool{}
	for _, e := range entries {
		for _, value := range e.Request {
			if slices.ContainsFunc(have.Resources, func(r stack.Resource) bool { return r.ID != "" && strings.Contains(value, plain(r.ID)) }) {
				out[e.Service+"."+e.Operation] = true
			}
		}
	}
	return out
}

// checkBlame returns what is wrong with a draft that could not read everything, compared
// with one that could; empty if nothing is. Where the cloud says that a listed resource does not
// exist, the user may read it, and it may be written: the cloud refuses the name if it exists
// nevertheless. Updates are judged where asked for.
func checkBlame(whole, draft *reconcile.Draft, cause string, updates, gone bool) string {
	if blame := listBlame(whole, draft); len(blame) > 0 && !gone {
		return "the user reads: " + blame[0]
	}
	for _, step := range draft.Plan.Steps {
		planned := slices.ContainsFunc(whole.Plan.Steps, func(w plan.Step) bool { return w.ID == step.ID })
		if !planned && !(gone && step.ID.Action != plan.Delete) && (updates || step.ID.Action != plan.Update) {
			return fmt.Sprintf("planned although it cannot be known: %s", step.ID)
		}
	}
	for _, b := range draft.Plan.Blocked {
		if b.By == plan.ByBlind && !b.FollowsOther() && !strings.Contains(b.Why, cause) {
			return fmt.Sprintf("%s is blocked and the refusal is not named: %s", b.Step.ID, b.Why)
		}
	}
	return ""
}

// listBlame returns the mistakes that a draft reports and one that could read everything does not.
func listBlame(whole, draft *reconcile.Draft) (out []string) {
	known := map[string]bool{}
	for _, p := range whole.Problems {
		known[p.String()] = true
	}
	for _, p := range draft.Problems {
		// A cloud that hides whether a thing exists leaves both open, and so does the text.
		open := strings.Contains(p.Message, "or the controller's credentials may not read it")
		if p.Severity == annotations.Error && !known[p.String()] && !open {
			out = append(out, p.String())
		}
	}
	return out
}

// checkCause returns what is wrong with the failure of a plan: it names the cause and what was
// read, and the condition does not ask for another Service.
func checkCause(err error, code int) string {
	text, c := err.Error(), conditions.Failed(err)
	f, is := errors.AsType[*fault.Fault](err)
	switch {
	case !strings.Contains(text, refusedFor) && !strings.Contains(text, http.StatusText(code)):
		return "the cause is not named: " + text
	case is && strings.HasPrefix(text, f.Error()) && !strings.Contains(text, "token"):
		return "what could not be read is not named: " + text
	case c.Reason == status.ReasonRefused:
		return "the Service is to be changed: " + c.Message
	}
	return ""
}
