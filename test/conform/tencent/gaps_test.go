package conform

// knownGaps returns the ends of the known differences, each with its reason and source.
func knownGaps() map[string]string {
	const newer = "newer than this release; CLB API 2018-03-17, data types and "
	return map[string]string{
		"Targets answer.Response.Message: unknown":                    newer + "BatchRegisterTargets, BatchDeregisterTargets",
		"CreateLoadBalancer answer.Response.DealName: unknown":        newer + "CreateLoadBalancer",
		"LoadBalancerSet[].AttributeFlags: unknown":                   newer + "LoadBalancer",
		"LoadBalancerSet[].LoadBalancerDomain: unknown":               newer + "LoadBalancer",
		"DescribeTaskStatus answer.Response.LoadBalancerIds: unknown": newer + "DescribeTaskStatus",
	}
}
