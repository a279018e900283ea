package conform

// knownGaps returns the ends of the known differences, each with its reason and source.
func knownGaps() map[string]string {
	const unread = "no controller reads it; IBM-Cloud/cloud-provider-ibm:pkg/vpcctl"
	out := map[string]string{
		".health_monitor: missing":          "answers have none for pools of private path load balancers; ibm-cloud-docs/vpc, nlb-limitations.md",
		"subnets[].network_acl: missing":    unread,
		"subnets[].resource_group: missing": unread,
		"subnets[].routing_table: missing":  unread,
	}
	for _, field := range []string{
		"classic_access", "created_at", "crn", "cse_source_ips", "default_network_acl", "default_routing_table", "default_security_group.crn", "default_security_group.href",
		"default_security_group.name", "dns", "health_reasons", "health_state", "href", "public_address_ranges", "resource_group", "resource_type",
	} {
		out["GET vpcs answer.vpcs[]."+field+": missing"] = "only berth doctor lists VPCs, and it reads no field of one"
	}
	return out
}
