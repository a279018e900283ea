package conditions

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

func newRefusal(m fault.Meaning, c fault.Cause, text string) *fault.Fault {
	return &fault.Fault{Meaning: m, Cause: c, Text: text}
}

func newLimited(l fault.Limit) *fault.Fault {
	return &fault.Fault{Meaning: fault.Quota, Text: "too many", Limit: l}
}

// TestRemedyByCause: expired credentials, a missing right, a lock and a policy of the
// organisation are four reasons with four next steps, although the loop treats all alike.
func TestRemedyByCause(t *testing.T) {
	for name, tc := range map[string]struct {
		err    *fault.Fault
		reason status.Reason
		says   string
		not    string
	}{
		"expired":       {newRefusal(fault.Denied, fault.Unauthenticated, "ExpiredToken"), status.ReasonUnauthenticated, "renew or correct them", "lack this right"},
		"no right":      {newRefusal(fault.Denied, fault.Unauthorized, "not authorized to perform"), status.ReasonDenied, "lack this right: grant it", "lock"},
		"locked":        {newRefusal(fault.Denied, fault.Locked, "ScopeLocked"), status.ReasonLocked, "remove the lock", "lack this right"},
		"policy":        {newRefusal(fault.Denied, fault.Policy, "RequestDisallowedByPolicy"), status.ReasonOrganizationPolicy, "administrator of the cloud organisation", "lack this right"},
		"policy on GCE": {newRefusal(fault.Invalid, fault.Policy, "constraints/compute.x"), status.ReasonOrganizationPolicy, "administrator of the cloud organisation", ""},
		"account":       {newRefusal(fault.Denied, fault.Account, "SubscriptionNotFound"), status.ReasonDenied, "ask its administrator to enable it", "lack this right"},
		"quota":         {newRefusal(fault.Quota, fault.Unspecified, "too many"), status.ReasonQuotaExceeded, "raise this limit", ""},
		"known quota":   {newLimited(fault.Limit{Name: "rules", Most: "60", Used: "58"}), status.ReasonQuotaExceeded, "; raise the quota rules (limit 60, in use 58) or delete", "this limit"},
		"only a figure": {newLimited(fault.Limit{Most: "60"}), status.ReasonQuotaExceeded, "; raise this quota (limit 60) or delete", "in use"},
		"full subnet":   {newRefusal(fault.Quota, fault.Addresses, "SubnetIsFull"), status.ReasonQuotaExceeded, "free addresses of this subnet", "raise"},
		"other writer":  {newRefusal(fault.Conflict, fault.Unspecified, "stale"), status.ReasonConflict, "reads the resource again and retries", "choose"},
		"name in use":   {newRefusal(fault.Exists, fault.Unspecified, "AlreadyExists"), status.ReasonConflict, "choose another one, or free it", "reads"},
		"not found":     {newRefusal(fault.NotFound, fault.Unspecified, "no subnet"), status.ReasonCloudError, "or the controller's credentials may not read it", "log"},
		"held address":  {newRefusal(fault.Invalid, fault.Held, "used by lb-1"), status.ReasonRefused, "release the address from the resource that uses it", "change the Service"},
		"in use":        {newRefusal(fault.InUse, fault.Unspecified, "used by nic-1"), status.ReasonInUse, "remove what uses the resource", "log"},
		"full resource": {newRefusal(fault.Quota, fault.Full, "1500 rules"), status.ReasonQuotaExceeded, "cannot be raised", "cloud account"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Failed(fmt.Errorf("create listener: %w", tc.err))
			if got.Reason != tc.reason || !strings.Contains(got.Message, tc.says) || tc.not != "" && strings.Contains(got.Message, tc.not) {
				t.Errorf("%s: %s", got.Reason, got.Message)
			}
		})
	}
}

// TestForemost: a failure that passes by itself hides none that does not, in whatever
// order they come.
func TestForemost(t *testing.T) {
	down := fmt.Errorf("read groups: %w", fault.New(fault.Unavailable, "502 Bad Gateway"))
	bad := fmt.Errorf("create load-balancer: %w", fault.New(fault.Invalid, "no such subnet"))
	for _, err := range []error{fault.Listed(down, bad), fault.Listed(bad, down)} {
		got := Failed(err)
		if got.Reason != status.ReasonRefused || strings.Contains(got.Message, "502") || !strings.Contains(got.Message, "no such subnet; change the Service") {
			t.Errorf("%s: %s", got.Reason, got.Message)
		}
	}
	if got := Failed(fault.Listed(down)); got.Reason != status.ReasonCloudUnavailable {
		t.Errorf("%s: %s", got.Reason, got.Message)
	}
}

// TestRefusedRelease: a Service that is being deleted is not asked to change.
func TestRefusedRelease(t *testing.T) {
	failed := engine.Result{Step: newStep(0), State: engine.Failed, Outcome: plan.Failed(fault.New(fault.Invalid, "cannot be removed."))}
	got := Programmed(resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Intent: reconcile.Release}}, failed))
	if got.Reason != status.ReasonRefused || strings.Contains(got.Message, "change the Service") || !strings.Contains(got.Message, "the deletion is retried") {
		t.Errorf("%s: %s", got.Reason, got.Message)
	}
}

// TestUnreadOfAChangedService: a condition never speaks of an earlier Service.
func TestUnreadOfAChangedService(t *testing.T) {
	svc := &corev1.Service{}
	svc.Status.Conditions = []metav1.Condition{{Type: status.TypeProgrammed, Status: metav1.ConditionTrue}}
	cause := fault.New(fault.Denied, "no")
	if cond, news := Unread(svc, true, cause); !news || cond.Status != metav1.ConditionFalse {
		t.Errorf("changed: %v, %v", cond, news)
	}
	if cond, news := Unread(svc, false, cause); news {
		t.Errorf("unchanged: %v", cond)
	}
	if _, news := Unread(&corev1.Service{}, false, errors.New("x")); !news {
		t.Error("a Service without conditions says nothing")
	}
}

// TestNotAcceptedSaysWhatServes: no accepted configuration is claimed where none exists.
func TestNotAcceptedSaysWhatServes(t *testing.T) {
	none := Programmed(resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Problems: refused}}))
	if !strings.Contains(none.Message, "no load balancer exists") {
		t.Error(none.Message)
	}
	res := resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Problems: refused}})
	res.Serves = append(res.Serves, newStep(0).ID.Key)
	if got := Programmed(res).Message; !strings.Contains(got, "serves nothing yet") {
		t.Error(got)
	}
	res.Status.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	if got := Programmed(res).Message; !strings.Contains(got, "last accepted configuration") {
		t.Error(got)
	}
}

// TestSentIdentifiersStay: an identifier that the request contained is part of the
// message; one that the answer brought is not, since it differs from one try to the next.
func TestSentIdentifiersStay(t *testing.T) {
	type spec struct{ Subnet string }
	const sent, answered = "3daf058c-f342-3e0d-3cd8-70fd975afd0e", "00a1c1de-5f0e-4d38-8b1c-3f7a0d6f4a12"
	failed := engine.Result{Step: newStep(0), State: engine.Failed, Outcome: plan.Failed(fault.New(fault.Invalid, "Subnet %s not found, request %s", sent, answered))}
	failed.Step.Target.Spec = spec{Subnet: sent}
	got := Programmed(resultOf(reconcile.Draft{}, failed)).Message
	if !strings.Contains(got, sent) || strings.Contains(got, answered) {
		t.Error(got)
	}
}
