package main

import (
	"flag"

	simaws "github.com/berth-lb/berth/test/sim/aws"
)

type awsSimulator struct{ *simaws.Cloud }

func (s awsSimulator) WriteFiles(dir, url string) error { return s.Seed.WriteFiles(dir, url) }

func awsCloud(flags *flag.FlagSet) func(common) (simulator, error) {
	var opt simaws.Options
	flags.IntVar(&opt.Seed.Addresses, "addresses", 6, "number of elastic IP addresses")
	flags.IntVar(&opt.Seed.Pods, "pods", 0, "number of addresses of pods on every node")
	flags.BoolVar(&opt.Empty, "empty", false, "begin without any VPC instead of the seed")
	flags.DurationVar(&opt.ReleaseDelay, "release-delay", 0, "how long a deleted load balancer keeps its groups, subnets and addresses in use")
	flags.DurationVar(&opt.EC2.NewGroupDelay, "new-group-delay", 0, "how long a new security group cannot be found")
	flags.DurationVar(&opt.ELBV2.Delays.Provisioning, "provisioning-delay", 0, "how long a new load balancer is provisioning")
	flags.DurationVar(&opt.ELBV2.Delays.Healthy, "healthy-delay", 0, "how long a new target is initial")
	flags.DurationVar(&opt.ELBV2.Delays.Draining, "draining-delay", 0, "how long a deregistered target is draining")
	flags.DurationVar(&opt.ELBV2.Delays.GroupRelease, "group-release-delay", 0, "how long a target group cannot be deleted after its last listener has left it")
	quotas := flags.Int("quota-factor", 1, "how many times the default quotas the account has, for load balancers, machines, groups and rules")
	return func(c common) (simulator, error) {
		opt.Region, opt.Account = c.region, c.account
		opt.Seed.Nodes, opt.Seed.ClusterID = c.nodes, c.cluster
		raiseQuotas(&opt, *quotas)
		cloud, err := simaws.New(opt)
		return awsSimulator{cloud}, err
	}
}

// raiseQuotas gives the account more of what AWS gives more of on request; the
// defaults are those of AWS. Sources: quotas of Elastic Load Balancing and VPC.
func raiseQuotas(opt *simaws.Options, factor int) {
	if factor <= 1 {
		return
	}
	opt.ELB.Limits.LoadBalancers = 20 * factor
	opt.ELB.Limits.Instances = 1000 * factor
	opt.ELBV2.Limits.NetworkLoadBalancers = 50 * factor
	opt.ELBV2.Limits.TargetGroups = 3000 * factor
	opt.ELBV2.Limits.TargetsPerGroup = 1000 * factor
	opt.ELBV2.Limits.TargetsPerZone = 500 * factor
	opt.ELBV2.Limits.TargetsPerLoadBalancer = 3000 * factor
	opt.ELBV2.Limits.TargetsCrossZone = 500 * factor
	opt.ELBV2.Limits.Interfaces = 1200 * factor
	opt.EC2.Limits.Groups = 2500 * factor
	opt.EC2.Limits.RulesPerGroup = 60 * factor
}
