package elbv2

import "github.com/berth-lb/berth/test/sim/aws/elb/lbkit"

// describeLimits tells the quotas of what is simulated. Source: AWS CLI reference,
// elbv2 describe-account-limits, example.
func describeLimits(c *call) (any, error) {
	l := c.opt.Limits
	return lbkit.LimitsOf(
		lbkit.Limit{Name: "target-groups", Max: l.TargetGroups}, lbkit.Limit{Name: "network-load-balancers", Max: l.NetworkLoadBalancers}, lbkit.Limit{Name: "listeners-per-network-load-balancer", Max: l.Listeners},
		lbkit.Limit{Name: "certificates-per-network-load-balancer", Max: l.Certificates}, lbkit.Limit{Name: "target-groups-per-action-on-network-load-balancer", Max: l.GroupsPerAction},
		lbkit.Limit{Name: "targets-per-target-group", Max: l.TargetsPerGroup}, lbkit.Limit{Name: "targets-per-network-load-balancer", Max: l.TargetsPerLoadBalancer},
		lbkit.Limit{Name: "targets-per-availability-zone-per-network-load-balancer", Max: l.TargetsPerZone},
	), nil
}
