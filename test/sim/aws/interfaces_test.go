package aws_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"
	testclock "k8s.io/utils/clock/testing"

	simaws "github.com/berth-lb/berth/test/sim/aws"
)

// interfaces lists what people see of the load balancers' network interfaces.
func (c clients) interfaces(t *testing.T) []ec2types.NetworkInterface {
	t.Helper()
	out, err := c.ec2.DescribeNetworkInterfaces(t.Context(), &ec2.DescribeNetworkInterfacesInput{
		Filters: []ec2types.Filter{{Name: aws.String("requester-id"), Values: []string{"amazon-elb"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.NetworkInterfaces
}

func (c clients) free(t *testing.T, subnet string) int32 {
	t.Helper()
	out, err := c.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{SubnetIds: []string{subnet}})
	if err != nil {
		t.Fatal(err)
	}
	return *out.Subnets[0].AvailableIpAddressCount
}

func (c clients) network(t *testing.T, in *elbv2.CreateLoadBalancerInput) (string, error) {
	t.Helper()
	in.Type = elbv2types.LoadBalancerTypeEnumNetwork
	out, err := c.nlb.CreateLoadBalancer(t.Context(), in)
	if err != nil {
		return "", err
	}
	return *out.LoadBalancers[0].LoadBalancerArn, nil
}

func TestInterfacesOfNetworkLoadBalancers(t *testing.T) {
	clock := testclock.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	c := startClients(t, simaws.Options{Clock: clock, ReleaseDelay: time.Minute})
	subnets := c.Cloud.Seed.PublicSubnets()
	group, err := c.newGroup(t, "front")
	if err != nil {
		t.Fatal(err)
	}
	before := c.free(t, subnets[0])
	arn, err := c.network(t, &elbv2.CreateLoadBalancerInput{Name: aws.String("web"), Subnets: subnets[:2], SecurityGroups: []string{group}})
	if err != nil {
		t.Fatal(err)
	}
	name := "ELB " + arn[slices.Index([]byte(arn), '/')+1:]
	seen := c.interfaces(t)
	if len(seen) != 2 {
		t.Fatalf("%d interfaces, want one in each of two subnets", len(seen))
	}
	i := seen[0]
	got := []string{*i.Description, *i.RequesterId, string(i.InterfaceType), string(i.Status), *i.Groups[0].GroupId, *i.Attachment.InstanceOwnerId}
	if diff := cmp.Diff([]string{name, "amazon-elb", "network_load_balancer", "in-use", group, "amazon-elb"}, got); diff != "" {
		t.Errorf("interface (-want +got)\n%s", diff)
	}
	if got := c.free(t, subnets[0]); got != before-1 {
		t.Errorf("%d free addresses, want one less than %d", got, before)
	}
	if _, err := c.nlb.DeleteLoadBalancer(t.Context(), &elbv2.DeleteLoadBalancerInput{LoadBalancerArn: &arn}); err != nil {
		t.Fatal(err)
	}
	if got := len(c.interfaces(t)); got != 2 {
		t.Errorf("%d interfaces right after the deletion, want 2", got)
	}
	clock.SetTime(clock.Now().Add(time.Minute))
	if got := len(c.interfaces(t)); got != 0 {
		t.Errorf("%d interfaces a minute after the deletion, want 0", got)
	}
	if got := c.free(t, subnets[0]); got != before {
		t.Errorf("%d free addresses after the deletion, want %d", got, before)
	}
}

func TestInterfacesFollowSubnetsAndGroups(t *testing.T) {
	c := startClients(t, simaws.Options{})
	subnets := c.Cloud.Seed.PublicSubnets()
	create := &elb.CreateLoadBalancerInput{
		LoadBalancerName: aws.String("web"), Subnets: subnets[:2],
		Listeners: []elbtypes.Listener{{Protocol: aws.String("tcp"), LoadBalancerPort: 80, InstancePort: aws.Int32(30080)}},
	}
	if _, err := c.elb.CreateLoadBalancer(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	ids := func() map[string]string {
		out := map[string]string{}
		for _, i := range c.interfaces(t) {
			out[*i.SubnetId] = *i.NetworkInterfaceId + " " + *i.Groups[0].GroupId
		}
		return out
	}
	before := ids()
	if len(before) != 2 {
		t.Fatalf("interfaces %v, want two", before)
	}
	if _, err := c.elb.AttachLoadBalancerToSubnets(t.Context(), &elb.AttachLoadBalancerToSubnetsInput{LoadBalancerName: aws.String("web"), Subnets: subnets[2:3]}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.elb.DetachLoadBalancerFromSubnets(t.Context(), &elb.DetachLoadBalancerFromSubnetsInput{LoadBalancerName: aws.String("web"), Subnets: subnets[:1]}); err != nil {
		t.Fatal(err)
	}
	after := ids()
	if after[subnets[1]] != before[subnets[1]] || after[subnets[2]] == "" || after[subnets[0]] != "" {
		t.Errorf("interfaces %v after a move of subnets, had %v", after, before)
	}
}

func TestPrivateAddressInUse(t *testing.T) {
	c := startClients(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 1}})
	subnet := c.Cloud.Seed.PrivateSubnets()[0]
	ask := func(name, ip string) error {
		_, err := c.network(t, &elbv2.CreateLoadBalancerInput{
			Name: &name, Scheme: elbv2types.LoadBalancerSchemeEnumInternal,
			SubnetMappings: []elbv2types.SubnetMapping{{SubnetId: &subnet, PrivateIPv4Address: &ip}},
		})
		return err
	}
	if err := ask("node", c.Cloud.Seed.Nodes[0].PrivateIP); errorCode(err) != "InvalidConfigurationRequest" {
		t.Errorf("the address of a node: %v, want InvalidConfigurationRequest", err)
	}
	for range 2 { // the second time it exists already
		if err := ask("one", "10.0.128.200"); err != nil {
			t.Errorf("a free address: %v", err)
		}
	}
	if err := ask("two", "10.0.128.200"); errorCode(err) != "InvalidConfigurationRequest" {
		t.Errorf("the address of another load balancer: %v, want InvalidConfigurationRequest", err)
	}
}
