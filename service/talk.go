package service

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/verdict"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// talk tells the user what a run found, by events. What was said before and
// still holds is not said again: events are rate limited per object, and one
// that repeats itself pushes out one that would tell something new.
type talk struct {
	c   *Controller
	key string
	svc *corev1.Service
	old map[string]bool
	now map[string]bool
}

func (c *Controller) newTalk(key string, svc *corev1.Service) *talk {
	return &talk{c: c, key: key, svc: svc, old: c.seen.get(key).said, now: map[string]bool{}}
}

func (t *talk) say(reason status.EventReason, message string) *talk {
	message = status.EventMessage(message)
	id := string(reason) + "\x00" + message
	if !t.old[id] && !t.now[id] {
		t.c.recorder.Event(t.svc, reason.Type(), string(reason), message)
	}
	t.now[id] = true
	return t
}

// keep remembers what was said.
func (t *talk) keep() {
	r := t.c.seen.get(t.key)
	r.said = t.now
	t.c.seen.put(t.key, r)
}

// problems tells what the user wrote that cannot be honoured.
func (t *talk) problems(d *reconcile.Draft) {
	var bad []string
	if d.Refused.Errors() {
		t.say(status.EventPolicyRefused, strings.Join(d.Refused.Strings(), "; "))
	}
	for _, p := range d.Problems {
		if slices.Contains(d.Refused, p) {
			continue
		}
		if p.Severity == annotations.Error {
			bad = append(bad, p.String())
			continue
		}
		t.say(verdict.EventFor(p, t.c.reconciler.Annotations()), p.String())
	}
	if len(bad) > 0 { // one event for all: the user mends them together
		t.say(status.EventInvalidAnnotation, strings.Join(bad, "; "))
	}
}

// plan tells what is about to happen.
func (t *talk) plan(d *reconcile.Draft) {
	if d.Plan.Writes() {
		t.say(status.EventEnsuring, "Ensuring load balancer: "+counts(d.Plan))
	}
	nodes := d.Request.Backends.Nodes
	if d.Want != nil && nodes.Len() == 0 {
		if nodes.FilteredOut() {
			t.say(status.EventNoMatchingNodes, fmt.Sprintf("no node matches although %d could stand behind the load balancer", nodes.Eligible()))
		} else {
			t.say(status.EventUnavailable, "There are no available nodes for LoadBalancer")
		}
	}
	for _, h := range d.Plan.Held {
		reason := status.EventHeldForSafety
		switch {
		case strings.HasPrefix(h.By, "policy"):
			reason = status.EventHeldByPolicy
		case h.By == "proof":
			reason = status.EventNotOurs
		case h.By == "slot":
			reason = status.EventSlotTaken
		case h.By == "ledger" || strings.HasPrefix(h.By, "needs "):
			continue // settles by itself, or follows from another one
		}
		t.say(reason, h.Step.ID.String()+": "+h.Why)
	}
}

// stillWaiting is how long something may take before the user hears of it.
const stillWaiting = 10 * time.Minute

// result tells what came of it.
func (t *talk) result(r reconcile.Result) {
	if r.Err != nil {
		t.say(status.EventSyncFailed, "Error syncing load balancer: "+verdict.Told(r.Err))
	}
	for _, text := range r.Manual {
		t.say(status.EventManualChange, text)
	}
	since := t.c.seen.get(t.key).since
	if r.Waits && !since.IsZero() && t.c.options.Clock.Since(since) > stillWaiting {
		t.say(status.EventStillWaiting, "still waiting: "+verdict.Obstacles(r))
	}
	if old, waits := verdict.Replacing(r); waits {
		t.say(status.EventReplacing, "the new load balancer serves; "+old+" goes a minute after the switch")
	}
	if r.Clean && wrote(r.Report) && !r.Draft.Job.Release {
		t.say(status.EventEnsured, "Ensured load balancer")
	}
}

func wrote(r engine.Report) bool {
	for _, res := range r.Results {
		if res.State == engine.Done && res.Step.ID.Action != plan.Forget {
			return true
		}
	}
	return false
}

// counts says in a few words how many steps a plan has.
func counts(p plan.Plan) string {
	n := map[plan.Action]int{}
	for _, s := range p.Steps {
		n[s.ID.Action]++
	}
	return fmt.Sprintf("%d to create, %d to update, %d to delete", n[plan.Create], n[plan.Update], n[plan.Delete])
}
