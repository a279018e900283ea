package elb

import "github.com/berth-lb/berth/test/sim/aws/query"

// limitView is a quota of the account.
type limitView struct {
	Name string
	Max  int
}

// describeLimits tells the quotas. Source: API reference 2012-06-01, Limit.
func describeLimits(c *call) (any, error) {
	l := c.opt.Limits
	return struct{ Limits query.Members[limitView] }{query.Members[limitView]{Member: []limitView{
		{"classic-load-balancers", l.LoadBalancers}, {"classic-listeners", l.Listeners}, {"classic-registered-instances", l.Instances},
	}}}, nil
}
