package aws_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/iam"
)

// TestRoleLacks takes one right after the other out of the documented policy and
// makes a network load balancer with a listener: the call that needs the right is
// refused.
func TestRoleLacks(t *testing.T) {
	document, err := os.ReadFile("../../../docs/permissions/aws.json")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ lacks, group, balancer, targets, listener string }{
		{},
		{lacks: "ec2:CreateSecurityGroup", group: "UnauthorizedOperation"},
		{lacks: "ec2:CreateTags", group: "UnauthorizedOperation"},
		{lacks: "elasticloadbalancing:CreateLoadBalancer", balancer: "AccessDenied"},
		{lacks: "elasticloadbalancing:AddTags", balancer: "AccessDenied", targets: "AccessDenied"},
		{lacks: "iam:CreateServiceLinkedRole", balancer: "AccessDenied"},
		{lacks: "ec2:DescribeAccountAttributes", balancer: "AccessDenied"},
		{lacks: "ec2:DescribeInternetGateways", balancer: "AccessDenied"},
		{lacks: "ec2:DescribeAddresses", balancer: "AccessDenied"},
		{lacks: "elasticloadbalancing:CreateTargetGroup", targets: "AccessDenied"},
		{lacks: "elasticloadbalancing:CreateListener", listener: "AccessDenied"},
	}
	for _, tc := range tests {
		t.Run(tc.lacks, func(t *testing.T) {
			c := startClients(t, simaws.Options{})
			seed := c.Cloud.Seed
			policy, err := iam.Parse(bytes.ReplaceAll(document, []byte("CLUSTER_ID"), []byte(seed.ClusterID)))
			if err != nil {
				t.Fatal(err)
			}
			c.Cloud.SetRole(policy.Without(tc.lacks))
			_, err = c.ec2.CreateSecurityGroup(t.Context(), groupOf(seed))
			if errorCode(err) != tc.group {
				t.Fatalf("security group: %v, want %q", err, tc.group)
			}
			tags := []elbv2types.Tag{{Key: aws.String("kubernetes.io/cluster/" + seed.ClusterID), Value: aws.String("owned")}}
			lb, err := c.nlb.CreateLoadBalancer(t.Context(), &elbv2.CreateLoadBalancerInput{Name: aws.String("lb"), Type: elbv2types.LoadBalancerTypeEnumNetwork, Subnets: seed.PublicSubnets()[:1], Tags: tags})
			if errorCode(err) != tc.balancer {
				t.Fatalf("load balancer: %v, want %q", err, tc.balancer)
			}
			tg, err := c.nlb.CreateTargetGroup(t.Context(), &elbv2.CreateTargetGroupInput{Name: aws.String("tg"), Protocol: elbv2types.ProtocolEnumTcp, Port: aws.Int32(30080), VpcId: &seed.VPC, Tags: tags})
			if errorCode(err) != tc.targets {
				t.Fatalf("target group: %v, want %q", err, tc.targets)
			}
			if lb == nil || tg == nil {
				return
			}
			_, err = c.nlb.CreateListener(t.Context(), &elbv2.CreateListenerInput{
				LoadBalancerArn: lb.LoadBalancers[0].LoadBalancerArn, Protocol: elbv2types.ProtocolEnumTcp, Port: aws.Int32(80), Tags: tags,
				DefaultActions: []elbv2types.Action{{Type: elbv2types.ActionTypeEnumForward, TargetGroupArn: tg.TargetGroups[0].TargetGroupArn}},
			})
			if errorCode(err) != tc.listener {
				t.Errorf("listener: %v, want %q", err, tc.listener)
			}
		})
	}
}

// TestRoleOfAnotherCluster deletes what has the tag of one cluster by the roles of two.
func TestRoleOfAnotherCluster(t *testing.T) {
	document, err := os.ReadFile("../../../docs/permissions/aws.json")
	if err != nil {
		t.Fatal(err)
	}
	c := startClients(t, simaws.Options{})
	seed := c.Cloud.Seed
	group, err := c.ec2.CreateSecurityGroup(t.Context(), groupOf(seed))
	if err != nil {
		t.Fatal(err)
	}
	remove := func(cluster string) string {
		policy, err := iam.Parse(bytes.ReplaceAll(document, []byte("CLUSTER_ID"), []byte(cluster)))
		if err != nil {
			t.Fatal(err)
		}
		c.Cloud.SetRole(policy)
		_, err = c.ec2.DeleteSecurityGroup(t.Context(), &ec2.DeleteSecurityGroupInput{GroupId: group.GroupId})
		return errorCode(err)
	}
	if got := remove("another"); got != "UnauthorizedOperation" {
		t.Errorf("by the role of another cluster: %q, want UnauthorizedOperation", got)
	}
	if got := remove(seed.ClusterID); got != "" {
		t.Errorf("by the cluster's own role: %q", got)
	}
}

// groupOf is a security group with the cluster's tag.
func groupOf(seed simaws.Seed) *ec2.CreateSecurityGroupInput {
	return &ec2.CreateSecurityGroupInput{
		GroupName: aws.String("g"), Description: aws.String("g"), VpcId: &seed.VPC,
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeSecurityGroup, Tags: []ec2types.Tag{
			{Key: aws.String("kubernetes.io/cluster/" + seed.ClusterID), Value: aws.String("owned")},
		}}},
	}
}
