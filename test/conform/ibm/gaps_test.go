package conform

import "strings"

// knownGaps returns the ends of the known differences, each with its reason and source.
func knownGaps() map[string]string {
	const unread = "no controller reads it; IBM-Cloud/cloud-provider-ibm:pkg/vpcctl"
	return map[string]string{
		".health_monitor: missing":                  "answers have none for pools of private path load balancers; ibm-cloud-docs/vpc, nlb-limitations.md",
		"security_groups[].created_at: missing":     unread,
		"security_groups[].resource_group: missing": unread,
		"security_groups[].rules: missing":          unread,
		"security_groups[].targets: missing":        unread,
		"subnets[].network_acl: missing":            unread,
		"subnets[].resource_group: missing":         unread,
		"subnets[].routing_table: missing":          unread,
	}
}

// splitGaps returns the differences that are not listed, and the listed ones that did not occur.
func splitGaps(found map[string]bool) (unlisted, unused []string) {
	seen := map[string]bool{}
	for f := range found {
		listed := false
		for gap := range knownGaps() {
			if strings.HasSuffix(f, gap) {
				seen[gap], listed = true, true
			}
		}
		if !listed {
			unlisted = append(unlisted, f)
		}
	}
	for gap := range knownGaps() {
		if !seen[gap] {
			unused = append(unused, gap)
		}
	}
	return unlisted, unused
}
