package aws

import (
	"context"

	smithymiddleware "github.com/aws/smithy-go/middleware"
)

// inFlight is how many calls of a session are under way at a time: more than AWS
// answers in the time that a call takes, at any rate it allows. Each holds its
// request and its answer in memory, which name every machine of a large cluster.
const inFlight = 32

// bounded lets a number of calls be under way, repetitions and their pauses
// included; the others wait, before their requests are written.
func bounded(n int) []func(*middlewareStack) error {
	room := make(chan struct{}, n)
	step := smithymiddleware.InitializeMiddlewareFunc("BerthBound", func(ctx context.Context, in smithymiddleware.InitializeInput, next smithymiddleware.InitializeHandler) (smithymiddleware.InitializeOutput, smithymiddleware.Metadata, error) {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return smithymiddleware.InitializeOutput{}, smithymiddleware.Metadata{}, ctx.Err()
		}
		defer func() { <-room }()
		return next.HandleInitialize(ctx, in)
	})
	return []func(*middlewareStack) error{func(stack *middlewareStack) error { return stack.Initialize.Add(step, smithymiddleware.Before) }}
}
