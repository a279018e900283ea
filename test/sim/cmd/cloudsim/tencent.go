package main

import (
	"flag"

	simtencent "github.com/berth-lb/berth/test/sim/tencent"
)

func tencentCloud(flags *flag.FlagSet) func(common) (simulator, error) {
	var opt simtencent.Options
	flags.DurationVar(&opt.Task, "task", 0, "how long a write takes; its load balancer refuses others meanwhile")
	flags.BoolVar(&opt.Domains, "domains", false, "give public load balancers a domain in place of an address")
	flags.BoolVar(&opt.Seed.Users, "users", false, "begin with a load balancer that a user has created")
	flags.IntVar(&opt.Limits.LoadBalancers, "load-balancers", 100, "quota of load balancers of each network type")
	flags.IntVar(&opt.Limits.Targets, "targets", 200, "most targets of a listener or rule")
	flags.IntVar(&opt.Limits.Deletions, "deletions", 29, "most deletions of load balancers within 5 minutes")
	return func(c common) (simulator, error) {
		opt.Region = c.region
		opt.Seed.Nodes, opt.Seed.ClusterID = c.nodes, c.cluster
		return simtencent.New(opt)
	}
}
