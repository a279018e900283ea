package main

import (
	"flag"
	"strings"

	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

func openstackCloud(flags *flag.FlagSet) func(common) (simulator, error) {
	var opt simopenstack.Options
	flags.DurationVar(&opt.Busy, "busy", 0, "how long a load balancer is PENDING after a change")
	flags.DurationVar(&opt.TokenAge, "token-age", 0, "how long a token is good; 0 for an hour")
	flags.IntVar(&opt.Version, "api-version", 0, "the newest minor version of the load balancer API; 0 for 26")
	flags.BoolVar(&opt.NoKeyManager, "no-key-manager", false, "leave Barbican out of the catalog")
	flags.BoolVar(&opt.Seed.DualStack, "dual-stack", false, "give the network and the servers IPv6 addresses too")
	providers := flags.String("providers", "", "enabled drivers of the load balancer service, separated by commas; the first is the default one")
	return func(c common) (simulator, error) {
		opt.Region, opt.Project = c.region, c.account
		opt.Seed.Nodes, opt.Seed.ClusterID = c.nodes, c.cluster
		if *providers != "" {
			opt.Providers = strings.Split(*providers, ",")
		}
		return simopenstack.New(opt)
	}
}
