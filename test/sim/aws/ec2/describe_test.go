package ec2_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/aws/ec2"
)

func newFilter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}

func TestGroupFilters(t *testing.T) {
	b := startBench(t, ec2.Options{})
	a, c := b.group("web-a"), b.group("db*c")
	b.ok(b.authorize(a, tcpPermission(80, "10.0.0.0/8"), groupPermission(c)))
	_, err := b.CreateTags(t.Context(), &sdk.CreateTagsInput{Resources: []string{*a}, Tags: []types.Tag{{Key: aws.String("kubernetes.io/cluster/x"), Value: aws.String("owned")}}})
	b.ok(err)
	tests := map[string]struct {
		filters []types.Filter
		want    []string
	}{
		"name":               {[]types.Filter{newFilter("group-name", "web-a")}, []string{"web-a"}},
		"any of":             {[]types.Filter{newFilter("group-name", "web-a", "default")}, []string{"default", "web-a"}},
		"star":               {[]types.Filter{newFilter("group-name", "*b-*")}, []string{"web-a"}},
		"question mark":      {[]types.Filter{newFilter("group-name", "we?-a")}, []string{"web-a"}},
		"escaped star":       {[]types.Filter{newFilter("group-name", `db\*c`)}, []string{"db*c"}},
		"escaped, no match":  {[]types.Filter{newFilter("group-name", `w\*`)}, nil},
		"case":               {[]types.Filter{newFilter("group-name", "WEB-A")}, nil},
		"both must match":    {[]types.Filter{newFilter("group-name", "web-a"), newFilter("vpc-id", "vpc-1")}, nil},
		"vpc":                {[]types.Filter{newFilter("group-name", "web-a"), newFilter("vpc-id", *b.vpc)}, []string{"web-a"}},
		"tag":                {[]types.Filter{newFilter("tag:kubernetes.io/cluster/x", "owned")}, []string{"web-a"}},
		"tag of other value": {[]types.Filter{newFilter("tag:kubernetes.io/cluster/x", "shared")}, nil},
		"tag key":            {[]types.Filter{newFilter("tag-key", "kubernetes.io/cluster/*")}, []string{"web-a"}},
		"rule's group":       {[]types.Filter{newFilter("ip-permission.group-id", *c)}, []string{"web-a"}},
		"rule's block":       {[]types.Filter{newFilter("ip-permission.cidr", "10.0.0.0/8")}, []string{"web-a"}},
	}
	for name, tc := range tests {
		out, err := b.DescribeSecurityGroups(t.Context(), &sdk.DescribeSecurityGroupsInput{Filters: tc.filters})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, g := range out.SecurityGroups {
			got = append(got, *g.GroupName)
		}
		slices.Sort(got)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	_, err = b.DescribeSecurityGroups(t.Context(), &sdk.DescribeSecurityGroupsInput{Filters: []types.Filter{newFilter("colour", "red")}})
	b.code("unknown filter", "InvalidParameterValue", err)
	var many []string
	for i := range 201 {
		many = append(many, fmt.Sprint(i))
	}
	_, err = b.DescribeSecurityGroups(t.Context(), &sdk.DescribeSecurityGroupsInput{Filters: []types.Filter{newFilter("group-id", many...)}})
	b.code("201 values", "FilterLimitExceeded", err)
	_, err = b.DescribeSecurityGroups(t.Context(), &sdk.DescribeSecurityGroupsInput{Filters: []types.Filter{newFilter("group-id", many[1:]...)}})
	b.code("200 values", "", err)
}

func TestPaging(t *testing.T) {
	b := startBench(t, ec2.Options{})
	want := []string{"default"}
	for i := range 11 {
		name := fmt.Sprintf("g%02d", i)
		b.group(name)
		want = append(want, name)
	}
	var got, sizes []string
	pager := sdk.NewDescribeSecurityGroupsPaginator(b.Client, &sdk.DescribeSecurityGroupsInput{MaxResults: aws.Int32(5)})
	for pager.HasMorePages() {
		page, err := pager.NextPage(t.Context())
		b.ok(err)
		sizes = append(sizes, fmt.Sprint(len(page.SecurityGroups)))
		for _, g := range page.SecurityGroups {
			got = append(got, *g.GroupName)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"5", "5", "2"}, sizes); diff != "" {
		t.Errorf("page sizes (-want +got)\n%s", diff)
	}
	_, err := b.DescribeSecurityGroups(t.Context(), &sdk.DescribeSecurityGroupsInput{MaxResults: aws.Int32(4)})
	b.code("page too small", "InvalidParameterValue", err)
	_, err = b.DescribeSecurityGroups(t.Context(), &sdk.DescribeSecurityGroupsInput{NextToken: aws.String("abc")})
	b.code("bad token", "InvalidNextToken", err)
	_, err = b.DescribeInstances(t.Context(), &sdk.DescribeInstancesInput{MaxResults: aws.Int32(5), InstanceIds: []string{"i-12345678"}})
	b.code("ids and a page size", "InvalidParameterCombination", err)
}

func TestIDs(t *testing.T) {
	b := startBench(t, ec2.Options{})
	ctx := t.Context()
	calls := map[string]func(id string) error{
		"vpc": func(id string) error {
			_, err := b.DescribeVpcs(ctx, &sdk.DescribeVpcsInput{VpcIds: []string{id}})
			return err
		},
		"subnet": func(id string) error {
			_, err := b.DescribeSubnets(ctx, &sdk.DescribeSubnetsInput{SubnetIds: []string{id}})
			return err
		},
		"sg": func(id string) error {
			_, err := b.DescribeSecurityGroups(ctx, &sdk.DescribeSecurityGroupsInput{GroupIds: []string{id}})
			return err
		},
		"i": func(id string) error {
			_, err := b.DescribeInstances(ctx, &sdk.DescribeInstancesInput{InstanceIds: []string{id}})
			return err
		},
		"rtb": func(id string) error {
			_, err := b.DescribeRouteTables(ctx, &sdk.DescribeRouteTablesInput{RouteTableIds: []string{id}})
			return err
		},
	}
	tests := []struct{ kind, malformed, notFound string }{
		{"vpc", "InvalidVpcID.NotFound", "InvalidVpcID.NotFound"},
		{"subnet", "InvalidSubnetID.NotFound", "InvalidSubnetID.NotFound"},
		{"sg", "InvalidGroupId.Malformed", "InvalidGroup.NotFound"},
		{"i", "InvalidInstanceID.Malformed", "InvalidInstanceID.NotFound"},
		{"rtb", "InvalidRouteTableId.Malformed", "InvalidRouteTableID.NotFound"},
	}
	for _, tc := range tests {
		for id, want := range map[string]string{
			"name": tc.malformed, tc.kind + "-12": tc.malformed, tc.kind + "-1234567z": tc.malformed,
			tc.kind + "-12345678": tc.notFound, tc.kind + "-0123456789abcdef0": tc.notFound,
		} {
			b.code(tc.kind+" "+id, want, calls[tc.kind](id))
		}
	}
}

func TestTags(t *testing.T) {
	b := startBench(t, ec2.Options{})
	g := *b.group("g")
	create := func(keys ...string) error {
		var tags []types.Tag
		for _, k := range keys {
			tags = append(tags, types.Tag{Key: aws.String(k), Value: aws.String("v-" + k)})
		}
		_, err := b.CreateTags(t.Context(), &sdk.CreateTagsInput{Resources: []string{g}, Tags: tags})
		return err
	}
	var fifty []string
	for i := range 50 {
		fifty = append(fifty, fmt.Sprintf("k%02d", i))
	}
	b.code("51 tags", "TagLimitExceeded", create(append(fifty, "more")...))
	b.code("50 tags", "", create(fifty...))
	b.code("one more", "TagLimitExceeded", create("more"))
	b.code("the same again", "", create("k01"))
	b.code("Amazon's prefix", "InvalidParameterValue", create("AWS:x"))
	_, err := b.CreateTags(t.Context(), &sdk.CreateTagsInput{Resources: []string{g, "sg-12345678"}, Tags: []types.Tag{{Key: aws.String("k00"), Value: aws.String("new")}}})
	b.code("one resource is unknown", "InvalidGroup.NotFound", err)
	_, err = b.DeleteTags(t.Context(), &sdk.DeleteTagsInput{Resources: []string{g}, Tags: []types.Tag{
		{Key: aws.String("k00"), Value: aws.String("other")}, {Key: aws.String("k01"), Value: aws.String("v-k01")}, {Key: aws.String("k02")},
	}})
	b.ok(err)
	have, _ := b.api.TagsOf(g)
	var got []string
	for _, k := range []string{"k00", "k01", "k02", "k03"} {
		if v, ok := have[k]; ok {
			got = append(got, k+"="+v)
		}
	}
	if diff := cmp.Diff([]string{"k00=v-k00", "k03=v-k03"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSubnetsAndMachines(t *testing.T) {
	b := startBench(t, ec2.Options{})
	free := func() int32 {
		t.Helper()
		out, err := b.DescribeSubnets(t.Context(), &sdk.DescribeSubnetsInput{Filters: []types.Filter{newFilter("availability-zone", "us-east-1c")}})
		b.ok(err)
		return *out.Subnets[0].AvailableIpAddressCount
	}
	if got := free(); got != 11 {
		t.Errorf("a /28 has %d free addresses, want 11", got)
	}
	b.machine("i-11111111", "sg-11111111")
	if got := free(); got != 10 {
		t.Errorf("%d free addresses beside a machine, want 10", got)
	}
	out, err := b.DescribeInstances(t.Context(), &sdk.DescribeInstancesInput{Filters: []types.Filter{newFilter("private-dns-name", "ip-10-0-2-4.ec2.internal")}})
	b.ok(err)
	i := out.Reservations[0].Instances[0]
	got := []string{*i.InstanceId, *i.PrivateIpAddress, *i.PrivateDnsName, string(i.State.Name), *i.SecurityGroups[0].GroupName}
	want := []string{"i-11111111", "10.0.2.4", "ip-10-0-2-4.ec2.internal", "running", "default"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	_, err = b.StopInstances(t.Context(), &sdk.StopInstancesInput{InstanceIds: []string{"i-11111111"}})
	b.ok(err)
	if n, ok := b.api.Instance("i-11111111"); !ok || n.State != "stopped" {
		t.Errorf("instance %v, %v, want stopped", n, ok)
	}
	_, err = b.TerminateInstances(t.Context(), &sdk.TerminateInstancesInput{InstanceIds: []string{"i-11111111"}})
	b.ok(err)
	if n, ok := b.api.Instance("i-11111111"); !ok || n.State != "terminated" || free() != 11 {
		t.Errorf("instance %v, %v, %d free addresses; want it terminated, and its address free", n, ok, free())
	}
	_, err = b.StopInstances(t.Context(), &sdk.StopInstancesInput{InstanceIds: []string{"i-11111111"}})
	b.code("stopped once terminated", "IncorrectInstanceState", err)
	_, err = b.TerminateInstances(t.Context(), &sdk.TerminateInstancesInput{InstanceIds: []string{}})
	b.code("none named", "InvalidParameterCombination", err)
	_, err = b.CreateSecurityGroup(t.Context(), &sdk.CreateSecurityGroupInput{GroupName: aws.String("g"), Description: aws.String("d"), DryRun: aws.Bool(true)})
	b.code("dry run", "DryRunOperation", err)
}
