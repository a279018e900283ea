package wire

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func capacityPart() part {
	return part{
		kind: model.KindCapacity, ofBalancer: readCapacity,
		verbs: kit.Verbs[*Session]{{Kind: model.KindCapacity, Action: plan.Update}: kit.With(setCapacity)},
	}
}

func readCapacity(q *query, lb string) (stack.Spec, error) {
	out, err := readCall(q.ctx, q.network.DescribeCapacityReservation, &elbv2.DescribeCapacityReservationInput{LoadBalancerArn: &lb})
	if err != nil {
		return nil, err
	}
	var spec model.Capacity
	if m := out.MinimumLoadBalancerCapacity; m != nil {
		spec.Units = awssdk.ToInt32(m.CapacityUnits)
	}
	return spec, nil
}

// setCapacity reserves capacity; none takes the reservation back.
func setCapacity(c *change, spec model.Capacity) plan.Outcome {
	in := &elbv2.ModifyCapacityReservationInput{LoadBalancerArn: awssdk.String(c.ID())}
	if spec.Units == 0 {
		in.ResetCapacityReservation = awssdk.Bool(true)
	} else {
		in.MinimumLoadBalancerCapacity = &elbv2types.MinimumLoadBalancerCapacity{CapacityUnits: awssdk.Int32(spec.Units)}
	}
	_, err := writeCall(c.Ctx, c.Session.network.ModifyCapacityReservation, in)
	return c.Updated(spec, err)
}
