package main

import (
	"flag"

	simazure "github.com/berth-lb/berth/test/sim/azure"
)

func azureCloud(flags *flag.FlagSet) func(common) (simulator, error) {
	var opt simazure.Options
	nodesAs := flags.String("nodes-as", "vmss", "what nodes are: vm, vmss or flex")
	pools := flags.String("pools", "nodeIP", "what is in pools: nodeIP, nodeIPConfiguration or podIP, which begins with a service gateway")
	flags.BoolVar(&opt.Seed.DualStack, "dual-stack", false, "give networks and nodes IPv6 addresses too")
	flags.BoolVar(&opt.Seed.Outbound, "outbound", false, "begin with the load balancer that AKS makes for outbound traffic")
	flags.IntVar(&opt.Seed.Addresses, "addresses", 2, "number of public addresses without an owner")
	flags.BoolVar(&opt.NoZones, "no-zones", false, "simulate a region without availability zones")
	flags.BoolVar(&opt.Empty, "empty", false, "begin without any resource group instead of the seed")
	flags.BoolVar(&opt.Network.AllowBasic, "allow-basic", false, "let load balancers and addresses of the retired Basic SKU be made")
	flags.DurationVar(&opt.ARM.Latency, "write-latency", 0, "how long a write takes until its resource is Succeeded")
	flags.DurationVar(&opt.ARM.PollAfter, "poll-after", 0, "how long an unfinished operation tells the client to wait; 0 for 1s")
	flags.BoolVar(&opt.ARM.WholeSeconds, "whole-seconds", false, "tell it in the header Retry-After alone, without milliseconds")
	flags.BoolVar(&opt.Quotas.Enforce, "quota", false, "refuse calls beyond the hourly quota of a subscription")
	flags.IntVar(&opt.Seed.Pods, "pods", 0, "number of addresses of pods on every node; 0 for 2 with --pools=podIP, else none")
	flags.BoolVar(&opt.Network.LateGateways, "late-gateways", false, "answer updates of service gateways with 202 and an operation, not with 200")
	return func(c common) (simulator, error) {
		opt.Location, opt.Subscription = c.region, c.account
		opt.Seed.Nodes, opt.Seed.Cluster = c.nodes, c.cluster
		opt.Seed.NodesAs, opt.Seed.Pools = simazure.NodesAs(*nodesAs), simazure.PoolType(*pools)
		return simazure.New(opt)
	}
}
