package main

import (
	"context"
	"fmt"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/berth-lb/berth/test/harness"
)

// lookAWS lists the load balancers and their dependent resources through the official SDK.
func lookAWS(ctx context.Context, world *harness.World) ([]string, error) {
	cfg := awssdk.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("simulated", "simulated", ""),
		BaseEndpoint: awssdk.String(world.Sim.URL),
	}
	lines, err := lookClassic(ctx, elb.NewFromConfig(cfg))
	if err != nil {
		return nil, err
	}
	network, err := lookNetwork(ctx, elbv2.NewFromConfig(cfg))
	if err != nil {
		return nil, err
	}
	groups, err := lookGroups(ctx, ec2.NewFromConfig(cfg))
	return append(append(lines, network...), groups...), err
}

func lookClassic(ctx context.Context, c *elb.Client) ([]string, error) {
	out, err := c.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{})
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, lb := range out.LoadBalancerDescriptions {
		var listeners []string
		for _, l := range lb.ListenerDescriptions {
			listeners = append(listeners, fmt.Sprintf("%s:%d->%d", *l.Listener.Protocol, l.Listener.LoadBalancerPort, *l.Listener.InstancePort))
		}
		lines = append(lines, fmt.Sprintf("classic %s %-15s %s, %d instances, check %s",
			shortName(*lb.LoadBalancerName), *lb.Scheme, strings.Join(listeners, " "), len(lb.Instances), *lb.HealthCheck.Target))
	}
	return lines, nil
}

func lookNetwork(ctx context.Context, c *elbv2.Client) ([]string, error) {
	out, err := c.DescribeLoadBalancers(ctx, &elbv2.DescribeLoadBalancersInput{})
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, lb := range out.LoadBalancers {
		listeners, err := c.DescribeListeners(ctx, &elbv2.DescribeListenersInput{LoadBalancerArn: lb.LoadBalancerArn})
		if err != nil {
			return nil, err
		}
		var ports []string
		for _, l := range listeners.Listeners {
			ports = append(ports, fmt.Sprintf("%s:%d", l.Protocol, *l.Port))
		}
		lines = append(lines, fmt.Sprintf("network %s %-15s %s", shortName(*lb.LoadBalancerName), lb.Scheme, strings.Join(ports, " ")))
	}
	groups, err := c.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{})
	if err != nil {
		return nil, err
	}
	for _, g := range groups.TargetGroups {
		health, err := c.DescribeTargetHealth(ctx, &elbv2.DescribeTargetHealthInput{TargetGroupArn: g.TargetGroupArn})
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("target group %s %s:%d, %d targets", *g.TargetGroupName, g.Protocol, *g.Port, len(health.TargetHealthDescriptions)))
	}
	return lines, nil
}

// lookGroups lists the security groups of load balancers.
func lookGroups(ctx context.Context, c *ec2.Client) ([]string, error) {
	out, err := c.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{
		Filters: []ec2types.Filter{{Name: awssdk.String("group-name"), Values: []string{"k8s-*"}}},
	})
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, g := range out.SecurityGroups {
		lines = append(lines, fmt.Sprintf("security group %s, %d permissions", shortName(*g.GroupName), len(g.IpPermissions)))
	}
	return lines, nil
}

// shortName returns the beginning of a long name.
func shortName(name string) string {
	const shown = 20
	if len(name) <= shown {
		return name
	}
	return name[:shown] + "..."
}
