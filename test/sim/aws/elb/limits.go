package elb

import "github.com/berth-lb/berth/test/sim/aws/elb/lbkit"

// describeLimits tells the quotas. Source: API reference 2012-06-01, Limit.
func describeLimits(c *call) (any, error) {
	l := c.opt.Limits
	return lbkit.LimitsOf(
		lbkit.Limit{Name: "classic-load-balancers", Max: l.LoadBalancers}, lbkit.Limit{Name: "classic-listeners", Max: l.Listeners}, lbkit.Limit{Name: "classic-registered-instances", Max: l.Instances},
	), nil
}
