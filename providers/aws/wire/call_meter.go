package wire

import (
	"context"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// retryStep is the name of the SDK's step that repeats calls; what is behind it
// runs once per attempt. Source: aws-sdk-go-v2:aws/retry/middleware.go.
const retryStep = "Retry"

// meterSteps reports every attempt of every call to the observer, including repeated
// ones.
func meterSteps(observe providers.Observe) []func(*middlewareStack) error {
	if observe == nil {
		return nil
	}
	step := smithymiddleware.FinalizeMiddlewareFunc("BerthMeter", func(ctx context.Context, in smithymiddleware.FinalizeInput, next smithymiddleware.FinalizeHandler) (smithymiddleware.FinalizeOutput, smithymiddleware.Metadata, error) {
		end := observe(ctx, providers.Call{API: apiOf(middleware.GetServiceID(ctx)), Operation: middleware.GetOperationName(ctx)})
		out, metadata, err := next.HandleFinalize(ctx, in)
		end(answerOf(err))
		return out, metadata, err
	})
	return []func(*middlewareStack) error{func(stack *middlewareStack) error {
		if _, repeats := stack.Finalize.Get(retryStep); !repeats {
			return stack.Finalize.Add(step, smithymiddleware.Before)
		}
		return stack.Finalize.Insert(step, retryStep, smithymiddleware.After)
	}}
}

// apiOf is the short name of an API: that of its endpoint in the command line of
// AWS, where there is one.
func apiOf(serviceID string) string {
	switch serviceID {
	case elb.ServiceID:
		return "elb"
	case elbv2.ServiceID:
		return "elbv2"
	}
	return strings.ToLower(serviceID)
}

// answerOf is what became of one attempt.
func answerOf(err error) providers.Answer {
	if err == nil {
		return providers.Answer{}
	}
	a := providers.Answer{Code: codeOf(err), Meaning: fault.Of(faultOf(err, kit.Reading))}
	switch status := httpStatus(err); {
	case a.Code != "":
	case status != 0:
		a.Code = strconv.Itoa(status)
	default:
		a.Code = providers.NoAnswer
	}
	return a
}
