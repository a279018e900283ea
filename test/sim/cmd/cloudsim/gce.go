package main

import (
	"flag"

	simgce "github.com/berth-lb/berth/test/sim/gce"
)

func gceCloud(flags *flag.FlagSet) func(common) (simulator, error) {
	var opt simgce.Options
	flags.StringVar(&opt.NetworkProject, "network-project", "", "host project of a shared network; empty for none")
	flags.BoolVar(&opt.Empty, "empty", false, "begin without any network instead of the seed")
	flags.BoolVar(&opt.RequireToken, "require-token", false, "refuse calls without a token that the simulator gave out")
	flags.DurationVar(&opt.Compute.OperationDelay, "operation-delay", 0, "how long an operation takes")
	flags.DurationVar(&opt.Compute.OperationSpread, "operation-spread", 0, "how much longer some operations take than others")
	flags.BoolVar(&opt.TooMany, "too-many-requests", false, "answer calls beyond a rate with status 429 and not with 403")
	flags.DurationVar(&opt.Compute.DrainingDelay, "draining-delay", 0, "how long a detached endpoint of a draining backend is listed")
	flags.BoolVar(&opt.Compute.LateFailures, "late-failures", false, "let operations fail for quota and for what is in use, instead of refusing the call")
	flags.Float64Var(&opt.Compute.QuotaFactor, "quota-factor", 1, "how many times the default quotas the project has")
	return func(c common) (simulator, error) {
		opt.Region, opt.Project = c.region, c.account
		opt.Seed.Nodes, opt.Seed.ClusterID = c.nodes, c.cluster
		return simgce.New(opt)
	}
}
