package elbv2

import "github.com/berth-lb/berth/test/sim/aws/query"

// limitView is a quota of the account.
type limitView struct {
	Name string
	Max  int
}

// describeLimits tells the quotas of what is simulated. Source: AWS CLI reference,
// elbv2 describe-account-limits, example.
func describeLimits(c *call) (any, error) {
	l := c.opt.Limits
	return struct{ Limits query.Members[limitView] }{query.Members[limitView]{Member: []limitView{
		{"target-groups", l.TargetGroups}, {"network-load-balancers", l.NetworkLoadBalancers}, {"listeners-per-network-load-balancer", l.Listeners},
		{"certificates-per-network-load-balancer", l.Certificates}, {"target-groups-per-action-on-network-load-balancer", l.GroupsPerAction},
		{"targets-per-target-group", l.TargetsPerGroup}, {"targets-per-network-load-balancer", l.TargetsPerLoadBalancer},
		{"targets-per-availability-zone-per-network-load-balancer", l.TargetsPerZone},
	}}}, nil
}
