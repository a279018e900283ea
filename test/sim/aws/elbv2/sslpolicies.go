package elbv2

// defaultSSLPolicy is what a TLS listener gets when none is named.
// Source: "security policies" pages of the load balancer guides.
const defaultSSLPolicy = "ELBSecurityPolicy-2016-08"

// sslPolicies gives the names of the predefined policies.
// Source: "security policies" pages of the load balancer guides.
func sslPolicies() []string {
	out := []string{defaultSSLPolicy}
	for _, old := range []string{
		"2015-05", "TLS-1-0-2015-04", "TLS-1-1-2017-01", "TLS-1-2-2017-01", "TLS-1-2-Ext-2018-06", "FS-2018-06", "FS-1-1-2019-08",
		"FS-1-2-2019-08", "FS-1-2-Res-2019-08", "FS-1-2-Res-2020-10", "TLS13-1-1-2021-06", "TLS13-1-1-FIPS-2023-04",
	} {
		out = append(out, "ELBSecurityPolicy-"+old)
	}
	// These exist in three kinds: plain, FIPS, and each with post-quantum key exchange. Ext0 exists for FIPS only.
	for _, level := range []string{"1-3", "1-2", "1-2-Res", "1-2-Ext0", "1-2-Ext1", "1-2-Ext2", "1-0"} {
		name := "ELBSecurityPolicy-TLS13-" + level
		if level != "1-2-Ext0" {
			out = append(out, name+"-2021-06", name+"-PQ-2025-09")
		}
		out = append(out, name+"-FIPS-2023-04", name+"-FIPS-PQ-2025-09")
	}
	return out
}
