package wire

import (
	"context"

	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

// askFence asks the fence of the context right before each attempt of a call is sent: behind
// the wait for its rate, the SDK's repetitions and the signature.
func askFence() []func(*middlewareStack) error {
	step := smithymiddleware.DeserializeMiddlewareFunc("BerthFence", func(ctx context.Context, in smithymiddleware.DeserializeInput, next smithymiddleware.DeserializeHandler) (smithymiddleware.DeserializeOutput, smithymiddleware.Metadata, error) {
		if err := providers.Fenced(ctx); err != nil {
			return smithymiddleware.DeserializeOutput{}, smithymiddleware.Metadata{}, &fault.Fault{Meaning: fault.Unavailable, Text: "not sent: " + err.Error(), Err: err}
		}
		return next.HandleDeserialize(ctx, in)
	})
	return []func(*middlewareStack) error{func(stack *middlewareStack) error { return stack.Deserialize.Add(step, smithymiddleware.After) }}
}
