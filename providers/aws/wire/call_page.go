package wire

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	smithymiddleware "github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/meter"
)

// refusePages returns pages of HTML as errors: the SDK reads one that is XML as an empty list. Server
// failures are retried by their status. The metadata service of instances answers with pages as well; its
// client has no service ID.
func refusePages() []func(*middlewareStack) error {
	step := smithymiddleware.DeserializeMiddlewareFunc("BerthPages", func(ctx context.Context, in smithymiddleware.DeserializeInput, next smithymiddleware.DeserializeHandler) (smithymiddleware.DeserializeOutput, smithymiddleware.Metadata, error) {
		out, metadata, err := next.HandleDeserialize(ctx, in)
		answer, ok := out.RawResponse.(*smithyhttp.Response)
		if err != nil || !ok || answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests {
			return out, metadata, err
		}
		if meter.IsPage(answer.Header) && middleware.GetServiceID(ctx) != "" {
			_ = answer.Body.Close() // nothing of it is wanted
			err = &fault.PageError{Operation: middleware.GetOperationName(ctx), Status: answer.StatusCode}
		}
		return out, metadata, err
	})
	return []func(*middlewareStack) error{func(stack *middlewareStack) error { return stack.Deserialize.Add(step, smithymiddleware.After) }}
}
