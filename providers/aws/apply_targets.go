package aws

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func createTargetGroup(c *change, spec TargetGroup) plan.Outcome {
	in := &elbv2.CreateTargetGroupInput{
		Name: &spec.Name, Protocol: elbv2types.ProtocolEnum(spec.Protocol), Port: &spec.Port, VpcId: &spec.VPC,
		TargetType:          elbv2types.TargetTypeEnum(spec.TargetType),
		HealthCheckProtocol: elbv2types.ProtocolEnum(spec.CheckProtocol), HealthCheckPort: optional(spec.CheckPort), HealthCheckPath: checkPath(spec),
		HealthCheckIntervalSeconds: number(spec.CheckInterval), HealthyThresholdCount: number(spec.Healthy), UnhealthyThresholdCount: number(spec.Unhealthy),
		Tags: tagList(spec.Tags, networkTag),
	}
	out, err := tell(c.ctx, c.network.CreateTargetGroup, in, onceNetwork)
	if err == nil && len(out.TargetGroups) == 0 {
		err = noAnswer("CreateTargetGroup")
	}
	if err != nil {
		return failed(err)
	}
	arn := awssdk.ToString(out.TargetGroups[0].TargetGroupArn)
	o := c.created(arn, stack.Tag, spec.after(out.TargetGroups[0]))
	if c.step.Reason == plan.Replaced {
		o.Parts = c.emptied(o.After)
	}
	return o
}

// emptied are the inherent parts of a group that takes another one's place:
// without them those of the old group would stay known under the same keys.
func (c *change) emptied(group stack.Resource) []stack.Resource {
	return []stack.Resource{inGroup(group, KindTargets, Targets{}), inGroup(group, KindTargetAttr, Attributes{})}
}

// number leaves what nobody chose to AWS.
func number(n int32) *int32 {
	if n == 0 {
		return nil
	}
	return &n
}

// checkPath: a TCP check has none, and AWS refuses one.
func checkPath(t TargetGroup) *string {
	if t.CheckProtocol == string(elbv2types.ProtocolEnumTcp) {
		return nil
	}
	return optional(t.CheckPath)
}

// after is the group with what AWS answered about its health check.
func (t TargetGroup) after(answer elbv2types.TargetGroup) TargetGroup {
	t.CheckProtocol = string(answer.HealthCheckProtocol)
	t.CheckPort = awssdk.ToString(answer.HealthCheckPort)
	t.CheckPath = awssdk.ToString(answer.HealthCheckPath)
	t.CheckInterval = awssdk.ToInt32(answer.HealthCheckIntervalSeconds)
	t.Healthy = awssdk.ToInt32(answer.HealthyThresholdCount)
	t.Unhealthy = awssdk.ToInt32(answer.UnhealthyThresholdCount)
	return t
}

// updateTargetGroup writes the health check, all that can change on a group.
func updateTargetGroup(c *change, spec TargetGroup) plan.Outcome {
	in := &elbv2.ModifyTargetGroupInput{
		TargetGroupArn:      awssdk.String(c.id()),
		HealthCheckProtocol: elbv2types.ProtocolEnum(spec.CheckProtocol), HealthCheckPort: optional(spec.CheckPort), HealthCheckPath: checkPath(spec),
		HealthCheckIntervalSeconds: number(spec.CheckInterval), HealthyThresholdCount: number(spec.Healthy), UnhealthyThresholdCount: number(spec.Unhealthy),
	}
	out, err := tell(c.ctx, c.network.ModifyTargetGroup, in)
	if err != nil {
		return failed(err)
	}
	if len(out.TargetGroups) > 0 {
		spec = spec.after(out.TargetGroups[0])
	}
	return c.updated(spec, nil)
}

// deleteTargetGroup answers InUse for the seconds in which a listener that has
// just been switched, or a load balancer that has just gone, still holds it.
func deleteTargetGroup(c *change) plan.Outcome {
	_, err := tell(c.ctx, c.network.DeleteTargetGroup, &elbv2.DeleteTargetGroupInput{TargetGroupArn: awssdk.String(c.id())})
	return deleted(err)
}

func registerTargets(c *change) plan.Outcome {
	group := c.id()
	return addMachines(c, Target.instance, func(targets []Target) error {
		_, err := tell(c.ctx, c.network.RegisterTargets, &elbv2.RegisterTargetsInput{TargetGroupArn: &group, Targets: wireTargets(targets)})
		return err
	})
}

func deregisterTargets(c *change) plan.Outcome {
	group := c.id()
	return removeMachines(c, Target.instance, func(targets []Target) error {
		_, err := tell(c.ctx, c.network.DeregisterTargets, &elbv2.DeregisterTargetsInput{TargetGroupArn: &group, Targets: wireTargets(targets)})
		return err
	})
}

func (t Target) instance() string { return t.ID }

func wireTargets(targets []Target) []elbv2types.TargetDescription {
	out := make([]elbv2types.TargetDescription, 0, len(targets))
	for _, t := range targets {
		out = append(out, elbv2types.TargetDescription{Id: awssdk.String(t.ID), Port: awssdk.Int32(t.Port)})
	}
	return out
}
