package wire

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
)

// inFlight is how many calls of a session are under way at a time: more than AWS
// answers in the time that a call takes, at any rate it allows. Each holds its
// request and its answer in memory, which name every machine of a large cluster.
const inFlight = 32

// nameStep is the SDK's step that puts the names of service and operation into the
// context. Source: aws-sdk-go-v2:aws/middleware/metadata.go.
const nameStep = "RegisterServiceMetadata"

// newLimits are the rates that AWS documents for an account and region. The two
// APIs of Elastic Load Balancing have buckets of their own each: 40 reads, 10 more
// a second. For its registrations and changes these are the client-side defaults
// of the AWS Load Balancer Controller, which stay below AWS's. EC2 has a bucket for
// each of its actions: 100 reads and 20 more a second for calls that name a filter, ids
// or a page, as do all calls of ours that could be counted otherwise; 50 changes and 5 more a
// second, rules of security groups among them. Sources: Elastic Load Balancing user
// guide, request throttling; Amazon EC2 developer guide, request throttling, request
// token bucket sizes (docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html);
// kubernetes-sigs/aws-load-balancer-controller:pkg/aws/throttle/defaults.go.
func newLimits(env providers.Env, atOnce int) *kit.Limits {
	var all []kit.Bucket
	for _, api := range []string{"elb", "elbv2"} {
		all = append(all,
			kit.Bucket{Name: api + "/Describe", Rate: 10, Burst: 40},
			kit.Bucket{Name: api + "/Register", Rate: 4, Burst: 20},
			kit.Bucket{Name: api + "/Change", Rate: 3, Burst: 20},
		)
	}
	for _, read := range []string{"DescribeAvailabilityZones", "DescribeInstances", "DescribeRouteTables", "DescribeSecurityGroups", "DescribeSubnets"} {
		all = append(all, kit.Bucket{Name: "ec2/" + read, Rate: 20, Burst: 100})
	}
	for _, change := range []string{"AuthorizeSecurityGroupIngress", "CreateSecurityGroup", "CreateTags", "DeleteSecurityGroup", "RevokeSecurityGroupIngress"} {
		all = append(all, kit.Bucket{Name: "ec2/" + change, Rate: 5, Burst: 50})
	}
	return kit.NewLimits(kit.LimitOptions{Buckets: all, Share: env.Share, InFlight: atOnce, Now: env.Now, Waited: env.Waited})
}

// classOf is the bucket that a call takes from.
func classOf(api, operation string) string {
	switch {
	case api != "elb" && api != "elbv2":
		return api + "/" + operation
	case strings.HasPrefix(operation, "Describe"):
		return api + "/Describe"
	case strings.HasPrefix(operation, "Register"), strings.HasPrefix(operation, "Deregister"):
		return api + "/Register"
	}
	return api + "/Change"
}

// limitSteps makes every call wait for the rate of its class, and repeats calls that
// are throttled despite that. The SDK's own repetitions and their pauses are part of a
// call.
func limitSteps(limits *kit.Limits) []func(*middlewareStack) error {
	step := smithymiddleware.InitializeMiddlewareFunc("BerthLimit", func(ctx context.Context, in smithymiddleware.InitializeInput, next smithymiddleware.InitializeHandler) (smithymiddleware.InitializeOutput, smithymiddleware.Metadata, error) {
		var (
			out         smithymiddleware.InitializeOutput
			metadata    smithymiddleware.Metadata
			asFault, as error // the answer's error, and as the SDK says it
		)
		err := limits.Do(ctx, func(ctx context.Context) error {
			out, metadata, as = next.HandleInitialize(ctx, in)
			asFault = faultOf(as, kit.Reading)
			return asFault
		}, classOf(apiOf(middleware.GetServiceID(ctx)), middleware.GetOperationName(ctx)))
		if err != nil && errors.Is(err, asFault) {
			err = as
		}
		return out, metadata, err
	})
	return []func(*middlewareStack) error{func(stack *middlewareStack) error {
		if _, named := stack.Initialize.Get(nameStep); !named {
			return stack.Initialize.Add(step, smithymiddleware.Before)
		}
		return stack.Initialize.Insert(step, nameStep, smithymiddleware.After)
	}}
}
