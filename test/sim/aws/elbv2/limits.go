package elbv2

import "github.com/berth-lb/berth/test/sim/aws/elb/lbkit"

// describeLimits tells the quotas of what is simulated. Source: AWS CLI reference,
// elbv2 describe-account-limits, example.
func describeLimits(c *call, _ struct{}) (any, error) {
	l := c.opt.Limits
	return lbkit.Limits{Limits: []lbkit.Limit{
		{Name: "target-groups", Max: l.TargetGroups}, {Name: "network-load-balancers", Max: l.NetworkLoadBalancers}, {Name: "listeners-per-network-load-balancer", Max: l.Listeners},
		{Name: "certificates-per-network-load-balancer", Max: l.Certificates}, {Name: "target-groups-per-action-on-network-load-balancer", Max: l.GroupsPerAction},
		{Name: "targets-per-target-group", Max: l.TargetsPerGroup}, {Name: "targets-per-network-load-balancer", Max: l.TargetsPerLoadBalancer},
		{Name: "targets-per-availability-zone-per-network-load-balancer", Max: l.TargetsPerZone},
	}}, nil
}
