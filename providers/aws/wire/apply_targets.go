package wire

import (
	"fmt"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func createTargetGroup(c *change, spec model.TargetGroup) plan.Outcome {
	in := &elbv2.CreateTargetGroupInput{
		Name: &spec.Name, Protocol: elbv2types.ProtocolEnum(spec.Protocol), Port: &spec.Port, VpcId: &spec.VPC,
		TargetType:          elbv2types.TargetTypeEnum(spec.TargetType),
		HealthCheckProtocol: elbv2types.ProtocolEnum(spec.CheckProtocol), HealthCheckPort: optionalText(spec.CheckPort), HealthCheckPath: checkPath(spec),
		HealthCheckIntervalSeconds: optionalNumber(spec.CheckInterval), HealthCheckTimeoutSeconds: spec.CheckTimeout,
		HealthyThresholdCount: optionalNumber(spec.Healthy), UnhealthyThresholdCount: optionalNumber(spec.Unhealthy),
		IpAddressType: elbv2types.TargetGroupIpAddressTypeEnum(spec.Family), Matcher: healthMatcher(spec),
		Tags: tagList(spec.Tags, networkTag),
	}
	out, err := writeCall(c.Ctx, c.Session.network.CreateTargetGroup, in, onceNetwork)
	if err == nil && len(out.TargetGroups) == 0 {
		err = noAnswer("CreateTargetGroup")
	}
	if err != nil {
		return kit.Failed(err)
	}
	arn := awssdk.ToString(out.TargetGroups[0].TargetGroupArn)
	o := c.Created(arn, stack.Tag, groupAfter(spec, out.TargetGroups[0]))
	if c.Step.Reason == plan.Replaced {
		o.Parts = emptyGroupParts(o.After)
	}
	return o
}

// emptyGroupParts returns the inherent parts of a group that replaces another one:
// without them those of the old group would stay known under the same keys.
func emptyGroupParts(group stack.Resource) []stack.Resource {
	return []stack.Resource{partIn(group, model.KindTargets, group.Proof, model.Targets{}), partIn(group, model.KindTargetAttr, group.Proof, model.Attributes{})}
}

// optionalNumber leaves values that are not set to AWS.
func optionalNumber(n int32) *int32 {
	if n == 0 {
		return nil
	}
	return &n
}

// checkPath: a TCP check has none, and AWS refuses one.
func checkPath(t model.TargetGroup) *string {
	if t.CheckProtocol == string(elbv2types.ProtocolEnumTcp) {
		return nil
	}
	return optionalText(t.CheckPath)
}

// healthMatcher returns the HTTP codes that count as healthy: a TCP check has none, and
// AWS refuses them there.
func healthMatcher(t model.TargetGroup) *elbv2types.Matcher {
	if t.Codes == "" || t.CheckProtocol == string(elbv2types.ProtocolEnumTcp) {
		return nil
	}
	return &elbv2types.Matcher{HttpCode: &t.Codes}
}

// codesOf are the HTTP codes that count as healthy, as AWS reports them; empty for a TCP
// check, and for the defaults of AWS.
func codesOf(t elbv2types.TargetGroup) string {
	if t.Matcher == nil || awssdk.ToString(t.Matcher.HttpCode) == model.DefaultCodes {
		return ""
	}
	return awssdk.ToString(t.Matcher.HttpCode)
}

// groupAfter is a group with what AWS answered about its health check, and without tags
// that no read shows.
func groupAfter(t model.TargetGroup, answer elbv2types.TargetGroup) model.TargetGroup {
	t.Tags = t.Tags.Shown()
	t.CheckProtocol = string(answer.HealthCheckProtocol)
	t.CheckPort = awssdk.ToString(answer.HealthCheckPort)
	t.CheckPath = awssdk.ToString(answer.HealthCheckPath)
	t.CheckInterval = awssdk.ToInt32(answer.HealthCheckIntervalSeconds)
	t.CheckTimeout = answer.HealthCheckTimeoutSeconds
	t.Healthy = awssdk.ToInt32(answer.HealthyThresholdCount)
	t.Unhealthy = awssdk.ToInt32(answer.UnhealthyThresholdCount)
	t.Codes = codesOf(answer)
	return t
}

// updateTargetGroup writes the health check, the only mutable part of a group.
func updateTargetGroup(c *change, spec model.TargetGroup) plan.Outcome {
	in := &elbv2.ModifyTargetGroupInput{
		TargetGroupArn:      awssdk.String(c.ID()),
		HealthCheckProtocol: elbv2types.ProtocolEnum(spec.CheckProtocol), HealthCheckPort: optionalText(spec.CheckPort), HealthCheckPath: checkPath(spec),
		HealthCheckIntervalSeconds: optionalNumber(spec.CheckInterval), HealthCheckTimeoutSeconds: spec.CheckTimeout,
		HealthyThresholdCount: optionalNumber(spec.Healthy), UnhealthyThresholdCount: optionalNumber(spec.Unhealthy), Matcher: healthMatcher(spec),
	}
	out, err := writeCall(c.Ctx, c.Session.network.ModifyTargetGroup, in)
	if err != nil {
		return kit.Failed(err)
	}
	if len(out.TargetGroups) > 0 {
		spec = groupAfter(spec, out.TargetGroups[0])
	}
	return c.Updated(spec, nil)
}

// deleteTargetGroup answers InUse for the seconds in which a listener that has
// just been switched, or a load balancer that has just gone, still holds it.
func deleteTargetGroup(c *change) plan.Outcome {
	_, err := writeCall(c.Ctx, c.Session.network.DeleteTargetGroup, &elbv2.DeleteTargetGroupInput{TargetGroupArn: awssdk.String(c.ID())})
	return kit.Deleted(err)
}

func registerTargets(c *change) plan.Outcome {
	group := c.ID()
	call := func(targets []model.Target) error {
		_, err := writeCall(c.Ctx, c.Session.network.RegisterTargets, &elbv2.RegisterTargetsInput{TargetGroupArn: &group, Targets: wireTargets(targets)})
		return err
	}
	add, _ := plan.Members[model.Target](c.Step)
	if err := noteAdded(c, add); err != nil {
		return kit.Failed(err)
	}
	if podTargets(add) {
		return c.Members(changePods(add, among[model.Target]{&c.Session.facts.suspects, group, targetText}, call))
	}
	o := addMachines(c, group, targetID, call)
	if slices.ContainsFunc(o.Refused, func(r plan.Refusal) bool { return fault.Is(r.Err, fault.Quota) }) {
		learnTargetQuota(c, group)
	}
	return o
}

// learnTargetQuota counts what is registered where AWS takes no more, so that the next
// plan chooses among the instances.
func learnTargetQuota(c *change, group string) {
	out, err := readCall(c.Ctx, c.Session.network.DescribeTargetHealth, &elbv2.DescribeTargetHealthInput{TargetGroupArn: &group})
	if err != nil {
		return // the next refusal tells
	}
	zones := c.Session.facts.zones()
	inGroup, inZones := 0, map[string]int{}
	for _, d := range out.TargetHealthDescriptions {
		if d.Target != nil && (d.TargetHealth == nil || !isDraining(*d.TargetHealth)) {
			inGroup++
			inZones[zones[awssdk.ToString(d.Target.Id)]]++
		}
	}
	c.Session.facts.learnTargets(inGroup, inZones)
}

func deregisterTargets(c *change) plan.Outcome {
	group := c.ID()
	call := func(targets []model.Target) error {
		_, err := writeCall(c.Ctx, c.Session.network.DeregisterTargets, &elbv2.DeregisterTargetsInput{TargetGroupArn: &group, Targets: wireTargets(targets)})
		return err
	}
	_, remove := plan.Members[model.Target](c.Step)
	if ownsAlone(c) {
		return deregisterOwn(c, remove, call)
	}
	if podTargets(remove) {
		return removePods(c, remove, call)
	}
	return removeMachines(c, remove, targetID, call)
}

func removePods(c *change, remove []model.Target, call func([]model.Target) error) plan.Outcome {
	refused, err := changePods(remove, among[model.Target]{name: targetText}, call)
	return c.Removed(refused, err)
}

func targetID(t model.Target) string { return t.ID }

func targetText(t model.Target) string {
	return fmt.Sprint(t.ID, " ", t.Port, " ", t.Zone, " ", t.Server)
}

func wireTargets(targets []model.Target) []elbv2types.TargetDescription {
	out := make([]elbv2types.TargetDescription, 0, len(targets))
	for _, t := range targets {
		out = append(out, elbv2types.TargetDescription{Id: awssdk.String(t.ID), Port: awssdk.Int32(t.Port), AvailabilityZone: optionalText(t.Zone), QuicServerId: optionalText(t.Server)})
	}
	return out
}
