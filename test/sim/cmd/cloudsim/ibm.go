package main

import (
	"flag"

	simibm "github.com/berth-lb/berth/test/sim/ibm"
)

func ibmCloud(flags *flag.FlagSet) func(common) (simulator, error) {
	var opt simibm.Options
	flags.DurationVar(&opt.Busy, "busy", 0, "how long a load balancer is busy after a write")
	flags.DurationVar(&opt.Create, "create", 0, "how long a new load balancer is busy; 0: as long as after any write")
	flags.IntVar(&opt.Page, "page", 0, "how many objects of a list are on a page if the caller does not say it; 0 for 50")
	flags.BoolVar(&opt.RequireToken, "require-token", false, "refuse calls without a token of IAM")
	quotas := flags.Int("quota-factor", 1, "multiplies the default quotas of load balancers")
	return func(c common) (simulator, error) {
		opt.Limits.LoadBalancers = simibm.DefaultLoadBalancers * *quotas
		opt.Region = c.region
		opt.Seed.Nodes, opt.Seed.ClusterID = c.nodes, c.cluster
		return simibm.New(opt)
	}
}
