package conditions

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// Obstacles says what the waiting steps of a result wait for; empty if none waits.
func Obstacles(result reconcile.Result) string {
	var text []string
	for _, r := range result.Report.Results {
		if r.State != engine.Waiting || r.Because != (plan.StepID{}) {
			continue
		}
		line := r.Step.ID.String()
		if r.Outcome.Err != nil {
			line = Steady(r.Outcome.Err)
		}
		text = append(text, line)
	}
	if result.Err != nil {
		text = append(text, Steady(result.Err))
	}
	if held := HeldText(result.Draft.Plan.Blocked); held != "" {
		text = append(text, held)
	}
	return strings.Join(text, "; ")
}

// HeldText lists held steps and why.
func HeldText(held []plan.Blocked) string {
	var text []string
	for _, h := range held {
		text = append(text, h.Step.ID.String()+": "+h.Why)
	}
	return strings.Join(text, "; ")
}

// Replacing reports whether an old load balancer still serves beside a new one, and
// returns its name. A new one that is incomplete does not replace the old one yet.
func Replacing(result reconcile.Result) (old string, waits bool) {
	if result.Unready() || result.Incomplete() {
		return "", false
	}
	return findGated(result, engine.Waiting)
}

// Lingering returns the part of a load balancer that is kept for a while after its
// replacement, and for how long.
func Lingering(result reconcile.Result) (old string, after time.Duration, waits bool) {
	for _, r := range result.Report.Results {
		if r.State == engine.Waiting && r.Step.Gate.Part {
			return r.Step.ID.Key.String(), r.Step.Gate.After, true
		}
	}
	return "", 0, false
}

// Replaced reports whether an old load balancer was deleted in this run, after a new one
// had taken over, and returns its name.
func Replaced(result reconcile.Result) (old string, done bool) {
	return findGated(result, engine.Done)
}

// findGated returns the name of the resource that is deleted after a switch: of the load
// balancer if it is among the steps, otherwise of one of its parts.
func findGated(result reconcile.Result, state engine.State) (name string, found bool) {
	for _, r := range result.Report.Results {
		if r.State != state || r.Step.Gate.IsZero() || r.Step.Gate.Part {
			continue
		}
		if slices.Contains(result.Draft.Found, r.Step.ID.Key) {
			return r.Step.ID.Key.String(), true
		}
		if !found {
			name, found = r.Step.ID.Key.String(), true
		}
	}
	return name, found
}

// describeServing returns one sentence about the entry points: kind, names and ports. The
// text is the same in every run without changes.
func describeServing(result reconcile.Result) []string {
	if len(result.Serves) == 0 || result.Draft.Request.Service == nil {
		return nil
	}
	var ports []string
	for _, p := range result.Draft.Request.Service.Spec.Ports {
		ports = append(ports, fmt.Sprintf("%d/%s", p.Port, p.Protocol))
	}
	return []string{fmt.Sprintf("%s %s serves %s", result.Draft.Request.Kind, strings.Join(slices.Compact(slices.Clone(result.Names)), ", "), strings.Join(ports, ", "))}
}

// Addresses joins the addresses that clients use; empty if there are none.
func Addresses(ingress []corev1.LoadBalancerIngress) string {
	var out []string
	for _, in := range ingress {
		out = append(out, cmp.Or(in.Hostname, in.IP))
	}
	return strings.Join(out, ", ")
}

// onlyGates reports whether every waiting step waits for the time after a switch.
func onlyGates(result reconcile.Result) bool {
	for _, r := range result.Report.Results {
		if r.State == engine.Waiting && r.Step.Gate.IsZero() {
			return false
		}
	}
	return true
}

// Event is one event about a Service.
type Event struct {
	Reason status.EventReason
	Text   string
	Helps  string // what helps, which is said once where several are one event; it may be empty
}

// ProblemEvents tell what the user wrote that cannot be honoured: one event for all
// errors of a sort, since the user mends them together, and one for each warning.
func ProblemEvents(draft *reconcile.Draft, keys *annotations.Set) []Event {
	var out []Event
	if draft.Refused.Errors() {
		out = append(out, Event{Reason: status.EventPolicyRefused, Text: strings.Join(draft.Refused.Strings(), "; ")})
	}
	bad := map[status.EventReason][]string{}
	for _, p := range draft.Problems.Sorted() {
		switch {
		case slices.Contains(draft.Refused, p):
		case p.Severity == annotations.Error:
			reason := classifyProblem(p).event
			bad[reason] = append(bad[reason], p.String())
		default:
			out = append(out, Event{Reason: EventFor(p, keys), Text: p.String()})
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(bad)) {
		out = append(out, Event{Reason: reason, Text: strings.Join(bad[reason], "; ")})
	}
	return out
}

// mostTold is how many messages one event tells before it only counts.
const mostTold = 5

// Gather makes one event of all events of a reason, in the order of the reasons: the
// user mends them together, and hundreds of events of one Service would push out those
// of others.
func Gather(events []Event) []Event {
	var order []status.EventReason
	texts, helps := map[status.EventReason][]string{}, map[status.EventReason]string{}
	for _, e := range events {
		if len(texts[e.Reason]) == 0 {
			order, helps[e.Reason] = append(order, e.Reason), e.Helps
		}
		texts[e.Reason] = append(texts[e.Reason], e.Text)
	}
	var out []Event
	for _, reason := range order {
		all := texts[reason]
		text := strings.Join(all[:min(len(all), mostTold)], "; ")
		if len(all) > mostTold {
			text = fmt.Sprintf("%d in all, such as: %s", len(all), text)
		}
		out = append(out, Event{Reason: reason, Text: text + helps[reason]})
	}
	return out
}

// EventFor is the event for something that the user wrote and that has no effect.
func EventFor(p annotations.Problem, keys *annotations.Set) status.EventReason {
	switch code := annotations.CodeOf(p); {
	case code == annotations.CodeNodePort:
		return status.EventNoNodePort
	case !strings.Contains(p.Key, "/"):
		return status.EventUnsupportedSpec // a field, or the nodes
	case code == annotations.CodeOtherCloud, keys.Knows(p.Key):
		return status.EventUnsupportedAnnotation
	}
	return status.EventUnknownAnnotation
}

// Told returns the text of an event about an error. The calls that are throttled, or made
// while the cloud is unavailable, differ between attempts; the text must not.
func Told(err error) string {
	var first *fault.Fault
	if (fault.Is(err, fault.Throttled) || fault.Is(err, fault.Unavailable)) && errors.As(err, &first) {
		return OneLine(first)
	}
	return OneLine(err)
}

// OneLine returns the text of an error without line breaks; the texts of a joined error
// are separated by semicolons.
func OneLine(err error) string {
	var texts []string
	for _, one := range splitErrors(err) {
		texts = append(texts, strings.Join(strings.Fields(one.Error()), " "))
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), "; ")
}

// splitErrors returns the errors of a joined error.
func splitErrors(err error) []error {
	var list []error
	switch e := err.(type) { //nolint:errorlint // what wraps a list says more than the list
	case interface{ WrappedErrors() []error }:
		list = e.WrappedErrors()
	case interface{ Unwrap() []error }:
		list = e.Unwrap()
	}
	if len(list) == 0 {
		return []error{err}
	}
	var out []error
	for _, one := range list {
		out = append(out, splitErrors(one)...)
	}
	return out
}
