package wire

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// sdkError returns an error as the SDK does.
func sdkError(status int, code string) error {
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
		way  kit.Progress
		want fault.Meaning
		sent plan.Sent
	}{
		{"absent balancer", sdkError(400, "LoadBalancerNotFound"), kit.Sent, fault.NotFound, plan.NotSent},
		{"taken name", sdkError(400, "DuplicateTargetGroupName"), kit.Sent, fault.Exists, plan.NotSent},
		{"rule there", sdkError(400, "InvalidPermission.Duplicate"), kit.Sent, fault.Exists, plan.NotSent},
		{"group in use", sdkError(400, "DependencyViolation"), kit.Sent, fault.InUse, plan.NotSent},
		{"target group in use", sdkError(400, "ResourceInUse"), kit.Sent, fault.InUse, plan.NotSent},
		{"throttled elb", sdkError(400, "Throttling"), kit.Sent, fault.Throttled, plan.NotSent},
		{"throttled ec2", sdkError(503, "RequestLimitExceeded"), kit.Sent, fault.Throttled, plan.NotSent},
		{"busy", sdkError(400, "PriorRequestNotComplete"), kit.Sent, fault.Pending, plan.NotSent},
		{"rules used up", sdkError(400, "RulesPerSecurityGroupLimitExceeded"), kit.Sent, fault.Quota, plan.NotSent},
		{"balancers used up", sdkError(400, "TooManyLoadBalancers"), kit.Sent, fault.Quota, plan.NotSent},
		{"not allowed", sdkError(403, "UnauthorizedOperation"), kit.Reading, fault.Denied, plan.NotSent},
		{"deletion protection", sdkError(400, "OperationNotPermitted"), kit.Sent, fault.Denied, plan.NotSent},
		{"no such certificate", sdkError(400, "CertificateNotFound"), kit.Sent, fault.Invalid, plan.NotSent},
		{"ended instance", sdkError(400, "InvalidInstance"), kit.Sent, fault.Invalid, plan.NotSent},
		{"unknown refusal", sdkError(400, "BrandNewCode"), kit.Sent, fault.Internal, plan.NotSent},
		{"unknown refusal by status", sdkError(403, "BrandNewCode"), kit.Sent, fault.Denied, plan.NotSent},
		{"server error of a read", sdkError(500, "InternalFailure"), kit.Reading, fault.Unavailable, plan.NotSent},
		{"server error of a write", sdkError(500, "InternalFailure"), kit.Sent, fault.Ambiguous, plan.MaybeSent},
		{"unknown server error of a write", sdkError(502, "BrandNewCode"), kit.Sent, fault.Ambiguous, plan.MaybeSent},
		{"cut after sending", cut, kit.Sent, fault.Ambiguous, plan.MaybeSent},
		{"cut before sending", cut, kit.NotSent, fault.Unavailable, plan.NotSent},
		{"cut read", cut, kit.Reading, fault.Unavailable, plan.NotSent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := faultOf(tc.err, tc.way)
			if got := fault.Of(err); got != tc.want || kit.Failed(err).Sent != tc.sent {
				t.Errorf("got %v, sent %v, want %v, %v", got, kit.Failed(err).Sent, tc.want, tc.sent)
			}
			if !errors.Is(err, tc.err) {
				t.Error("the cause is not in the chain")
			}
		})
	}
}

// TestAnswerOfAnother: a page of a proxy, or of an endpoint that lacks an operation, is reported by
// operation and status. Where it is not XML helps no reader.
func TestAnswerOfAnother(t *testing.T) {
	for status, want := range map[int]fault.Meaning{403: fault.Denied, 404: fault.Internal, 502: fault.Unavailable} {
		virtual.Run(t, strconv.Itoa(status), func(t *testing.T) {
			url := virtual.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = w.Write([]byte("<!doctype html>\n<html lang=en>\n<title>Another</title>\n"))
			}))
			config := simtest.Config(url, "us-east-1")
			config.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
			_, balancers := elbv2.NewFromConfig(config).DescribeLoadBalancers(t.Context(), &elbv2.DescribeLoadBalancersInput{})
			_, subnets := ec2.NewFromConfig(config).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
			for operation, err := range map[string]error{"DescribeLoadBalancers": balancers, "DescribeSubnets": subnets} {
				err := faultOf(err, kit.Reading)
				text := fmt.Sprintf("%s was answered with HTTP status %d and no error of AWS: a proxy in between, or an endpoint that lacks the operation, can answer so", operation, status)
				if got := fault.Of(err); got != want || err.Error() != text {
					t.Errorf("got %v: %v, want %v: %s", got, err, want, text)
				}
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
		if got := r.IsErrorRetryable(sdkError(503, code)); got != want {
			t.Errorf("%s: retried %v, want %v", code, got, want)
		}
	}
}
