package main

import (
	"flag"

	simbaidu "github.com/berth-lb/berth/test/sim/baidu"
)

func baiduCloud(flags *flag.FlagSet) func(common) (simulator, error) {
	var opt simbaidu.Options
	flags.DurationVar(&opt.Busy, "busy", 0, "how long a change takes; its load balancer refuses others meanwhile")
	flags.DurationVar(&opt.ListLag, "list-lag", 0, "how long lists lack a new load balancer or address")
	flags.BoolVar(&opt.Seed.Users, "users", false, "begin with a load balancer that a user has created")
	flags.IntVar(&opt.Limits.LoadBalancers, "load-balancers", 60, "quota of load balancers")
	return func(c common) (simulator, error) {
		opt.Region = c.region
		opt.Seed.Nodes, opt.Seed.ClusterID = c.nodes, c.cluster
		return simbaidu.New(opt)
	}
}
