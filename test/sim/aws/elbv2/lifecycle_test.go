package elbv2_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/aws/elbv2"
)

func TestTerminatedInstancesLeaveTheirGroup(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	tg := r.group("g", types.ProtocolEnumTcp)
	r.listen(r.nlb("web"), 80, tg)
	targets := []types.TargetDescription{{Id: aws.String("i-0a1")}, {Id: aws.String("i-0b2")}}
	if _, err := r.RegisterTargets(t.Context(), &v2.RegisterTargetsInput{TargetGroupArn: tg.TargetGroupArn, Targets: targets}); err != nil {
		t.Fatal(err)
	}
	in := r.world.Instances["i-0a1"]
	in.State = "stopped"
	r.world.Instances["i-0a1"] = in
	if diff := cmp.Diff([]string{"i-0a1 unused Target.InvalidState", "i-0b2 healthy"}, r.health(tg)); diff != "" {
		t.Errorf("stopped (-want +got)\n%s", diff)
	}
	in.State = "terminated"
	r.world.Instances["i-0a1"] = in
	if diff := cmp.Diff([]string{"i-0b2 healthy"}, r.health(tg)); diff != "" {
		t.Errorf("terminated (-want +got)\n%s", diff)
	}
	out, err := r.DescribeTargetHealth(t.Context(), &v2.DescribeTargetHealthInput{TargetGroupArn: tg.TargetGroupArn, Targets: targets[:1]})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.TargetHealthDescriptions[0].TargetHealth; got.State != types.TargetHealthStateEnumDraining ||
		got.Reason != types.TargetHealthReasonEnumDeregistrationInProgress {
		t.Errorf("asked for by name: %s %s, want draining Target.DeregistrationInProgress", got.State, got.Reason)
	}
	_, err = r.RegisterTargets(t.Context(), &v2.RegisterTargetsInput{TargetGroupArn: tg.TargetGroupArn, Targets: targets[:1]})
	expectCode(t, "registered again", "InvalidTarget", err)
}

func TestLoadBalancersOfAGroupAreShownByDescribeOnly(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	tg := r.group("g", types.ProtocolEnumTcp)
	if tg.LoadBalancerArns != nil {
		t.Errorf("creation says load balancers %v, want no such list", tg.LoadBalancerArns)
	}
	out, err := r.DescribeTargetGroups(t.Context(), &v2.DescribeTargetGroupsInput{})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.TargetGroups[0].LoadBalancerArns; got == nil || len(got) != 0 {
		t.Errorf("description says load balancers %#v, want an empty list", got)
	}
}

// The type is checked before its attributes.
func TestStickinessTypeComesFirst(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	_, err := r.ModifyTargetGroupAttributes(t.Context(), &v2.ModifyTargetGroupAttributesInput{
		TargetGroupArn: r.group("g", types.ProtocolEnumTcp).TargetGroupArn,
		Attributes: []types.TargetGroupAttribute{
			{Key: aws.String("stickiness.app_cookie.cookie_name"), Value: aws.String("session")},
			{Key: aws.String("stickiness.type"), Value: aws.String("app_cookie")},
		}})
	expectCode(t, "app_cookie", "InvalidConfigurationRequest", err)
	if err != nil && !strings.Contains(err.Error(), "Stickiness type 'app_cookie'") {
		t.Errorf("%v, want the type as the cause", err)
	}
}

func TestConstraintsOfTheModel(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	tg, lb := r.group("g", types.ProtocolEnumTcp), r.nlb("web")
	_, err := r.RemoveTags(t.Context(), &v2.RemoveTagsInput{ResourceArns: []string{*lb.LoadBalancerArn}, TagKeys: []string{"bad|key"}})
	expectCode(t, "tag key", "ValidationError", err)
	_, err = r.DescribeTargetHealth(t.Context(), &v2.DescribeTargetHealthInput{TargetGroupArn: tg.TargetGroupArn, Include: []types.DescribeTargetHealthInputIncludeEnum{"Everything"}})
	expectCode(t, "included", "ValidationError", err)
}

// TestGroupRelease: a target group that a listener has just left cannot be deleted yet;
// one that no listener ever had can.
func TestGroupRelease(t *testing.T) {
	r := newRig(t, elbv2.Options{Delays: elbv2.Delays{GroupRelease: 20 * time.Second}})
	lb, tg, spare := r.nlb("web"), r.group("tg", types.ProtocolEnumTcp), r.group("spare", types.ProtocolEnumTcp)
	r.listen(lb, 80, tg)
	remove := func(what, code string, group types.TargetGroup) {
		t.Helper()
		_, err := r.DeleteTargetGroup(t.Context(), &v2.DeleteTargetGroupInput{TargetGroupArn: group.TargetGroupArn})
		expectCode(t, what, code, err)
	}
	remove("never used", "", spare)
	if _, err := r.DeleteLoadBalancer(t.Context(), &v2.DeleteLoadBalancerInput{LoadBalancerArn: lb.LoadBalancerArn}); err != nil {
		t.Fatal(err)
	}
	remove("just left", "ResourceInUse", tg)
	r.clock.SetTime(start.Add(20 * time.Second))
	remove("later", "", tg)
}
