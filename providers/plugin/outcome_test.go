package plugin

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cloud-provider/api"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

func balancerOf(name string, more ...func(*corev1.Service)) *corev1.Service {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
	}
	for _, m := range more {
		m(svc)
	}
	return svc
}

func badValue() annotations.Problems {
	return annotations.Problems{{Key: "example.com/interval", Value: "soon", Message: "is no number", Legal: "seconds"}}
}

func mixedProblems() annotations.Problems {
	return annotations.Problems{{Key: "spec.ports", Value: "TCP and UDP", Code: annotations.CodeMixed, Message: "cannot be served by one load balancer"}}
}

var errPending = errors.New("still busy")

// TestWanted checks the conditions and the record of a Service for every way in which a
// run can end.
func TestWanted(t *testing.T) {
	held := plan.Blocked{By: "slot", Why: "port 80 is taken by shop/b"}
	outputs := providers.Outputs{Annotations: []string{"example.com/rule"}, Finalizers: []string{"example.com/v1", "example.com/v2"}}
	address := status.Result{
		Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}, Annotations: map[string]string{"example.com/rule": "r"}, Finalizers: []string{"example.com/v2"},
	}
	accepted, refused := status.Accepted(""), status.NotAccepted(status.ReasonInvalidAnnotation, badValue().Err().Error())
	wrote := engine.Report{Results: []engine.Result{{State: engine.Done}}}
	for name, tc := range map[string]struct {
		svc    *corev1.Service
		res    reconcile.Result
		failed error
		want   status.Want
	}{
		"clean": {
			svc: balancerOf("a"),
			res: reconcile.Result{Draft: &reconcile.Draft{Parsed: reconcile.Parsed{Asked: "abc"}}, Clean: true, Status: address},
			want: status.Want{
				Conditions: []status.Condition{accepted, status.Programmed("")}, Outputs: address.Annotations, AddFinalizers: address.Finalizers,
				DropFinalizers: []string{"example.com/v1"}, Annotations: map[string]string{status.AnnotationApplied: "abc;by=plugin;class="},
			},
		},
		"not accepted, nothing there": {
			svc:    balancerOf("a"),
			res:    reconcile.Result{Draft: &reconcile.Draft{Parsed: reconcile.Parsed{Problems: badValue(), Intent: reconcile.LeaveAlone}}},
			failed: badValue().Err(),
			want: status.Want{Conditions: []status.Condition{refused,
				status.NotProgrammed(status.ReasonNotAccepted, "the Service was not accepted; existing cloud resources are kept as they are")}},
		},
		"not accepted, kept up": {
			svc:    balancerOf("a"),
			res:    reconcile.Result{Draft: &reconcile.Draft{Parsed: reconcile.Parsed{Problems: badValue()}}, Serves: []stack.Key{{Kind: "toy"}}, Status: address},
			failed: badValue().Err(),
			want: status.Want{Conditions: []status.Condition{refused,
				status.NotProgrammed(status.ReasonNotAccepted, "the Service was not accepted; the existing load balancer keeps its last accepted configuration, and its backends follow the nodes")},
				Outputs: address.Annotations, AddFinalizers: address.Finalizers},
		},
		"refused by the policy": {
			svc:    balancerOf("a"),
			res:    reconcile.Result{Draft: &reconcile.Draft{Parsed: reconcile.Parsed{Problems: badValue(), Refused: badValue(), Intent: reconcile.LeaveAlone}}},
			failed: badValue().Err(),
			want: status.Want{Conditions: []status.Condition{status.NotAccepted(status.ReasonPolicyRefused, badValue().Err().Error()),
				status.NotProgrammed(status.ReasonNotAccepted, "the Service was not accepted; existing cloud resources are kept as they are")}},
		},
		"protocols that cannot be served together": {
			svc:    balancerOf("a"),
			res:    reconcile.Result{Draft: &reconcile.Draft{Parsed: reconcile.Parsed{Problems: mixedProblems(), Intent: reconcile.LeaveAlone}}},
			failed: mixedProblems().Err(),
			want: status.Want{Conditions: []status.Condition{status.NotAccepted(status.ReasonUnsupportedSpec, mixedProblems().Err().Error()), status.PortsError(mixedProblems()[0].String()),
				status.NotProgrammed(status.ReasonNotAccepted, "the Service was not accepted; existing cloud resources are kept as they are")}},
		},
		"held": {
			svc:    balancerOf("a"),
			res:    reconcile.Result{Draft: &reconcile.Draft{Plan: plan.Plan{Blocked: []plan.Blocked{held}}}},
			failed: errPending,
			want: status.Want{Conditions: []status.Condition{accepted,
				conditions.Held([]plan.Blocked{held})}},
		},
		"a call failed halfway": {
			svc:    balancerOf("a"),
			res:    reconcile.Result{Draft: &reconcile.Draft{}, Err: fault.New(fault.Quota, "no more"), Report: wrote},
			failed: fault.New(fault.Quota, "no more"),
			want: status.Want{Conditions: []status.Condition{accepted, conditions.Failed(fault.New(fault.Quota, "no more"))},
				Annotations: map[string]string{status.AnnotationApplied: ";by=plugin;class="}},
		},
		"busy": {
			svc:    balancerOf("a"),
			res:    reconcile.Result{Draft: &reconcile.Draft{}, Waits: true},
			failed: errPending,
			want:   status.Want{Conditions: []status.Condition{accepted, status.NotProgrammed(status.ReasonPending, "still busy")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			gone := []string{status.TypePortsError, status.TypeReplacing}
			tc.want.DropConditions = slices.DeleteFunc(gone, func(kind string) bool {
				return slices.ContainsFunc(tc.want.Conditions, func(c status.Condition) bool { return c.Type == kind })
			})
			if diff := cmp.Diff(tc.want, desiredMarks(tc.svc, tc.res, tc.failed, outputs)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRetryable: only a fault that resolves by itself after a known time keeps the stock
// loop from backing off.
func TestRetryable(t *testing.T) {
	throttled := &fault.Fault{Meaning: fault.Throttled, After: time.Minute, Text: "slow down"}
	for name, tc := range map[string]struct {
		err   error
		after time.Duration // zero: the stock loop backs off
	}{
		"throttled, with a time": {throttled, time.Minute},
		"throttled":              {fault.New(fault.Throttled, "slow down"), leastPause},
		"quota":                  {fault.New(fault.Quota, "no more"), 0},
		"unavailable":            {fault.New(fault.Unavailable, "down"), 0},
		"a mistake":              {badValue().Err(), 0},
	} {
		got := retryError(tc.err)
		retry, is := errors.AsType[*api.RetryError](got)
		switch {
		case is != (tc.after > 0):
			t.Errorf("%s: got %T", name, got)
		case is && retry.RetryAfter() != tc.after:
			t.Errorf("%s: after %s, want %s", name, retry.RetryAfter(), tc.after)
		case got.Error() != tc.err.Error():
			t.Errorf("%s: the text has become %q", name, got)
		}
	}
}

// TestLeftOn: a Service that is no load balancer any more exists for the stock loop
// as long as it carries something of ours.
func TestLeftOn(t *testing.T) {
	outputs := providers.Outputs{Annotations: []string{"example.com/rule"}, Finalizers: []string{"example.com/v1"}}
	plain := func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeClusterIP }
	recorded := func(svc *corev1.Service) { svc.Annotations = map[string]string{status.AnnotationApplied: "abc;class="} }
	going := func(svc *corev1.Service) { now := metav1.Now(); svc.DeletionTimestamp = &now }
	finalizer := func(name string) func(*corev1.Service) {
		return func(svc *corev1.Service) { svc.Finalizers = append(svc.Finalizers, name) }
	}
	condition := func(svc *corev1.Service) {
		svc.Status.Conditions = []metav1.Condition{{Type: status.TypeAccepted}}
	}
	for name, tc := range map[string]struct {
		svc  *corev1.Service
		want bool
	}{
		"a load balancer":                        {balancerOf("a", recorded), false},
		"nothing":                                {balancerOf("a", plain, finalizer("example.com/hold")), false},
		"the record":                             {balancerOf("a", plain, recorded), true},
		"a condition":                            {balancerOf("a", plain, condition), true},
		"an output":                              {balancerOf("a", plain, finalizer("example.com/v1")), true},
		"the record, which goes with it":         {balancerOf("a", recorded, going), false},
		"a finalizer, which it waits for":        {balancerOf("a", finalizer("example.com/v1"), going), true},
		"the finalizer of the stock loop":        {balancerOf("a", plain, finalizer("service.kubernetes.io/load-balancer-cleanup")), false},
		"a condition of another controller only": {balancerOf("a", plain, func(svc *corev1.Service) { svc.Status.Conditions = []metav1.Condition{{Type: "Other"}} }), false},
	} {
		if got := leftOn(tc.svc, outputs); got != tc.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
