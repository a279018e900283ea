package conditions

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-multierror"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// TestReasons: what is wrong with a field is not called a wrong annotation, neither
// in the condition nor in the event.
func TestReasons(t *testing.T) {
	keys, err := annotations.NewSet("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		problem annotations.Problem
		reason  status.Reason
		event   status.EventReason
		ports   bool
	}{
		"a value":        {annotations.Problem{Key: "x.io/a", Message: "is bad"}, status.ReasonInvalidAnnotation, status.EventInvalidAnnotation, false},
		"exposed":        {annotations.Problem{Key: "x.io/a", Code: annotations.CodeExposed}, status.ReasonInvalidAnnotation, status.EventInvalidAnnotation, false},
		"a range":        {annotations.Problem{Key: "spec.loadBalancerSourceRanges"}, status.ReasonInvalidSpec, status.EventInvalidSpec, false},
		"an address":     {annotations.Problem{Key: "spec.loadBalancerIP"}, status.ReasonUnsupportedSpec, status.EventUnsupportedSpec, false},
		"a protocol":     {annotations.Problem{Key: "spec.ports", Code: annotations.CodeProtocol}, status.ReasonUnsupportedSpec, status.EventUnsupportedSpec, false},
		"some field":     {annotations.Problem{Key: "spec.anything"}, status.ReasonUnsupportedSpec, status.EventUnsupportedSpec, false},
		"mixed ports":    {annotations.Problem{Key: "spec.ports", Code: annotations.CodeMixed}, status.ReasonUnsupportedSpec, status.EventUnsupportedSpec, true},
		"no node port":   {annotations.Problem{Key: "spec.ports", Code: annotations.CodeNodePort}, status.ReasonNoNodePort, status.EventNoNodePort, false},
		"another cloud":  {annotations.Problem{Key: "y.io/a", Code: annotations.CodeOtherCloud, Severity: annotations.Warning}, "", status.EventUnsupportedAnnotation, false},
		"misspelt":       {annotations.Problem{Key: "y.io/a", Code: annotations.CodeUnknown, Severity: annotations.Warning}, "", status.EventUnknownAnnotation, false},
		"one port less":  {annotations.Problem{Key: "spec.ports", Code: annotations.CodeNodePort, Severity: annotations.Warning}, "", status.EventNoNodePort, false},
		"half a feature": {annotations.Problem{Key: "spec.ipFamilies", Severity: annotations.Warning}, "", status.EventUnsupportedSpec, false},
	} {
		t.Run(name, func(t *testing.T) {
			draft := &reconcile.Draft{Parsed: reconcile.Parsed{Problems: annotations.Problems{tc.problem}}}
			got := Accepted(draft)
			if tc.reason == "" {
				tc.reason = status.ReasonAccepted
			}
			if got.Reason != tc.reason || got.Message != tc.problem.String() {
				t.Errorf("condition %s %q, want %s", got.Reason, got.Message, tc.reason)
			}
			want := []Event{{Reason: tc.event, Text: tc.problem.String()}}
			if d := cmp.Diff(want, ProblemEvents(draft, keys)); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
			if _, ports := PortsError(draft); ports != tc.ports {
				t.Errorf("%s: %t, want %t", status.TypePortsError, ports, tc.ports)
			}
		})
	}
}

// TestProgrammedSays: the message says what serves, in the same words every time.
func TestProgrammedSays(t *testing.T) {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
		{Port: 80, Protocol: corev1.ProtocolTCP}, {Port: 53, Protocol: corev1.ProtocolUDP}}}}
	res := resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Request: providers.Request{Service: svc, Kind: "nlb"}}})
	res.Serves, res.Manual = []stack.Key{{Kind: "rule", Name: "a1"}, {Kind: "rule6", Name: "a1"}}, []string{"run x"}
	res.Names = []string{"a1", "a1"}
	if got, want := Programmed(res).Message, "nlb a1 serves 80/TCP, 53/UDP; run x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestReplacingNamesTheLoadBalancer: not one of its parts, whatever the order.
func TestReplacingNamesTheLoadBalancer(t *testing.T) {
	balancer := stack.Key{Kind: "load-balancer", Name: "old"}
	steps := func(state engine.State) []engine.Result {
		rule := newStep(1)
		lb := newStep(1)
		lb.ID = plan.StepID{Key: balancer, Action: plan.Delete}
		return []engine.Result{{Step: rule, State: state}, {Step: lb, State: state}}
	}
	draft := reconcile.Draft{Found: []stack.Key{balancer}}
	if got, waits := Replacing(resultOf(draft, steps(engine.Waiting)...)); !waits || got != balancer.String() {
		t.Errorf("replacing %q, %t", got, waits)
	}
	if got, done := Replaced(resultOf(draft, steps(engine.Done)...)); !done || got != balancer.String() {
		t.Errorf("replaced %q, %t", got, done)
	}
}

// TestNotReplacingYet: a load balancer whose creation is not complete does not replace another one.
func TestNotReplacingYet(t *testing.T) {
	next, old := stack.Key{Kind: "load-balancer", Name: "new"}, stack.Key{Kind: "load-balancer", Name: "old"}
	gone := newStep(1)
	gone.ID = plan.StepID{Key: old, Action: plan.Delete}
	for state, want := range map[stack.State]bool{stack.Pending: false, stack.Ready: true} {
		draft := reconcile.Draft{Found: []stack.Key{old}, Desired: reconcile.Desired{Want: &stack.Stack{Resources: []stack.Resource{{Key: next}}}}}
		res := resultOf(draft, engine.Result{Step: gone, State: engine.Waiting})
		res.Report.Have = &stack.Stack{Resources: []stack.Resource{{Key: next, State: state}, {Key: old, State: stack.Pending}}}
		res.Serves = []stack.Key{next, old}
		if _, waits := Replacing(res); waits != want {
			t.Errorf("%v: replacing is %t, want %t", state, waits, want)
		}
	}
}

// TestOneLine: a list of errors reads as a sentence, not as a library prints it.
func TestOneLine(t *testing.T) {
	var list *multierror.Error
	list = multierror.Append(list, errors.New("b:\n\tno"), errors.Join(errors.New("a"), errors.New("a")))
	if got, want := OneLine(list), "a; b: no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFailureSaysWhatHelps: once, and its own where the failure has it.
func TestFailureSaysWhatHelps(t *testing.T) {
	for want, f := range map[string]*fault.Fault{
		"no right" + suggestRemedy(status.ReasonDenied): {Meaning: fault.Denied, Text: "no right."},
		"no identity; set X":                            {Meaning: fault.Denied, Text: "no identity", Helps: "set X"},
	} {
		err := fmt.Errorf("read: %w", f)
		if got := Failed(err); got.Reason != status.ReasonDenied || got.Message != "read: "+want || FailedText(err) != got.Message {
			t.Errorf("%s: %s, %q, want %q", got.Reason, got.Message, FailedText(err), want)
		}
	}
}

// TestHeldEventSaysWhatHelps: of a step that is held the event says as the condition does
// what helps.
func TestHeldEventSaysWhatHelps(t *testing.T) {
	for policy, want := range map[string]string{
		"no-delete": "; undo the change, or allow it in the flag --policy of the controller",
		"dry-run":   "; start the controller without --dry-run to have it done",
	} {
		h := plan.Blocked{Step: newStep(1), By: plan.ByPolicy, Policy: policy, Why: "not now"}
		one := HeldEvent(status.EventHeldByPolicy, h)
		text := h.Step.ID.String() + ": not now"
		if got := Gather([]Event{one, one}); len(got) != 1 || got[0].Text != text+"; "+text+want {
			t.Errorf("%s: %v", policy, got)
		}
		if got := Held([]plan.Blocked{h}).Message; !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", policy, got)
		}
	}
}
