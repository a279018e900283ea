package service

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// talk records events about a run. An event that still holds is repeated only after
// repeatAfter: events are rate limited per object, a repeated one displaces a new one,
// and the API server deletes every event after an hour.
type talk struct {
	v   *visit
	old map[string]time.Time
	now map[string]time.Time
}

// repeatAfter is the interval at which an event that still holds is repeated; the API
// server keeps events for an hour by default (--event-ttl).
const repeatAfter = 30 * time.Minute

func (v *visit) newTalk() *talk { return &talk{v: v, old: v.known.said, now: map[string]time.Time{}} }

func (t *talk) say(reason status.EventReason, message string) *talk {
	message = status.EventMessage(message)
	return t.sayAs(string(reason)+"\x00"+message, reason, message)
}

// sayAs records an event that is identified by an id, regardless of its text. A normal
// event is recorded once: it is about a single occurrence.
func (t *talk) sayAs(id string, reason status.EventReason, message string) *talk {
	if _, twice := t.now[id]; twice {
		return t
	}
	at, told := t.old[id]
	now := t.v.options.Clock.Now()
	if !told || reason.Type() == corev1.EventTypeWarning && now.Sub(at) >= repeatAfter {
		t.v.recorder.Event(t.v.svc, reason.Type(), string(reason), status.EventMessage(message))
		at = now
	}
	t.now[id] = at
	return t
}

// failed records why the load balancer is not as desired. A cloud that does not answer is
// one event, whichever of its calls fails.
func (t *talk) failed(err error) *talk {
	text := conditions.Told(err)
	id := text
	if fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Ambiguous) {
		id = fault.Unavailable.String()
	}
	if fault.Is(err, fault.Taken) {
		return t.say(status.EventSlotTaken, text)
	}
	return t.sayAs(string(status.EventSyncFailed)+"\x00"+id, status.EventSyncFailed, "Error syncing load balancer: "+conditions.FailedText(err))
}

// keep stores the recorded events.
func (t *talk) keep() { t.v.known.said = t.now }

// gathered records one event for each reason.
func (t *talk) gathered(events []conditions.Event) {
	for _, e := range conditions.Gather(events) {
		t.say(e.Reason, e.Text)
	}
}

// problems records the user's values that have no effect.
func (t *talk) problems(d *reconcile.Draft) {
	t.gathered(conditions.ProblemEvents(d, t.v.reconciler.Annotations()))
}

// plan records the next steps. Changes of nodes and pods are not reported.
func (t *talk) plan(d *reconcile.Draft, quiet bool) {
	switch {
	case d.Vanished():
		t.say(status.EventDriftFound, "The load balancer is missing in the cloud and is recreated: "+stepCounts(d.Plan))
	case d.Drifted() && d.Plan.Writes():
		t.drift(d.Plan)
	}
	if d.Plan.Writes() && (!quiet || d.Drifted()) {
		t.say(status.EventEnsuring, "Ensuring load balancer: "+stepCounts(d.Plan))
	}
	nodes := d.Request.Backends.Nodes
	if d.Want != nil && nodes.Len() == 0 {
		if nodes.FilteredOut() {
			t.say(status.EventNoMatchingNodes, fmt.Sprintf("no node matches although %d could stand behind the load balancer", nodes.Eligible()))
		} else {
			t.say(status.EventUnavailable, "There are no available nodes for LoadBalancer")
		}
	}
	t.held(d.Plan)
}

// drift records what a check for drift corrects, and that a correction did not last where the check
// before it has made the same.
func (t *talk) drift(p plan.Plan) {
	what := stepCounts(p) + ": " + firstSteps(p)
	if slices.Equal(describeSteps(p), t.v.known.corrected) {
		t.say(status.EventDriftReturns, "The last correction of the load balancer did not last and is repeated: "+what+". Another program changes it back, or the cloud does not keep it")
		return
	}
	t.say(status.EventDriftFound, "The load balancer was changed from outside and is corrected: "+what)
}

// corrected stores what a check for drift has corrected, for the next one.
func (t *talk) corrected(r reconcile.Result) {
	if r.Draft.Rechecked() {
		t.v.known.corrected = describeSteps(r.Draft.Plan)
	}
}

// held records the blocked steps, with the causes.
func (t *talk) held(p plan.Plan) {
	var all []conditions.Event
	for _, h := range p.Blocked {
		reason := status.EventHeldForSafety
		switch {
		case h.By == plan.ByPolicy:
			reason = status.EventHeldByPolicy
		case h.By == plan.ByProof:
			reason = status.EventNotOurs
		case h.By == plan.BySlot:
			reason = status.EventSlotTaken
		case h.By == plan.ByLedger || h.By == plan.ByBusy || h.By == plan.ByIncomplete || h.FollowsOther():
			continue // ends by itself, or follows from another one
		}
		all = append(all, conditions.HeldEvent(reason, h))
	}
	t.gathered(all)
}

// result records the result. A quiet one ends by itself, or is a change of nodes and
// pods.
func (t *talk) result(r reconcile.Result, quiet bool) {
	if r.Err != nil && !quiet {
		t.failed(r.Err)
	}
	for _, text := range r.Manual {
		t.say(status.EventManualChange, text)
	}
	since := t.v.known.waits
	if r.Waits && !since.IsZero() && t.v.options.Clock.Since(since) > longWait {
		t.say(status.EventStillWaiting, "still waiting: "+conditions.Obstacles(r))
	}
	t.moved(r)
	t.corrected(r)
	t.ensured(r, quiet)
}

// ensured records that written resources serve: of this run, or of an earlier one that
// had to wait.
func (t *talk) ensured(r reconcile.Result, quiet bool) {
	if r.Draft.Job.Release {
		return
	}
	known := t.v.known
	known.ensuring = known.ensuring || hasWritten(r.Report) && (!quiet || r.Draft.Drifted())
	if r.Clean && known.ensuring {
		known.ensuring = false
		t.say(status.EventEnsured, "Ensured load balancer")
	}
}

// moved records a new address: of a load balancer that replaces another one, of one that
// was recreated, and of one that was taken over.
func (t *talk) moved(r reconcile.Result) {
	if r.Draft.Job.Release {
		return
	}
	before, after := conditions.Addresses(t.v.svc.Status.LoadBalancer.Ingress), conditions.Addresses(r.Status.Ingress)
	changed := before != "" && after != "" && before != after
	if written := t.v.known.written; written != nil && conditions.Addresses(written) != before {
		changed = false // another writer has replaced our addresses
	}
	if old, waits := conditions.Replacing(r); waits {
		text := "The new load balancer serves at " + after + "; " + old + " is deleted a minute after the switch"
		if changed {
			text += ", and with it " + before
		}
		t.sayAs(string(status.EventReplacing), status.EventReplacing, text)
		return
	}
	if old, done := conditions.Replaced(r); done {
		t.say(status.EventReplaced, "The old load balancer "+old+" is deleted; the new one serves at "+after)
	} else if changed && r.Err == nil {
		t.say(status.EventReplaced, "The load balancer has a new address: "+after+"; "+before+" no longer leads to it")
	}
	if r.Clean && r.Draft.Adopts() {
		t.say(status.EventAdopted, "The load balancer of another controller is now kept by this one; its address is "+after)
	}
}

func hasWritten(r engine.Report) bool {
	for _, res := range r.Results {
		if res.State == engine.Done && res.Step.ID.Action != plan.Forget {
			return true
		}
	}
	return false
}

// shownSteps is the number of steps of a plan in an event.
const shownSteps = 3

// firstSteps returns the first steps of a plan in words.
func firstSteps(p plan.Plan) string {
	out := describeSteps(p)
	if more := len(out) - shownSteps; more > 0 {
		out = append(out[:shownSteps], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// describeSteps returns the steps of a plan in words, updates with the fields that they write.
func describeSteps(p plan.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		var fields []string
		for _, c := range s.Changes {
			fields = append(fields, c.Field)
		}
		text := s.ID.String()
		if s.ID.Action == plan.Update && len(fields) > 0 {
			text += " (" + strings.Join(fields, ", ") + ")"
		}
		out = append(out, text)
	}
	return out
}

// stepCounts returns the numbers of steps of a plan in words.
func stepCounts(p plan.Plan) string {
	n := map[plan.Action]int{}
	for _, s := range p.Steps {
		action := s.ID.Action
		if s.Reason == plan.Initial { // it completes what is created
			action = plan.Create
		}
		n[action]++
	}
	return fmt.Sprintf("%d to create, %d to update, %d to delete", n[plan.Create], n[plan.Update], n[plan.Delete])
}
