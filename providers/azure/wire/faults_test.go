package wire

import (
	"net/http"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// TestNamed verifies that the cause of a refusal that names one frontend or rule is
// searched for among the steps written together, whatever its meaning. A refusal of the
// whole is not, and is not retried at once.
func TestNamed(t *testing.T) {
	for code, want := range map[string]bool{
		"InvalidResourceReference": true, "PublicIPReferencedByMultipleIPConfigs": true, "LinkedAuthorizationFailed": true, "RequestDisallowedByPolicy": true,
		"PreconditionFailed": false, "AnotherOperationInProgress": false, "AuthorizationFailed": false, "ScopeLocked": false,
	} {
		err := errorsOf().Refused(kit.Refusal{Code: code, Status: 409}, kit.Sent)
		if got := fault.OfMember(err); got != want {
			t.Errorf("%s: of a member: %v, want %v", code, got, want)
		}
		calls := 0
		_ = kit.Merge(3, func() error { calls++; return err })
		if again := calls > 1; again != (code == "PreconditionFailed") {
			t.Errorf("%s: %d calls", code, calls)
		}
	}
}

// TestMeanings: what a refusal means, and when to ask again: soon only where it is
// known that another operation is about to end.
func TestMeanings(t *testing.T) {
	for _, c := range []struct {
		code   string
		status int
		want   fault.Meaning
		after  time.Duration
	}{
		{"AnotherOperationInProgress", 409, fault.Pending, busyDelay},
		{"RetryableErrorDueToAnotherOperation", 409, fault.Pending, busyDelay},
		{"OperationPreempted", 409, fault.Pending, busyDelay},
		{"OperationNotAllowed", 409, fault.Pending, busyDelay},
		{"OperationNotAllowed", 429, fault.Throttled, 0},
		{"RetryableError", 429, fault.Throttled, 0},
		{"SomethingNew", 409, fault.Pending, 0},
		{"ScopeLocked", 409, fault.Denied, 0},
		{"LinkedScopeLocked", 409, fault.Denied, 0},
		{"ReadOnlyDisabledSubscription", 409, fault.Denied, 0},
		{"MissingSubscriptionRegistration", 409, fault.Denied, 0},
		{"AccountIsDisabled", 409, fault.Denied, 0},
		{"SubnetIsFull", 400, fault.Quota, 0},
		{"PublicIPCountLimitReached", 400, fault.Quota, 0},
		{"PrivateIPAddressIsAllocated", 400, fault.Exists, 0},
		{"PrivateIPAddressNotInSubnet", 400, fault.Invalid, 0},
		{"PreconditionFailed", 412, fault.Conflict, 0},
		{"InternalServerError", http.StatusInternalServerError, fault.Ambiguous, 0},
		{"ResourceNotFound", http.StatusNotFound, fault.NotFound, 0},
		{"NetworkInterfaceNotFound", http.StatusNotFound, fault.NotFound, 0},
		{"InvalidResourceType", http.StatusNotFound, fault.Ambiguous, 0}, // it says nothing about the resource
		{"", http.StatusNotFound, fault.Ambiguous, 0},
	} {
		said := refusalIn(c.status, http.Header{"X-Ms-Error-Code": {c.code}}, nil, time.Time{})
		if err := errorsOf().Refused(said, kit.Sent); fault.Of(err) != c.want || fault.After(err) != c.after {
			t.Errorf("%s with %d: %v after %v, want %v after %v", c.code, c.status, fault.Of(err), fault.After(err), c.want, c.after)
		}
	}
}
