package main

import (
	"flag"

	simoci "github.com/berth-lb/berth/test/sim/oci"
)

func ociCloud(flags *flag.FlagSet) func(common) (simulator, error) {
	var opt simoci.Options
	flags.DurationVar(&opt.Work, "work", 0, "how long a work request takes")
	flags.StringVar(&opt.Breaks, "breaks", "", "a part of the names of load balancers whose work requests fail; empty for none")
	flags.IntVar(&opt.Page, "page", 0, "how many objects of a list are on a page at most; 0 for 100")
	flags.BoolVar(&opt.NoFixedShapes, "no-fixed-shapes", false, "have limits for flexible load balancers only, as new tenancies")
	flags.BoolVar(&opt.Seed.DualStack, "dual-stack", false, "give the subnets and the instances IPv6 addresses too")
	flags.BoolVar(&opt.RequireSignature, "require-signature", false, "refuse calls that are not signed with the key of cloud.conf or of a principal")
	quotas := flags.Int("quota-factor", 1, "how many times the default limits there are, for rules of security lists and of network security groups")
	return func(c common) (simulator, error) {
		opt.Region = c.region
		opt.Seed.Nodes, opt.Seed.ClusterID = c.nodes, c.cluster
		opt.Limits = simoci.DefaultLimits()
		opt.Limits.ListRules *= *quotas
		opt.Limits.GroupRules *= *quotas
		return simoci.New(opt)
	}
}
