package wire

import (
	"context"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/berth-lb/berth/providers/kit"
)

// operation is a method of any of the SDK's clients.
type operation[I, O, P any] func(context.Context, *I, ...func(*P)) (*O, error)

// readCall makes a reading call. Errors are faults.
func readCall[I, O, P any](ctx context.Context, op operation[I, O, P], in *I, options ...func(*P)) (*O, error) {
	out, err := op(ctx, in, options...)
	return out, faultOf(err, kit.Reading)
}

// writeCall makes a writing call. Errors are faults; Ambiguous if the call may have
// taken effect without an answer.
func writeCall[I, O, P any](ctx context.Context, op operation[I, O, P], in *I, options ...func(*P)) (*O, error) {
	var out *O
	progress, err := kit.Write(ctx, func(ctx context.Context) error {
		var err error
		out, err = op(ctx, in, options...)
		return err
	})
	return out, faultOf(err, progress)
}

// newRetryer retries what costs nothing to repeat: lost connections and server
// errors. Throttling is handed up at once to the limits, which know how long all
// calls of the class have to wait, and "still busy" to the requeue.
func newRetryer() awssdk.Retryer {
	handUp := retry.IsErrorRetryableFunc(func(err error) awssdk.Ternary {
		if m, ok := meaningOf(codeOf(err)); ok && !mayRepeat(m) {
			return awssdk.FalseTernary
		}
		return awssdk.UnknownTernary
	})
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = retry.DefaultMaxAttempts
		o.MaxBackoff = 500 * time.Millisecond // longer waits are left to the caller
		o.Retryables = append([]retry.IsErrorRetryable{handUp}, o.Retryables...)
	})
}

// onceClassic and onceNetwork switch retries off for creates that return an existing
// resource: a blind repeat after a lost response could take over what another client
// created in between.
func onceClassic(o *elb.Options)   { o.Retryer = awssdk.NopRetryer{} }
func onceNetwork(o *elbv2.Options) { o.Retryer = awssdk.NopRetryer{} }
