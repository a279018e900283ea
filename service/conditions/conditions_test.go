package conditions

import (
	"errors"
	"strings"
	"testing"
	"time"

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

func newStep(gate time.Duration) plan.Step {
	s := plan.Step{ID: plan.StepID{Key: stack.Key{Kind: "x"}, Action: plan.Delete}}
	if gate > 0 {
		s.Gate = plan.Gate{After: gate, Since: "test"}
	}
	return s
}

func resultOf(d reconcile.Draft, results ...engine.Result) reconcile.Result {
	r := reconcile.Result{Draft: &d, Report: engine.Report{Results: results}}
	r.Err = r.Report.Err()
	r.Wait, r.Waits = r.Report.Wait()
	return r
}

func heldBy(by plan.BlockedBy) reconcile.Draft {
	return reconcile.Draft{Plan: plan.Plan{Blocked: []plan.Blocked{{Step: newStep(0), By: by, Why: "why"}}}}
}

func failWith(m fault.Meaning) engine.Result {
	return engine.Result{Step: newStep(0), State: engine.Failed, Outcome: plan.Failed(fault.New(m, "no"))}
}

func waitAt(gate time.Duration) engine.Result {
	return engine.Result{Step: newStep(gate), State: engine.Waiting, Outcome: plan.Outcome{Wait: time.Second}}
}

var refused = annotations.Problems{{Key: "k", Severity: annotations.Error}}

func TestProgrammed(t *testing.T) {
	for name, tc := range map[string]struct {
		result reconcile.Result
		want   status.Reason // empty: programmed
	}{
		"all is well":           {resultOf(reconcile.Draft{}), ""},
		"never accepted":        {resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Intent: reconcile.LeaveAlone, Problems: refused}}), status.ReasonNotAccepted},
		"not accepted any more": {resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Problems: refused}}), status.ReasonNotAccepted},
		"quota":                 {resultOf(reconcile.Draft{}, failWith(fault.Quota)), status.ReasonQuotaExceeded},
		"denied":                {resultOf(reconcile.Draft{}, failWith(fault.Denied)), status.ReasonDenied},
		"invalid":               {resultOf(reconcile.Draft{}, failWith(fault.Invalid)), status.ReasonRefused},
		"a fault of ours":       {resultOf(reconcile.Draft{}, failWith(fault.Internal)), status.ReasonCloudError},
		"policy":                {resultOf(heldBy(plan.ByPolicy)), status.ReasonHeldByPolicy},
		"proof":                 {resultOf(heldBy("proof")), status.ReasonNotOurs},
		"filter":                {resultOf(heldBy("filter")), status.ReasonNoMatchingNodes},
		"slot":                  {resultOf(heldBy("slot")), status.ReasonSlotTaken},
		"ledger":                {resultOf(heldBy("ledger")), status.ReasonHeldForSafety},
		"held while it is busy": {resultOf(heldBy(plan.ByBusy)), status.ReasonPending},
		"held as it has failed": {resultOf(heldBy(plan.ByFailed)), status.ReasonCloudError},
		"the cloud is busy": {
			resultOf(reconcile.Draft{}, waitAt(0)), status.ReasonPending,
		},
		"the time after a switch is no wait": {
			resultOf(reconcile.Draft{}, waitAt(time.Minute)), "",
		},
		"a failure says more than a held step": {resultOf(heldBy("ledger"), failWith(fault.Quota)), status.ReasonQuotaExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			got := Programmed(tc.result)
			want := status.Programmed("")
			if tc.want != "" {
				want = status.NotProgrammed(tc.want, got.Message)
			}
			if got.Reason != want.Reason || got.Status != want.Status {
				t.Errorf("%s %s, want %s %s", got.Status, got.Reason, want.Status, want.Reason)
			}
		})
	}
}

// TestStaleFinalizers: those of a kind that the load balancer had go when all is
// done; while that is not known, none does.
func TestStaleFinalizers(t *testing.T) {
	outputs := providers.Outputs{Finalizers: []string{"x/v1", "x/v2", "y/v1"}}
	serving := []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	clean := func(answer status.Result) reconcile.Result { return reconcile.Result{Clean: true, Status: answer} }
	unclean, presenceOnly := clean(status.Result{Ingress: serving}), clean(status.Result{Ingress: serving})
	unclean.Clean, presenceOnly.PresenceOnly = false, true
	for name, tc := range map[string]struct {
		result reconcile.Result
		want   []string
	}{
		"moved":               {clean(status.Result{Ingress: serving, Finalizers: []string{"y/v1"}}), []string{"x/v1", "x/v2"}},
		"without any":         {clean(status.Result{Ingress: serving}), []string{"x/v1", "x/v2", "y/v1"}},
		"nothing serves":      {clean(status.Result{}), nil},
		"not done":            {unclean, nil},
		"only that it serves": {presenceOnly, nil},
	} {
		if d := cmp.Diff(tc.want, StaleFinalizers(tc.result, outputs)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestTold: the text for throttled calls, and for calls while the cloud is unavailable, does
// not depend on the calls; the text for other failures lists each of them.
func TestTold(t *testing.T) {
	calls := func(m fault.Meaning, names ...string) error {
		var all *multierror.Error
		for _, name := range names {
			all = multierror.Append(all, errors.Join(errors.New("create "+name), fault.New(m, "slow down")))
		}
		return all
	}
	for _, m := range []fault.Meaning{fault.Throttled, fault.Unavailable} {
		if a, b := Told(calls(m, "a", "b")), Told(calls(m, "b")); a != b || a == "" {
			t.Errorf("%v: told as %q, then as %q", m, a, b)
		}
	}
	if a, b := Told(calls(fault.Quota, "a", "b")), Told(calls(fault.Quota, "b")); a == b {
		t.Errorf("two failures and one are both told as %q", a)
	}
}

// TestNotApplied: a value that the live load balancer does not get keeps the Service from
// being reported as programmed; other warnings do not.
func TestNotApplied(t *testing.T) {
	p := annotations.Problem{Key: "x/internal", Value: "true", Message: "cannot change", Severity: annotations.Warning}
	if got := Programmed(resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Problems: annotations.Problems{p}}})); got.Reason != status.ReasonProgrammed {
		t.Error(got)
	}
	draft := reconcile.Draft{Parsed: reconcile.Parsed{Problems: annotations.NotApplied(p)}}
	got := Programmed(resultOf(draft))
	if got.Reason != status.ReasonNotApplied || got.Message != `x/internal: "true" cannot change` {
		t.Error(got)
	}
	if accepted := Accepted(&draft); accepted.Status != metav1.ConditionTrue {
		t.Error(accepted)
	}
}

// TestClosedPorts: while ports serve no one, the message says so first.
func TestClosedPorts(t *testing.T) {
	r := resultOf(reconcile.Draft{})
	r.Err, r.Closed = fault.New(fault.Quota, "too many rules"), []string{"80/TCP", "443/TCP from 10.0.0.0/8"}
	if got := Programmed(r).Message; !strings.HasPrefix(got, "no traffic on 80/TCP, 443/TCP from 10.0.0.0/8: too many rules") {
		t.Errorf("message %q", got)
	}
}
