package aws

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"golang.org/x/sync/errgroup"
)

// operation is a method of any of the SDK's clients.
type operation[I, O, P any] func(context.Context, *I, ...func(*P)) (*O, error)

// ask makes a reading call. Errors are faults.
func ask[I, O, P any](ctx context.Context, op operation[I, O, P], in *I, options ...func(*P)) (*O, error) {
	out, err := op(ctx, in, options...)
	return out, faultOf(err, reading)
}

// tell makes a writing call. Errors are faults; Ambiguous if the call may have
// taken effect without an answer.
func tell[I, O, P any](ctx context.Context, op operation[I, O, P], in *I, options ...func(*P)) (*O, error) {
	var left atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { left.Store(true) }})
	out, err := op(ctx, in, options...)
	way := stayed
	if left.Load() {
		way = sentOff
	}
	return out, faultOf(err, way)
}

// newRetryer retries what costs nothing to repeat: lost connections and server
// errors. Throttling and "still busy" are handed up at once: the limiter and the
// requeue above know better how long to wait, and for whom.
func newRetryer() awssdk.Retryer {
	handUp := retry.IsErrorRetryableFunc(func(err error) awssdk.Ternary {
		if m, ok := meaningOf(codeOf(err)); ok && !mayRepeat(m) {
			return awssdk.FalseTernary
		}
		return awssdk.UnknownTernary
	})
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = retry.DefaultMaxAttempts
		o.MaxBackoff = 500 * time.Millisecond // longer waits are the business of those who plan
		o.Retryables = append([]retry.IsErrorRetryable{handUp}, o.Retryables...)
	})
}

// onceClassic and onceNetwork switch retries off for creates that answer with
// what is there already: a blind repeat after a lost answer could take over what
// somebody else made in between.
func onceClassic(o *elb.Options)   { o.Retryer = awssdk.NopRetryer{} }
func onceNetwork(o *elbv2.Options) { o.Retryer = awssdk.NopRetryer{} }

// inParallel bounds the calls of one read that the API has no batch for.
const inParallel = 8

// forEach runs f for every item, some at a time. f keeps its own errors.
func forEach[T any](items []T, f func(T)) {
	var group errgroup.Group
	group.SetLimit(inParallel)
	for _, item := range items {
		group.Go(func() error { f(item); return nil })
	}
	_ = group.Wait() // no function returns an error
}

// together runs functions at the same time.
func together(fs ...func()) { forEach(fs, func(f func()) { f() }) }
