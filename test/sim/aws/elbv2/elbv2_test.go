package elbv2_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit/lbtest"
	"github.com/berth-lb/berth/test/sim/aws/elbv2"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type rig struct {
	*v2.Client
	t     *testing.T
	api   *elbv2.API
	world *lbtest.World
	clock *testclock.FakePassiveClock
}

func newRig(t *testing.T, opt elbv2.Options) *rig {
	t.Helper()
	r := &rig{t: t, world: lbtest.NewWorld(), clock: testclock.NewFakePassiveClock(start)}
	opt.Clock = r.clock
	r.api = elbv2.New(r.world, opt)
	r.Client = v2.New(v2.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(lbtest.Serve(t, r.api.Service(), r.clock.Now)),
		Credentials:  credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
	return r
}

func (r *rig) nlb(name string, groups ...string) types.LoadBalancer {
	r.t.Helper()
	out, err := r.CreateLoadBalancer(r.t.Context(), &v2.CreateLoadBalancerInput{
		Name: aws.String(name), Type: types.LoadBalancerTypeEnumNetwork, Subnets: []string{"subnet-a", "subnet-b"}, SecurityGroups: groups,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.LoadBalancers[0]
}

func (r *rig) group(name string, protocol types.ProtocolEnum) types.TargetGroup {
	r.t.Helper()
	out, err := r.CreateTargetGroup(r.t.Context(), &v2.CreateTargetGroupInput{
		Name: aws.String(name), Protocol: protocol, Port: aws.Int32(30080), VpcId: aws.String("vpc-1")})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.TargetGroups[0]
}

func (r *rig) listen(lb types.LoadBalancer, port int32, tg types.TargetGroup) types.Listener {
	r.t.Helper()
	out, err := r.CreateListener(r.t.Context(), &v2.CreateListenerInput{
		LoadBalancerArn: lb.LoadBalancerArn, Port: aws.Int32(port), Protocol: tg.Protocol,
		DefaultActions: []types.Action{{Type: types.ActionTypeEnumForward, TargetGroupArn: tg.TargetGroupArn}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.Listeners[0]
}

func (r *rig) health(tg types.TargetGroup) []string {
	r.t.Helper()
	out, err := r.DescribeTargetHealth(r.t.Context(), &v2.DescribeTargetHealthInput{TargetGroupArn: tg.TargetGroupArn})
	if err != nil {
		r.t.Fatal(err)
	}
	var got []string
	for _, d := range out.TargetHealthDescriptions {
		got = append(got, strings.TrimSpace(*d.Target.Id+" "+string(d.TargetHealth.State)+" "+string(d.TargetHealth.Reason)))
	}
	return got
}

func errorCode(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	return ""
}

func expectCode(t *testing.T, what, want string, err error) {
	t.Helper()
	if got := errorCode(err); got != want || want == "" && err != nil {
		t.Errorf("%s: want code %q, got %v", what, want, err)
	}
}

func TestNetworkLoadBalancer(t *testing.T) {
	r := newRig(t, elbv2.Options{Delays: elbv2.Delays{Provisioning: time.Minute}})
	lb := r.nlb("web")
	id := strings.TrimPrefix(aws.ToString(lb.LoadBalancerArn), "arn:aws:elasticloadbalancing:us-east-1:000000000000:loadbalancer/net/web/")
	if len(id) != 16 {
		t.Fatalf("ARN %q", *lb.LoadBalancerArn)
	}
	want := types.LoadBalancer{
		LoadBalancerArn:              lb.LoadBalancerArn,
		DNSName:                      aws.String("web-" + id + ".elb.us-east-1.amazonaws.com"),
		CanonicalHostedZoneId:        aws.String("Z26RNL4JYFTOTI"),
		CreatedTime:                  aws.Time(start),
		LoadBalancerName:             aws.String("web"),
		Scheme:                       types.LoadBalancerSchemeEnumInternetFacing,
		VpcId:                        aws.String("vpc-1"),
		State:                        &types.LoadBalancerState{Code: types.LoadBalancerStateEnumProvisioning},
		Type:                         types.LoadBalancerTypeEnumNetwork,
		IpAddressType:                types.IpAddressTypeIpv4,
		EnablePrefixForIpv6SourceNat: types.EnablePrefixForIpv6SourceNatEnumOff,
		AvailabilityZones: []types.AvailabilityZone{
			{ZoneName: aws.String("us-east-1a"), SubnetId: aws.String("subnet-a")},
			{ZoneName: aws.String("us-east-1b"), SubnetId: aws.String("subnet-b")},
		},
	}
	ignore := cmpopts.IgnoreUnexported(types.LoadBalancer{}, types.LoadBalancerState{}, types.AvailabilityZone{})
	if diff := cmp.Diff(want, lb, ignore, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("load balancer (-want +got)\n%s", diff)
	}
	r.clock.SetTime(start.Add(time.Minute))
	out, err := r.DescribeLoadBalancers(t.Context(), &v2.DescribeLoadBalancersInput{Names: []string{"web"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.LoadBalancers[0].State.Code; got != types.LoadBalancerStateEnumActive {
		t.Errorf("state %s after the delay", got)
	}
	attrs, err := r.DescribeLoadBalancerAttributes(t.Context(), &v2.DescribeLoadBalancerAttributesInput{LoadBalancerArn: lb.LoadBalancerArn})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range attrs.Attributes {
		got[*a.Key] = *a.Value
	}
	if diff := cmp.Diff(map[string]string{
		"deletion_protection.enabled": "false", "load_balancing.cross_zone.enabled": "false",
		"access_logs.s3.enabled": "false", "access_logs.s3.bucket": "", "access_logs.s3.prefix": "",
		"dns_record.client_routing_policy": "any_availability_zone", "zonal_shift.config.enabled": "false",
		"ipv6.deny_all_igw_traffic": "false", "secondary_ips.auto_assigned.per_subnet": "0",
	}, got); diff != "" {
		t.Errorf("attributes (-want +got)\n%s", diff)
	}
}

func TestSameCreationReturnsTheSame(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	lb, tg := r.nlb("web", "sg-1"), r.group("tg", types.ProtocolEnumTcp)
	if again := r.nlb("web", "sg-1"); *again.LoadBalancerArn != *lb.LoadBalancerArn {
		t.Errorf("second load balancer %s", *again.LoadBalancerArn)
	}
	if again := r.group("tg", types.ProtocolEnumTcp); *again.TargetGroupArn != *tg.TargetGroupArn {
		t.Errorf("second target group %s", *again.TargetGroupArn)
	}
	if a, b := r.listen(lb, 80, tg), r.listen(lb, 80, tg); *a.ListenerArn != *b.ListenerArn {
		t.Errorf("second listener %s", *b.ListenerArn)
	}
	_, err := r.CreateLoadBalancer(t.Context(), &v2.CreateLoadBalancerInput{Name: aws.String("web"), Type: types.LoadBalancerTypeEnumNetwork, Subnets: []string{"subnet-a"}})
	expectCode(t, "load balancer", "DuplicateLoadBalancerName", err)
	_, err = r.CreateTargetGroup(t.Context(), &v2.CreateTargetGroupInput{Name: aws.String("tg"), Protocol: types.ProtocolEnumUdp, Port: aws.Int32(30080), VpcId: aws.String("vpc-1")})
	expectCode(t, "target group", "DuplicateTargetGroupName", err)
	other := r.group("other", types.ProtocolEnumTcp)
	_, err = r.CreateListener(t.Context(), &v2.CreateListenerInput{LoadBalancerArn: lb.LoadBalancerArn, Port: aws.Int32(80), Protocol: types.ProtocolEnumTcp,
		DefaultActions: []types.Action{{Type: types.ActionTypeEnumForward, TargetGroupArn: other.TargetGroupArn}}})
	expectCode(t, "listener", "DuplicateListener", err)
}

func TestTargetGroupDefaults(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	got := r.group("tg", types.ProtocolEnumTcp)
	want := types.TargetGroup{
		TargetGroupArn: got.TargetGroupArn, TargetGroupName: aws.String("tg"), Protocol: types.ProtocolEnumTcp, Port: aws.Int32(30080),
		VpcId: aws.String("vpc-1"), TargetType: types.TargetTypeEnumInstance, IpAddressType: types.TargetGroupIpAddressTypeEnumIpv4,
		HealthCheckEnabled: aws.Bool(true), HealthCheckProtocol: types.ProtocolEnumTcp, HealthCheckPort: aws.String("traffic-port"),
		HealthCheckIntervalSeconds: aws.Int32(30), HealthCheckTimeoutSeconds: aws.Int32(10), HealthyThresholdCount: aws.Int32(5), UnhealthyThresholdCount: aws.Int32(2),
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(types.TargetGroup{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("target group (-want +got)\n%s", diff)
	}
	out, err := r.ModifyTargetGroup(t.Context(), &v2.ModifyTargetGroupInput{TargetGroupArn: got.TargetGroupArn,
		HealthCheckProtocol: types.ProtocolEnumHttp, HealthCheckPath: aws.String("/healthz"), HealthCheckPort: aws.String("32000")})
	if err != nil {
		t.Fatal(err)
	}
	tg := out.TargetGroups[0]
	if *tg.HealthCheckPath != "/healthz" || *tg.HealthCheckPort != "32000" || *tg.Matcher.HttpCode != "200-399" {
		t.Errorf("modified: %s %s %s", *tg.HealthCheckPath, *tg.HealthCheckPort, *tg.Matcher.HttpCode)
	}
	attrs, err := r.DescribeTargetGroupAttributes(t.Context(), &v2.DescribeTargetGroupAttributesInput{TargetGroupArn: tg.TargetGroupArn})
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, a := range attrs.Attributes {
		have[*a.Key] = *a.Value
	}
	for key, value := range map[string]string{"deregistration_delay.timeout_seconds": "300", "preserve_client_ip.enabled": "true",
		"proxy_protocol_v2.enabled": "false", "stickiness.type": "source_ip", "deregistration_delay.connection_termination.enabled": "false",
		"target_health_state.unhealthy.connection_termination.enabled": "true"} {
		if have[key] != value {
			t.Errorf("%s is %q, want %q", key, have[key], value)
		}
	}
}

func TestForwardActionComesBackInBothForms(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	lb, tg := r.nlb("web"), r.group("tg", types.ProtocolEnumTcp)
	out, err := r.CreateListener(t.Context(), &v2.CreateListenerInput{LoadBalancerArn: lb.LoadBalancerArn, Port: aws.Int32(80), Protocol: types.ProtocolEnumTcp,
		DefaultActions: []types.Action{{Type: types.ActionTypeEnumForward, Order: aws.Int32(1),
			ForwardConfig: &types.ForwardActionConfig{TargetGroups: []types.TargetGroupTuple{{TargetGroupArn: tg.TargetGroupArn}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []types.Listener{out.Listeners[0], r.listen(lb, 81, tg)} {
		a := l.DefaultActions[0]
		if aws.ToString(a.TargetGroupArn) != *tg.TargetGroupArn || a.ForwardConfig == nil || *a.ForwardConfig.TargetGroups[0].TargetGroupArn != *tg.TargetGroupArn {
			t.Errorf("port %d: %+v", *l.Port, a)
		}
	}
	rules, err := r.DescribeRules(t.Context(), &v2.DescribeRulesInput{ListenerArn: out.Listeners[0].ListenerArn})
	if err != nil {
		t.Fatal(err)
	}
	if len(rules.Rules) != 1 || !*rules.Rules[0].IsDefault || *rules.Rules[0].Priority != "default" {
		t.Errorf("rules %+v", rules.Rules)
	}
	tags, err := r.DescribeTags(t.Context(), &v2.DescribeTagsInput{ResourceArns: []string{*rules.Rules[0].RuleArn}})
	if err != nil || len(tags.TagDescriptions) != 1 || len(tags.TagDescriptions[0].Tags) != 0 {
		t.Errorf("tags of the default rule: %+v %v", tags, err)
	}
	groups, err := r.DescribeTargetGroups(t.Context(), &v2.DescribeTargetGroupsInput{LoadBalancerArn: lb.LoadBalancerArn})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{*lb.LoadBalancerArn}, groups.TargetGroups[0].LoadBalancerArns); diff != "" {
		t.Errorf("load balancers of the group (-want +got)\n%s", diff)
	}
}

func TestTargetHealth(t *testing.T) {
	r := newRig(t, elbv2.Options{Delays: elbv2.Delays{Healthy: 10 * time.Second, Draining: 20 * time.Second}})
	lb, tg := r.nlb("web"), r.group("tg", types.ProtocolEnumTcp)
	targets := []types.TargetDescription{{Id: aws.String("i-0a1"), Port: aws.Int32(30080)}, {Id: aws.String("i-0c3"), Port: aws.Int32(30080)}}
	if _, err := r.RegisterTargets(t.Context(), &v2.RegisterTargetsInput{TargetGroupArn: tg.TargetGroupArn, Targets: targets}); err != nil {
		t.Fatal(err)
	}
	check := func(when string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, r.health(tg)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", when, diff)
		}
	}
	check("unattached", "i-0a1 unused Target.NotInUse", "i-0c3 unused Target.NotInUse")
	r.clock.SetTime(start.Add(time.Hour))
	r.listen(lb, 80, tg)
	check("fresh", "i-0a1 initial Elb.RegistrationInProgress", "i-0c3 unused Target.NotInUse")
	r.clock.SetTime(start.Add(time.Hour + 10*time.Second))
	check("later", "i-0a1 healthy", "i-0c3 unused Target.NotInUse")
	if _, err := r.DeregisterTargets(t.Context(), &v2.DeregisterTargetsInput{TargetGroupArn: tg.TargetGroupArn, Targets: []types.TargetDescription{{Id: aws.String("i-0a1")}}}); err != nil {
		t.Fatal(err)
	}
	check("draining", "i-0a1 draining Target.DeregistrationInProgress", "i-0c3 unused Target.NotInUse")
	r.clock.SetTime(start.Add(time.Hour + 30*time.Second))
	check("drained", "i-0c3 unused Target.NotInUse")
}

func TestDeletion(t *testing.T) {
	r := newRig(t, elbv2.Options{Delays: elbv2.Delays{Release: time.Minute}})
	lb, tg := r.nlb("web", "sg-1"), r.group("tg", types.ProtocolEnumTcp)
	r.listen(lb, 80, tg)
	protect := func(on string) {
		t.Helper()
		out, err := r.ModifyLoadBalancerAttributes(t.Context(), &v2.ModifyLoadBalancerAttributesInput{LoadBalancerArn: lb.LoadBalancerArn,
			Attributes: []types.LoadBalancerAttribute{{Key: aws.String("deletion_protection.enabled"), Value: aws.String(on)}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Attributes) != 9 {
			t.Errorf("want all 9 attributes back, got %d", len(out.Attributes))
		}
	}
	protect("true")
	_, err := r.DeleteLoadBalancer(t.Context(), &v2.DeleteLoadBalancerInput{LoadBalancerArn: lb.LoadBalancerArn})
	expectCode(t, "protected", "OperationNotPermitted", err)
	protect("false")
	_, err = r.DeleteTargetGroup(t.Context(), &v2.DeleteTargetGroupInput{TargetGroupArn: tg.TargetGroupArn})
	expectCode(t, "group in use", "ResourceInUse", err)
	for range 2 {
		_, err = r.DeleteLoadBalancer(t.Context(), &v2.DeleteLoadBalancerInput{LoadBalancerArn: lb.LoadBalancerArn})
		expectCode(t, "delete", "", err)
	}
	if diff := cmp.Diff([]string{"load balancer web"}, r.api.GroupUsers("sg-1")); diff != "" {
		t.Errorf("users of the group (-want +got)\n%s", diff)
	}
	r.clock.SetTime(start.Add(time.Minute))
	if got := r.api.GroupUsers("sg-1"); got != nil {
		t.Errorf("released group used by %v", got)
	}
	for range 2 {
		_, err = r.DeleteTargetGroup(t.Context(), &v2.DeleteTargetGroupInput{TargetGroupArn: tg.TargetGroupArn})
		expectCode(t, "delete group", "", err)
	}
	_, err = r.DescribeLoadBalancers(t.Context(), &v2.DescribeLoadBalancersInput{LoadBalancerArns: []string{*lb.LoadBalancerArn}})
	expectCode(t, "describe", "LoadBalancerNotFound", err)
}
