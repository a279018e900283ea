package conform

// knownGaps returns the ends of the known differences, each with its reason and source.
func knownGaps() map[string]string {
	const everyChange = "the simulator answers every change alike, and a job is waited for where there is one; API of NLB 2022-04-30"
	const newer = "newer than this release; API of NLB 2022-04-30, "
	return map[string]string{
		"HealthCheckConfig.HealthCheckHttpVersion: unknown": newer + "CreateServerGroup",
		"HealthCheck.HealthCheckHttpVersion: unknown":       newer + "ListServerGroups",
		"ServerGroups[].IpVersionAffinityMode: unknown":     newer + "ListServerGroups",
		"nlb.ListAsynJobs: no model":                        newer + "ListAsynJobs; alibabacloud-go/nlb-20220430/v4",

		"nlb.EnableLoadBalancerIpv6Internet answer.JobId: unknown":  everyChange,
		"nlb.DisableLoadBalancerIpv6Internet answer.JobId: unknown": everyChange,
		"ecs.DescribeSecurityGroups answer.MaxResults: unknown":     "the simulator answers all lists with tokens alike, and nothing reads the field; API of ECS 2014-05-26, DescribeSecurityGroups",
	}
}
