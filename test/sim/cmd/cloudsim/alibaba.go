package main

import (
	"flag"

	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
)

func alibabaCloud(flags *flag.FlagSet) func(common) (simulator, error) {
	var opt simalibaba.Options
	flags.DurationVar(&opt.Busy, "busy", 0, "how long a load balancer is busy after a write")
	flags.BoolVar(&opt.BusyReads, "busy-reads", false, "refuse reads about a busy load balancer as well")
	flags.IntVar(&opt.Limits.LoadBalancers, "load-balancers", 60, "quota of load balancers")
	flags.IntVar(&opt.Limits.Servers, "servers", 200, "most servers of a load balancer")
	flags.IntVar(&opt.Seed.Pods, "pods", 0, "number of addresses of pods on every node; 0 for 5, which seed.json does not list")
	flags.DurationVar(&opt.Jobs, "jobs", 0, "how long a job of the NLB API takes")
	flags.DurationVar(&opt.Provision, "provision", 0, "how long a network load balancer is being created")
	flags.BoolVar(&opt.Seed.Users, "users", false, "begin with a load balancer that a user has created")
	return func(c common) (simulator, error) {
		opt.Region = c.region
		opt.Seed.Nodes, opt.Seed.ClusterID = c.nodes, c.cluster
		return simalibaba.New(opt)
	}
}
