package main

import (
	"flag"

	simtencent "github.com/berth-lb/berth/test/sim/tencent"
)

func tencentCloud(flags *flag.FlagSet) func(common) (simulator, error) {
	var opt simtencent.Options
	flags.DurationVar(&opt.Task, "task", 0, "how long a write takes; its load balancer refuses others meanwhile")
	flags.BoolVar(&opt.Domains, "domains", false, "give public load balancers a domain in place of an address")
	return func(c common) (simulator, error) {
		opt.Region = c.region
		opt.Seed.Nodes, opt.Seed.ClusterID = c.nodes, c.cluster
		return simtencent.New(opt)
	}
}
