package wire

import (
	"context"
	"fmt"
	"net/netip"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
)

// inService is the state of an instance that a Classic Load Balancer sends to.
// Source: Elastic Load Balancing API 2012-06-01, InstanceState.
const inService = "InService"

// Health implements providers.Examiner: one call for each target group, and one for a
// Classic Load Balancer.
func (s *Session) Health(ctx context.Context, have *stack.Stack) ([]providers.MemberHealth, error) {
	var out []providers.MemberHealth
	for r, spec := range stack.Each[model.Classic](have, model.KindClassic) {
		if r.Proof != stack.None {
			found, err := s.instanceHealth(ctx, r.Key, spec.Name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Key, err)
			}
			out = append(out, found...)
		}
	}
	for _, r := range have.Of(model.KindTargetGroup) {
		if r.ID == "" || r.Proof == stack.None {
			continue
		}
		found, err := s.targetHealth(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Key, err)
		}
		out = append(out, found...)
	}
	return out, nil
}

func (s *Session) instanceHealth(ctx context.Context, of stack.Key, name string) ([]providers.MemberHealth, error) {
	answer, err := readCall(ctx, s.classic.DescribeInstanceHealth, &elb.DescribeInstanceHealthInput{LoadBalancerName: &name})
	if err != nil {
		return nil, err
	}
	var out []providers.MemberHealth
	for _, i := range answer.InstanceStates {
		state := awssdk.ToString(i.State)
		h := providers.MemberHealth{Of: of, Member: awssdk.ToString(i.InstanceId), State: state, Healthy: state == inService}
		if !h.Healthy {
			h.Why = awssdk.ToString(i.Description)
		}
		out = append(out, h)
	}
	return out, nil
}

func (s *Session) targetHealth(ctx context.Context, group stack.Resource) ([]providers.MemberHealth, error) {
	answer, err := readCall(ctx, s.network.DescribeTargetHealth, &elbv2.DescribeTargetHealthInput{TargetGroupArn: &group.ID})
	if err != nil {
		return nil, err
	}
	var out []providers.MemberHealth
	for _, d := range answer.TargetHealthDescriptions {
		if d.Target == nil || d.TargetHealth == nil {
			continue
		}
		h := providers.MemberHealth{
			Of: group.Key, Member: fmt.Sprintf("%s:%d", awssdk.ToString(d.Target.Id), awssdk.ToInt32(d.Target.Port)),
			State: string(d.TargetHealth.State), Healthy: d.TargetHealth.State == elbv2types.TargetHealthStateEnumHealthy,
		}
		if addr, err := netip.ParseAddr(awssdk.ToString(d.Target.Id)); err == nil {
			h.Addr = addr
		}
		if !h.Healthy {
			h.Why = awssdk.ToString(d.TargetHealth.Description)
		}
		out = append(out, h)
	}
	return out, nil
}
