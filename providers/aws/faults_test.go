package aws

import (
	"errors"
	"net"
	"net/http"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
)

// answer is an error as the SDK returns it.
func answer(status int, code string) error {
	return &smithy.OperationError{ServiceID: "test", OperationName: "Do", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: "said so"},
	}}
}

func TestFaultOf(t *testing.T) {
	cut := &smithyhttp.RequestSendError{Err: &net.OpError{Op: "read", Err: errors.New("reset")}}
	for _, tc := range []struct {
		name string
		err  error
		way  way
		want fault.Meaning
		sent plan.Sent
	}{
		{"absent balancer", answer(400, "LoadBalancerNotFound"), sentOff, fault.NotFound, plan.NotSent},
		{"taken name", answer(400, "DuplicateTargetGroupName"), sentOff, fault.Exists, plan.NotSent},
		{"rule there", answer(400, "InvalidPermission.Duplicate"), sentOff, fault.Exists, plan.NotSent},
		{"group in use", answer(400, "DependencyViolation"), sentOff, fault.InUse, plan.NotSent},
		{"target group in use", answer(400, "ResourceInUse"), sentOff, fault.InUse, plan.NotSent},
		{"throttled elb", answer(400, "Throttling"), sentOff, fault.Throttled, plan.NotSent},
		{"throttled ec2", answer(503, "RequestLimitExceeded"), sentOff, fault.Throttled, plan.NotSent},
		{"busy", answer(400, "PriorRequestNotComplete"), sentOff, fault.Pending, plan.NotSent},
		{"rules used up", answer(400, "RulesPerSecurityGroupLimitExceeded"), sentOff, fault.Quota, plan.NotSent},
		{"balancers used up", answer(400, "TooManyLoadBalancers"), sentOff, fault.Quota, plan.NotSent},
		{"not allowed", answer(403, "UnauthorizedOperation"), reading, fault.Denied, plan.NotSent},
		{"deletion protection", answer(400, "OperationNotPermitted"), sentOff, fault.Denied, plan.NotSent},
		{"no such certificate", answer(400, "CertificateNotFound"), sentOff, fault.Invalid, plan.NotSent},
		{"ended instance", answer(400, "InvalidInstance"), sentOff, fault.Invalid, plan.NotSent},
		{"unknown refusal", answer(400, "BrandNewCode"), sentOff, fault.Internal, plan.NotSent},
		{"unknown refusal by status", answer(403, "BrandNewCode"), sentOff, fault.Denied, plan.NotSent},
		{"server error of a read", answer(500, "InternalFailure"), reading, fault.Unavailable, plan.NotSent},
		{"server error of a write", answer(500, "InternalFailure"), sentOff, fault.Ambiguous, plan.MaybeSent},
		{"unknown server error of a write", answer(502, "BrandNewCode"), sentOff, fault.Ambiguous, plan.MaybeSent},
		{"cut after sending", cut, sentOff, fault.Ambiguous, plan.MaybeSent},
		{"cut before sending", cut, stayed, fault.Unavailable, plan.NotSent},
		{"cut read", cut, reading, fault.Unavailable, plan.NotSent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := faultOf(tc.err, tc.way)
			if got := fault.Of(err); got != tc.want || sent(err) != tc.sent {
				t.Errorf("got %v, sent %v, want %v, %v", got, sent(err), tc.want, tc.sent)
			}
			if !errors.Is(err, tc.err) {
				t.Error("the cause is not in the chain")
			}
		})
	}
}

// TestRetryer: what may be repeated blindly, and what is handed up at once.
func TestRetryer(t *testing.T) {
	r := newRetryer()
	for code, want := range map[string]bool{
		"Throttling": false, "RequestLimitExceeded": false, "PriorRequestNotComplete": false, "ResourceInUse": false,
		"InternalFailure": true, "ServiceUnavailable": true,
	} {
		if got := r.IsErrorRetryable(answer(503, code)); got != want {
			t.Errorf("%s: retried %v, want %v", code, got, want)
		}
	}
}
