package wire

import (
	"fmt"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
)

const (
	// checksSlack is how much longer than its checks should take the first healthy target of
	// a group is waited for: a Network Load Balancer has been seen to take about two minutes
	// for new targets. Source: aws/containers-roadmap#469.
	checksSlack = 2 * time.Minute
	// healthPause is how long to wait before the health is asked for again.
	healthPause = 5 * time.Second
	// defaultInterval and defaultThreshold are those of checks of Network Load Balancers.
	// Source: API reference, CreateTargetGroup.
	defaultInterval, defaultThreshold = 30, 5
)

// notInUse is why AWS does not check a target. Source: API reference, TargetHealth.
const notInUse = elbv2types.TargetHealthReasonEnumNotInUse

// awaitHealthy ends with a Pending fault while a listener is about to leave a target
// group for one of which no target is healthy yet. Where none is although all were
// checked, or the time is over, the listener switches, and manual names what the user
// has to check.
func awaitHealthy(c *change, spec model.Listener) (manual string, err error) {
	found, _ := c.Step.Found.(model.Listener)
	if !found.LeavesFor(spec) {
		return "", nil
	}
	group := c.Batch.ID(c.Step, spec.TargetGroup)
	out, err := readCall(c.Ctx, c.Session.network.DescribeTargetHealth, &elbv2.DescribeTargetHealthInput{TargetGroupArn: &group})
	if err != nil {
		return "", err
	}
	awaited := c.Session.facts.awaited
	healthy, checking := firstHealth(out.TargetHealthDescriptions)
	if healthy || len(out.TargetHealthDescriptions) == 0 {
		awaited.Forget(group)
		return "", nil
	}
	until, ok := awaited.Get(group, 0)
	if !ok {
		until = c.Session.now().Add(checksTime(c, group))
		awaited.Set(group, until)
	}
	if checking && c.Session.now().Before(until) {
		return "", &fault.Fault{Meaning: fault.Pending, After: healthPause, Text: fmt.Sprintf(
			"no target of target group %s is healthy yet; the listener of port %d sends to the old target group until one is, or until %s",
			group, spec.Port, until.UTC().Format(time.RFC3339))}
	}
	awaited.Forget(group)
	return fmt.Sprintf("the listener of port %d was switched to target group %s, although no target of it is healthy: see why its health check fails", spec.Port, group), nil
}

// firstHealth reports whether a target is healthy, and whether the first checks of any
// are still running.
func firstHealth(list []elbv2types.TargetHealthDescription) (healthy, checking bool) {
	for _, d := range list {
		if d.TargetHealth == nil {
			continue
		}
		state := d.TargetHealth.State
		healthy = healthy || state == elbv2types.TargetHealthStateEnumHealthy
		// Of a group that the listener has just taken targets are unused for a moment.
		unused := state == elbv2types.TargetHealthStateEnumUnused && d.TargetHealth.Reason == notInUse
		checking = checking || unused || state == elbv2types.TargetHealthStateEnumInitial
	}
	return healthy, checking
}

// checksTime is how long the first checks of a group may take.
func checksTime(c *change, group string) time.Duration {
	interval, threshold := int32(defaultInterval), int32(defaultThreshold)
	out, err := readCall(c.Ctx, c.Session.network.DescribeTargetGroups, &elbv2.DescribeTargetGroupsInput{TargetGroupArns: []string{group}})
	if err == nil && len(out.TargetGroups) == 1 {
		interval, threshold = awssdk.ToInt32(out.TargetGroups[0].HealthCheckIntervalSeconds), awssdk.ToInt32(out.TargetGroups[0].HealthyThresholdCount)
	}
	return time.Duration(interval)*time.Duration(threshold)*time.Second + checksSlack
}

// withoutWeights tells that AWS does not take several groups, where they are not possible.
func withoutWeights(err error) bool { return fault.Is(err, fault.Invalid) }
