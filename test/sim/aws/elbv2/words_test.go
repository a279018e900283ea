package elbv2_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/aws/elbv2"
)

// The words are those of the real service. Source: getmoto/moto:tests/test_elbv2/test_elbv2_target_groups.py.
func TestStickinessTypes(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	groups := map[types.ProtocolEnum]*types.TargetGroup{}
	for _, p := range []types.ProtocolEnum{types.ProtocolEnumTcp} {
		tg := r.group("tg-"+string(p), p)
		groups[p] = &tg
	}
	for _, tc := range []struct {
		protocol        types.ProtocolEnum
		kind, code, say string
	}{
		{types.ProtocolEnumTcp, "source_ip", "", ""},
		{types.ProtocolEnumTcp, "lb_cookie", "InvalidConfigurationRequest", "Stickiness type 'lb_cookie' is not supported for target groups with the TCP protocol"},
		{types.ProtocolEnumTcp, "source_ip_dest_ip", "ValidationError", "'Stickiness type' must be one of [app_cookie, lb_cookie, source_ip]"},
	} {
		_, err := r.ModifyTargetGroupAttributes(t.Context(), &v2.ModifyTargetGroupAttributesInput{
			TargetGroupArn: groups[tc.protocol].TargetGroupArn,
			Attributes:     []types.TargetGroupAttribute{{Key: aws.String("stickiness.type"), Value: &tc.kind}},
		})
		got := [2]string{}
		if e := smithy.APIError(nil); errors.As(err, &e) {
			got = [2]string{e.ErrorCode(), e.ErrorMessage()}
		}
		if diff := cmp.Diff([2]string{tc.code, tc.say}, got); diff != "" {
			t.Errorf("%s on %s (-want +got)\n%s", tc.kind, tc.protocol, diff)
		}
	}
}

// Health of a target that was never registered is unused, also when there is no
// such instance. Source: getmoto/moto:tests/test_elbv2/test_elbv2_target_health.py, verified there against AWS.
func TestHealthOfStrangeTarget(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	tg := r.group("tg", types.ProtocolEnumTcp)
	out, err := r.DescribeTargetHealth(t.Context(), &v2.DescribeTargetHealthInput{
		TargetGroupArn: tg.TargetGroupArn, Targets: []types.TargetDescription{{Id: aws.String("i-12345678901234567")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := out.TargetHealthDescriptions[0].TargetHealth
	got := []string{string(h.State), string(h.Reason), aws.ToString(h.Description)}
	want := []string{"unused", "Target.NotRegistered", "Target is not registered to the target group"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("health (-want +got)\n%s", diff)
	}
}
