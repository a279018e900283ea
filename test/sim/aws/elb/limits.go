package elb

import "github.com/berth-lb/berth/test/sim/aws/elb/lbkit"

// describeLimits tells the quotas. Source: API reference 2012-06-01, Limit.
func describeLimits(c *call, _ struct{}) (any, error) {
	l := c.opt.Limits
	return lbkit.Limits{Limits: []lbkit.Limit{
		{Name: "classic-load-balancers", Max: l.LoadBalancers}, {Name: "classic-listeners", Max: l.Listeners}, {Name: "classic-registered-instances", Max: l.Instances},
	}}, nil
}
