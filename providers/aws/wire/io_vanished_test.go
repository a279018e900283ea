package wire

import (
	"context"
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestVanishedLoadBalancer: a target group that still names a deleted load balancer
// counts as one on no load balancer, for the release of its Service and for the orphans.
func TestVanishedLoadBalancer(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{})
		o := ownerOf(1)
		_, err := r.session.network.CreateTargetGroup(t.Context(), &elbv2.CreateTargetGroupInput{
			Name: awssdk.String(model.TargetGroupPrefix(o) + "0123456789"), Port: awssdk.Int32(30080), VpcId: &r.seed.VPC,
			Protocol: elbv2types.ProtocolEnumTcp, Tags: tagList(r.ownedBy(o), networkTag),
		})
		if err != nil {
			t.Fatal(err)
		}
		r.session.network = elbv2.New(r.session.network.Options(), nameVanished(r.seed.Region))

		found := r.session.Read(t.Context(), []providers.Scope{(&orphan{owner: o}).scope()})[0]
		if found.Err != nil {
			t.Fatal(found.Err)
		}
		if !slices.ContainsFunc(found.Have.Resources, func(have stack.Resource) bool { return have.Key.Kind == model.KindTargetGroup }) {
			t.Errorf("a release finds %v, want the target group among it", found.Have.Resources)
		}
		orphans, err := r.session.Orphans(t.Context(), providers.Live{})
		if err != nil {
			t.Fatal(err)
		}
		if len(orphans) != 1 || orphans[0].Owner.Name != o.Name {
			t.Errorf("orphans %v, want those of %s", orphans, o)
		}
	})
}

// nameVanished adds a load balancer that does not exist to every target group that a client
// reads, as a list does that lags behind a deletion.
func nameVanished(region string) func(*elbv2.Options) {
	gone := "arn:aws:elasticloadbalancing:" + region + ":123456789012:loadbalancer/net/gone/0123456789abcdef"
	step := smithymiddleware.InitializeMiddlewareFunc("NameVanished", func(ctx context.Context, in smithymiddleware.InitializeInput, next smithymiddleware.InitializeHandler) (smithymiddleware.InitializeOutput, smithymiddleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		if groups, ok := out.Result.(*elbv2.DescribeTargetGroupsOutput); ok {
			for i := range groups.TargetGroups {
				groups.TargetGroups[i].LoadBalancerArns = append(groups.TargetGroups[i].LoadBalancerArns, gone)
			}
		}
		return out, metadata, err
	})
	return func(o *elbv2.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *smithymiddleware.Stack) error {
			return stack.Initialize.Add(step, smithymiddleware.Before)
		})
	}
}
