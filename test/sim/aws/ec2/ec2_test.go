package ec2_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-lb/berth/test/sim/aws/ec2"
	"github.com/berth-lb/berth/test/sim/aws/network"
)

// bench is a region with one VPC and the official client.
type bench struct {
	*testing.T
	api *ec2.API
	*sdk.Client
	vpc *string
}

func startBench(t *testing.T, opt ec2.Options) *bench {
	t.Helper()
	api := ec2.New(opt)
	server := httptest.NewServer(api.Service().Handler(time.Now))
	t.Cleanup(server.Close)
	client := sdk.NewFromConfig(aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	b := &bench{T: t, api: api, Client: client}
	b.vpc = aws.String("vpc-11111111")
	api.Load(ec2.World{
		VPCs:    []ec2.VPC{{ID: *b.vpc, CIDR: "10.0.0.0/16"}},
		Groups:  []ec2.Group{{ID: "sg-11111111", Name: "default", VPC: *b.vpc, Egress: []ec2.Rule{{ID: "sgr-11111111", Protocol: "-1", CIDR: "0.0.0.0/0"}}}},
		Subnets: []ec2.Subnet{{ID: "subnet-11111111", VPC: *b.vpc, Zone: "us-east-1c", CIDR: "10.0.2.0/28"}},
	})
	return b
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// code checks the error code of a call; "" wants success.
func (b *bench) code(what, want string, err error) {
	b.Helper()
	got := ""
	if e := smithy.APIError(nil); errors.As(err, &e) {
		got = e.ErrorCode()
	} else if err != nil {
		got = err.Error()
	}
	if got != want {
		b.Errorf("%s: code %q, want %q", what, got, want)
	}
}

func (b *bench) group(name string) *string {
	b.Helper()
	out, err := b.CreateSecurityGroup(b.Context(), &sdk.CreateSecurityGroupInput{GroupName: aws.String(name), Description: aws.String("d"), VpcId: b.vpc})
	b.ok(err)
	return out.GroupId
}

// machine lets an instance run that wears some groups.
func (b *bench) machine(id string, groups ...string) {
	i := ec2.Instance{ID: id, Reservation: "r-11111111", VPC: *b.vpc, Subnet: "subnet-11111111", Zone: "us-east-1c", PrivateIP: "10.0.2.4", State: "running"}
	b.api.Load(ec2.World{Instances: []ec2.Instance{i}, Interfaces: []ec2.Interface{
		{ID: "eni-11111111", VPC: *b.vpc, Subnet: i.Subnet, Groups: groups, IPs: []string{i.PrivateIP}, Instance: id, DeleteOnTermination: true},
	}})
}

func (b *bench) authorize(group *string, p ...types.IpPermission) error {
	_, err := b.AuthorizeSecurityGroupIngress(b.Context(), &sdk.AuthorizeSecurityGroupIngressInput{GroupId: group, IpPermissions: p})
	return err
}

func (b *bench) revoke(group *string, p ...types.IpPermission) error {
	_, err := b.RevokeSecurityGroupIngress(b.Context(), &sdk.RevokeSecurityGroupIngressInput{GroupId: group, IpPermissions: p})
	return err
}

func (b *bench) remove(group *string) error {
	_, err := b.DeleteSecurityGroup(b.Context(), &sdk.DeleteSecurityGroupInput{GroupId: group})
	return err
}

func (b *bench) ingress(group *string) []types.IpPermission {
	b.Helper()
	out, err := b.DescribeSecurityGroups(b.Context(), &sdk.DescribeSecurityGroupsInput{GroupIds: []string{*group}})
	b.ok(err)
	return out.SecurityGroups[0].IpPermissions
}

func tcpPermission(port int32, cidrs ...string) types.IpPermission {
	p := types.IpPermission{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(port), ToPort: aws.Int32(port)}
	for _, c := range cidrs {
		p.IpRanges = append(p.IpRanges, types.IpRange{CidrIp: aws.String(c)})
	}
	return p
}

func groupPermission(group *string) types.IpPermission {
	return types.IpPermission{IpProtocol: aws.String("-1"), UserIdGroupPairs: []types.UserIdGroupPair{{GroupId: group}}}
}

func TestRulesAreAllOrNothing(t *testing.T) {
	b := startBench(t, ec2.Options{})
	g := b.group("g")
	described := tcpPermission(80, "10.0.0.0/8")
	described.IpRanges[0].Description = aws.String("mine")
	b.ok(b.authorize(g, described))

	b.code("one duplicate among two", "InvalidPermission.Duplicate", b.authorize(g, tcpPermission(81, "1.1.1.1/32"), tcpPermission(80, "10.0.0.0/8")))
	b.code("duplicate once canonical", "InvalidPermission.Duplicate", b.authorize(g, tcpPermission(80, "10.9.9.9/8")))
	b.code("one unknown among two", "InvalidPermission.NotFound", b.revoke(g, tcpPermission(80, "10.0.0.0/8"), tcpPermission(80, "11.0.0.0/8")))
	b.code("same rule twice", "InvalidParameterValue", b.authorize(g, tcpPermission(82, "1.1.1.1/32", "1.1.1.1/32")))
	want := []types.IpPermission{described}
	if diff := cmp.Diff(want, b.ingress(g), permissionOptions()...); diff != "" {
		t.Errorf("refused calls left something behind (-want +got)\n%s", diff)
	}
	b.ok(b.revoke(g, tcpPermission(80, "10.0.0.0/8")))
	if got := b.ingress(g); len(got) != 0 {
		t.Errorf("after revoke without the description: %v, want nothing", got)
	}
}

func permissionOptions() []cmp.Option {
	return []cmp.Option{cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(types.IpPermission{}, types.IpRange{}, types.Ipv6Range{}, types.UserIdGroupPair{}, types.PrefixListId{})}
}

func TestRulesAreGroupedByProtocolAndPorts(t *testing.T) {
	b := startBench(t, ec2.Options{})
	g, other := b.group("g"), b.group("other")
	b.ok(b.authorize(g, tcpPermission(80, "1.0.0.0/8")))
	b.ok(b.authorize(g, groupPermission(g)))
	b.ok(b.authorize(g, tcpPermission(443, "1.0.0.0/8"), groupPermission(other)))
	number := tcpPermission(80, "2.0.0.0/8")
	number.IpProtocol = aws.String("6")
	number.Ipv6Ranges = []types.Ipv6Range{{CidrIpv6: aws.String("2001:DB8::1/32")}}
	b.ok(b.authorize(g, number))
	owner := aws.String("123456789012")
	all := groupPermission(g)
	all.UserIdGroupPairs = []types.UserIdGroupPair{{GroupId: g, UserId: owner}, {GroupId: other, UserId: owner}}
	web := tcpPermission(80, "1.0.0.0/8", "2.0.0.0/8")
	web.Ipv6Ranges = []types.Ipv6Range{{CidrIpv6: aws.String("2001:db8::/32")}}
	want := []types.IpPermission{web, all, tcpPermission(443, "1.0.0.0/8")}
	if diff := cmp.Diff(want, b.ingress(g), permissionOptions()...); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRuleValidation(t *testing.T) {
	b := startBench(t, ec2.Options{})
	g := b.group("g")
	icmp := func(kind, code int32) types.IpPermission {
		p := tcpPermission(0, "1.1.1.1/32")
		p.IpProtocol, p.FromPort, p.ToPort = aws.String("icmp"), aws.Int32(kind), aws.Int32(code)
		return p
	}
	with := func(change func(*types.IpPermission)) types.IpPermission {
		p := tcpPermission(80, "1.1.1.1/32")
		change(&p)
		return p
	}
	tests := map[string]struct {
		p    types.IpPermission
		code string
	}{
		"path MTU":         {icmp(3, 4), ""},
		"ICMP code of any": {icmp(-1, 3), "InvalidParameterValue"},
		"unknown protocol": {with(func(p *types.IpPermission) { p.IpProtocol = aws.String("tls") }), "InvalidParameterValue"},
		"upper case":       {with(func(p *types.IpPermission) { p.IpProtocol = aws.String("UDP") }), ""},
		"protocol number":  {with(func(p *types.IpPermission) { p.IpProtocol = aws.String("132") }), ""},
		"no protocol":      {with(func(p *types.IpPermission) { p.IpProtocol = nil }), "InvalidParameterValue"},
		"no ports":         {with(func(p *types.IpPermission) { p.FromPort, p.ToPort = nil, nil }), "InvalidParameterValue"},
		"port too high":    {with(func(p *types.IpPermission) { p.ToPort = aws.Int32(65536) }), "InvalidParameterValue"},
		"ports reversed":   {with(func(p *types.IpPermission) { p.FromPort = aws.Int32(81) }), "InvalidParameterValue"},
		"bare address":     {tcpPermission(80, "1.2.3.4"), "InvalidParameterValue"},
		"IPv6 among IPv4":  {tcpPermission(80, "2001:db8::/32"), "InvalidParameterValue"},
		"no source":        {tcpPermission(80), "MissingParameter"},
		"unknown group":    {groupPermission(aws.String("sg-0123456789abcdef0")), "InvalidGroup.NotFound"},
		"malformed group":  {groupPermission(aws.String("nodes")), "InvalidGroupId.Malformed"},
		"unknown prefix list": {with(func(p *types.IpPermission) {
			p.PrefixListIds = []types.PrefixListId{{PrefixListId: aws.String("pl-12345678")}}
		}), "InvalidPrefixListId.NotFound"},
		"description with \"": {with(func(p *types.IpPermission) { p.IpRanges[0].Description = aws.String(`"`) }), "InvalidParameterValue"},
		"controller's comment": {with(func(p *types.IpPermission) {
			p.IpRanges[0].Description = aws.String("kubernetes.io/rule/nlb/health=a1")
		}), ""},
	}
	for name, tc := range tests {
		b.code(name, tc.code, b.authorize(g, tc.p))
	}
}

func TestRuleLimitCountsFamiliesApart(t *testing.T) {
	b := startBench(t, ec2.Options{})
	g := b.group("g")
	var v4 []string
	for i := range 60 {
		v4 = append(v4, fmt.Sprintf("1.1.1.%d/32", i))
	}
	b.code("61 at once", "RulesPerSecurityGroupLimitExceeded", b.authorize(g, tcpPermission(80, append(v4, "2.2.2.2/32")...)))
	b.ok(b.authorize(g, tcpPermission(80, v4...)))
	six := tcpPermission(80)
	six.Ipv6Ranges = []types.Ipv6Range{{CidrIpv6: aws.String("::/0")}}
	b.code("IPv6 beside 60 of IPv4", "", b.authorize(g, six))
	b.code("one more of IPv4", "RulesPerSecurityGroupLimitExceeded", b.authorize(g, tcpPermission(81, "2.2.2.2/32")))
	b.code("a group counts for both", "RulesPerSecurityGroupLimitExceeded", b.authorize(g, groupPermission(g)))
}

func TestGroupNames(t *testing.T) {
	b := startBench(t, ec2.Options{})
	b.group("taken")
	tests := map[string]struct{ name, description, code string }{
		"fine":            {"k8s-elb-a1 (x)", "Security group for Kubernetes ELB a1 (ns/name)", ""},
		"taken":           {"taken", "d", "InvalidGroup.Duplicate"},
		"reserved":        {"Default", "d", "InvalidParameterValue"},
		"like an id":      {"sg-1", "d", "InvalidParameterValue"},
		"umlaut":          {"grün", "d", "InvalidParameterValue"},
		"long":            {string(make([]byte, 256)), "d", "InvalidParameterValue"},
		"bad description": {"x", "a<b", "InvalidParameterValue"},
	}
	for name, tc := range tests {
		_, err := b.CreateSecurityGroup(t.Context(), &sdk.CreateSecurityGroupInput{GroupName: &tc.name, Description: &tc.description, VpcId: b.vpc})
		b.code(name, tc.code, err)
	}
	_, err := b.CreateSecurityGroup(t.Context(), &sdk.CreateSecurityGroupInput{GroupName: aws.String("x"), Description: aws.String("d")})
	b.code("no VPC", "MissingParameter", err)
}

type users []string

func (u users) GroupUsers(string) []string   { return u }
func (u users) AddressUsers(string) []string { return u }

var _ network.Users = users(nil)

func TestDependencies(t *testing.T) {
	b := startBench(t, ec2.Options{})
	a, c := b.group("a"), b.group("c")
	b.ok(b.authorize(a, groupPermission(a)))
	b.ok(b.authorize(c, groupPermission(a)))
	b.code("referred to by another group", "DependencyViolation", b.remove(a))
	b.ok(b.revoke(c, groupPermission(a)))
	b.machine("i-11111111", *a)
	b.code("worn by an instance", "DependencyViolation", b.remove(a))
	_, err := b.TerminateInstances(t.Context(), &sdk.TerminateInstancesInput{InstanceIds: []string{"i-11111111"}})
	b.ok(err)
	b.api.SetUsers(users{"load balancer x"})
	b.code("held by a load balancer", "DependencyViolation", b.remove(a))
	b.api.SetUsers(users{})
	b.code("only its own rule refers to it", "", b.remove(a))
	b.code("gone", "InvalidGroup.NotFound", b.remove(a))
	out, err := b.DescribeSecurityGroups(t.Context(), &sdk.DescribeSecurityGroupsInput{Filters: []types.Filter{{Name: aws.String("group-name"), Values: []string{"default"}}}})
	b.ok(err)
	b.code("the default group", "CannotDelete", b.remove(out.SecurityGroups[0].GroupId))
}

func TestNewGroupsAppearLate(t *testing.T) {
	clock := &steps{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	b := startBench(t, ec2.Options{Clock: clock, NewGroupDelay: time.Hour})
	g := b.group("g")
	b.code("rules", "InvalidGroup.NotFound", b.authorize(g, tcpPermission(80, "1.1.1.1/32")))
	_, err := b.CreateTags(t.Context(), &sdk.CreateTagsInput{Resources: []string{*g}, Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}}})
	b.code("tags", "InvalidGroup.NotFound", err)
	_, err = b.CreateSecurityGroup(t.Context(), &sdk.CreateSecurityGroupInput{GroupName: aws.String("g"), Description: aws.String("d"), VpcId: b.vpc})
	b.code("again", "InvalidGroup.Duplicate", err)
	if _, ok := b.api.Group(*g); ok {
		t.Error("the directory shows a group that is not visible yet")
	}
	clock.now = time.Now().Add(2 * time.Hour)
	if _, ok := b.api.Group(*g); !ok {
		t.Error("the directory does not show the group later")
	}
}

// steps is a clock that a test moves by hand.
type steps struct{ now time.Time }

func (s *steps) Now() time.Time                  { return s.now }
func (s *steps) Since(t time.Time) time.Duration { return s.now.Sub(t) }
