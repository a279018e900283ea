package elb_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/test/sim/aws/elb"
	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit/lbtest"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type rig struct {
	*classic.Client
	api   *elb.API
	world *lbtest.World
	clock *testclock.FakePassiveClock
}

func newRig(t *testing.T, opt elb.Options) *rig {
	t.Helper()
	r := &rig{world: lbtest.NewWorld(), clock: testclock.NewFakePassiveClock(start)}
	opt.Clock = r.clock
	r.api = elb.New(r.world, opt)
	r.Client = classic.New(classic.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(lbtest.Serve(t, r.api.Service(), r.clock.Now)),
		Credentials:  credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
	return r
}

func (r *rig) create(t *testing.T, name string) {
	t.Helper()
	_, err := r.CreateLoadBalancer(t.Context(), &classic.CreateLoadBalancerInput{
		LoadBalancerName: aws.String(name),
		Listeners:        []types.Listener{{Protocol: aws.String("tcp"), LoadBalancerPort: 80, InstanceProtocol: aws.String("tcp"), InstancePort: aws.Int32(30080)}},
		Subnets:          []string{"subnet-a", "subnet-b"},
		SecurityGroups:   []string{"sg-1"},
		Tags:             []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func errorCode(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	return ""
}

func TestCreatedLoadBalancer(t *testing.T) {
	r := newRig(t, elb.Options{})
	r.create(t, "web")
	out, err := r.DescribeLoadBalancers(t.Context(), &classic.DescribeLoadBalancersInput{LoadBalancerNames: []string{"web"}})
	if err != nil {
		t.Fatal(err)
	}
	lb := out.LoadBalancerDescriptions[0]
	dns := aws.ToString(lb.DNSName)
	if !strings.HasPrefix(dns, "web-") || !strings.HasSuffix(dns, ".us-east-1.elb.amazonaws.com") {
		t.Errorf("DNS name %q", dns)
	}
	want := types.LoadBalancerDescription{
		LoadBalancerName:          aws.String("web"),
		DNSName:                   aws.String(dns),
		CanonicalHostedZoneName:   aws.String(dns),
		CanonicalHostedZoneNameID: aws.String("Z35SXDOTRQ7X7K"),
		CreatedTime:               aws.Time(start),
		Scheme:                    aws.String("internet-facing"),
		VPCId:                     aws.String("vpc-1"),
		Subnets:                   []string{"subnet-a", "subnet-b"},
		AvailabilityZones:         []string{"us-east-1a", "us-east-1b"},
		SecurityGroups:            []string{"sg-1"},
		SourceSecurityGroup:       &types.SourceSecurityGroup{GroupName: aws.String("group-1"), OwnerAlias: aws.String("000000000000")},
		HealthCheck: &types.HealthCheck{Target: aws.String("TCP:30080"), Interval: aws.Int32(30), Timeout: aws.Int32(5),
			UnhealthyThreshold: aws.Int32(2), HealthyThreshold: aws.Int32(10)},
		ListenerDescriptions: []types.ListenerDescription{{
			Listener: &types.Listener{Protocol: aws.String("TCP"), LoadBalancerPort: 80, InstanceProtocol: aws.String("TCP"), InstancePort: aws.Int32(30080)},
		}},
		Policies: &types.Policies{},
	}
	ignore := cmpopts.IgnoreUnexported(types.LoadBalancerDescription{}, types.HealthCheck{}, types.Listener{}, types.ListenerDescription{},
		types.Policies{}, types.SourceSecurityGroup{})
	if diff := cmp.Diff(want, lb, ignore, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("description (-want +got)\n%s", diff)
	}
	attrs, err := r.DescribeLoadBalancerAttributes(t.Context(), &classic.DescribeLoadBalancerAttributesInput{LoadBalancerName: aws.String("web")})
	if err != nil {
		t.Fatal(err)
	}
	wantAttrs := &types.LoadBalancerAttributes{
		AccessLog:              &types.AccessLog{},
		ConnectionDraining:     &types.ConnectionDraining{Timeout: aws.Int32(300)},
		ConnectionSettings:     &types.ConnectionSettings{IdleTimeout: aws.Int32(60)},
		CrossZoneLoadBalancing: &types.CrossZoneLoadBalancing{},
		AdditionalAttributes:   []types.AdditionalAttribute{{Key: aws.String("elb.http.desyncmitigationmode"), Value: aws.String("defensive")}},
	}
	ignore = cmpopts.IgnoreUnexported(types.LoadBalancerAttributes{}, types.AccessLog{}, types.ConnectionDraining{}, types.ConnectionSettings{},
		types.CrossZoneLoadBalancing{}, types.AdditionalAttribute{})
	if diff := cmp.Diff(wantAttrs, attrs.LoadBalancerAttributes, ignore); diff != "" {
		t.Errorf("attributes (-want +got)\n%s", diff)
	}
}

func TestProxyAndSSLPolicies(t *testing.T) {
	cert := "arn:aws:acm:us-east-1:000000000000:certificate/1"
	r := newRig(t, elb.Options{Options: lbkit.Options{Certificates: []string{cert}}})
	r.create(t, "web")
	if _, err := r.CreateLoadBalancerListeners(t.Context(), &classic.CreateLoadBalancerListenersInput{
		LoadBalancerName: aws.String("web"),
		Listeners:        []types.Listener{{Protocol: aws.String("ssl"), LoadBalancerPort: 443, InstancePort: aws.Int32(30443), SSLCertificateId: &cert}},
	}); err != nil {
		t.Fatal(err)
	}
	proxy := &classic.CreateLoadBalancerPolicyInput{
		LoadBalancerName: aws.String("web"), PolicyName: aws.String("proxy"), PolicyTypeName: aws.String("ProxyProtocolPolicyType"),
		PolicyAttributes: []types.PolicyAttribute{{AttributeName: aws.String("ProxyProtocol"), AttributeValue: aws.String("true")}},
	}
	for range 2 { // An equal policy passes a second time.
		if _, err := r.CreateLoadBalancerPolicy(t.Context(), proxy); err != nil {
			t.Fatal(err)
		}
	}
	proxy.PolicyAttributes[0].AttributeValue = aws.String("false")
	if _, err := r.CreateLoadBalancerPolicy(t.Context(), proxy); errorCode(err) != "DuplicatePolicyName" {
		t.Errorf("different policy: want DuplicatePolicyName, got %v", err)
	}
	set := func(names ...string) {
		t.Helper()
		if names == nil {
			names = []string{}
		}
		if _, err := r.SetLoadBalancerPoliciesForBackendServer(t.Context(), &classic.SetLoadBalancerPoliciesForBackendServerInput{
			LoadBalancerName: aws.String("web"), InstancePort: aws.Int32(30080), PolicyNames: names}); err != nil {
			t.Fatal(err)
		}
	}
	set("proxy")
	if _, err := r.CreateLoadBalancerPolicy(t.Context(), &classic.CreateLoadBalancerPolicyInput{
		LoadBalancerName: aws.String("web"), PolicyName: aws.String("tls"), PolicyTypeName: aws.String("SSLNegotiationPolicyType"),
		PolicyAttributes: []types.PolicyAttribute{{AttributeName: aws.String("Reference-Security-Policy"), AttributeValue: aws.String("ELBSecurityPolicy-TLS-1-2-2017-01")}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.SetLoadBalancerPoliciesOfListener(t.Context(), &classic.SetLoadBalancerPoliciesOfListenerInput{
		LoadBalancerName: aws.String("web"), LoadBalancerPort: 443, PolicyNames: []string{"tls"}}); err != nil {
		t.Fatal(err)
	}
	out, err := r.DescribeLoadBalancers(t.Context(), &classic.DescribeLoadBalancersInput{})
	if err != nil {
		t.Fatal(err)
	}
	lb := out.LoadBalancerDescriptions[0]
	got := map[string]any{"backends": lb.BackendServerDescriptions[0].PolicyNames, "listener": lb.ListenerDescriptions[1].PolicyNames,
		"back": aws.ToString(lb.ListenerDescriptions[1].Listener.InstanceProtocol), "others": lb.Policies.OtherPolicies}
	want := map[string]any{"backends": []string{"proxy"}, "listener": []string{"tls"}, "back": "TCP",
		"others": []string{"ELBSecurityPolicy-2016-08", "proxy", "tls"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policies (-want +got)\n%s", diff)
	}
	if _, err := r.DeleteLoadBalancerPolicy(t.Context(), &classic.DeleteLoadBalancerPolicyInput{LoadBalancerName: aws.String("web"), PolicyName: aws.String("proxy")}); errorCode(err) != "InvalidConfigurationRequest" {
		t.Errorf("policy in use: want InvalidConfigurationRequest, got %v", err)
	}
	set()
	if _, err := r.DeleteLoadBalancerPolicy(t.Context(), &classic.DeleteLoadBalancerPolicyInput{LoadBalancerName: aws.String("web"), PolicyName: aws.String("proxy")}); err != nil {
		t.Error(err)
	}
}

func TestInstances(t *testing.T) {
	r := newRig(t, elb.Options{})
	r.create(t, "web")
	ids := func(ids ...string) (out []types.Instance) {
		for _, id := range ids {
			out = append(out, types.Instance{InstanceId: aws.String(id)})
		}
		return out
	}
	if _, err := r.RegisterInstancesWithLoadBalancer(t.Context(), &classic.RegisterInstancesWithLoadBalancerInput{
		LoadBalancerName: aws.String("web"), Instances: ids("i-0a1", "i-0c3", "i-0d4")}); err != nil {
		t.Fatal(err)
	}
	out, err := r.DeregisterInstancesFromLoadBalancer(t.Context(), &classic.DeregisterInstancesFromLoadBalancerInput{
		LoadBalancerName: aws.String("web"), Instances: ids("i-0a1", "i-0d4")})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Instances) != 1 || *out.Instances[0].InstanceId != "i-0c3" {
		t.Errorf("left over: %v", out.Instances)
	}
}

func TestUsersOfNetworkObjects(t *testing.T) {
	r := newRig(t, elb.Options{ReleaseDelay: time.Minute})
	r.create(t, "web")
	want := []string{"load balancer web"}
	if diff := cmp.Diff(want, r.api.GroupUsers("sg-1")); diff != "" {
		t.Errorf("group (-want +got)\n%s", diff)
	}
	if _, err := r.ApplySecurityGroupsToLoadBalancer(t.Context(), &classic.ApplySecurityGroupsToLoadBalancerInput{
		LoadBalancerName: aws.String("web"), SecurityGroups: []string{"sg-2"}}); err != nil {
		t.Fatal(err)
	}
	if got := r.api.GroupUsers("sg-1"); got != nil {
		t.Errorf("detached group still used by %v", got)
	}
	for range 2 { // The second deletion finds nothing and succeeds.
		if _, err := r.DeleteLoadBalancer(t.Context(), &classic.DeleteLoadBalancerInput{LoadBalancerName: aws.String("web")}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, r.api.GroupUsers("sg-2")); diff != "" {
		t.Errorf("group after deletion (-want +got)\n%s", diff)
	}
	r.clock.SetTime(start.Add(time.Minute))
	if got := r.api.GroupUsers("sg-2"); got != nil {
		t.Errorf("released group still used by %v", got)
	}
}

func TestPages(t *testing.T) {
	r := newRig(t, elb.Options{})
	for _, n := range []string{"c", "a", "b"} {
		r.create(t, n)
	}
	var got []string
	pages := classic.NewDescribeLoadBalancersPaginator(r.Client, &classic.DescribeLoadBalancersInput{PageSize: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, lb := range page.LoadBalancerDescriptions {
			got = append(got, *lb.LoadBalancerName)
		}
	}
	if diff := cmp.Diff([]string{"c", "a", "b"}, got); diff != "" {
		t.Errorf("names (-want +got)\n%s", diff)
	}
}

func TestFrozenServiceKeepsItsState(t *testing.T) {
	r := newRig(t, elb.Options{})
	r.create(t, "web")
	old := r.api.Service().Freeze()
	if _, err := r.DeleteLoadBalancer(t.Context(), &classic.DeleteLoadBalancerInput{LoadBalancerName: aws.String("web")}); err != nil {
		t.Fatal(err)
	}
	if got, body := lbtest.Call(old, "DescribeLoadBalancers LoadBalancerNames.member.1=web", start); got != "" || !strings.Contains(body, "subnet-b") {
		t.Errorf("frozen answer %q: %s", got, body)
	}
}
