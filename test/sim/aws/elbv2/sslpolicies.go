package elbv2

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// defaultSSLPolicy is what a TLS or HTTPS listener gets when none is named.
// Source: "security policies" pages of the load balancer guides.
const defaultSSLPolicy = "ELBSecurityPolicy-2016-08"

type sslPolicy struct {
	SslProtocols               query.Members[string]
	Ciphers                    query.Members[cipher]
	Name                       string
	SupportedLoadBalancerTypes query.Members[string]
}

type cipher struct {
	Name     string
	Priority int
}

// suite is one column of the policy tables: protocols and groups of ciphers.
type suite struct{ protocols, ciphers []string }

// cipherOrder is the order of preference that all policies share.
func cipherOrder() []string {
	return []string{
		"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
		"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-RSA-AES128-SHA256",
		"ECDHE-ECDSA-AES128-SHA", "ECDHE-RSA-AES128-SHA",
		"ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-RSA-AES256-SHA384",
		"ECDHE-ECDSA-AES256-SHA", "ECDHE-RSA-AES256-SHA",
		"AES128-GCM-SHA256", "AES128-SHA256", "AES128-SHA", "AES256-GCM-SHA384", "AES256-SHA256", "AES256-SHA", "DES-CBC3-SHA",
	}
}

// pick gives the ciphers of the named families, in order of preference. The
// families: "13" TLS 1.3, "13f" those of FIPS, "gcm" ECDHE with GCM, "cbc" ECDHE
// with SHA-2, "sha" ECDHE with SHA-1, "rsa" plain RSA with SHA-2, "rsasha" plain RSA with SHA-1.
func pick(families ...string) []string {
	var out []string
	for _, name := range cipherOrder() {
		if slices.Contains(families, family(name)) || name != "TLS_CHACHA20_POLY1305_SHA256" && family(name) == "13" && slices.Contains(families, "13f") {
			out = append(out, name)
		}
	}
	return out
}

func family(name string) string {
	forward := strings.HasPrefix(name, "ECDHE-")
	switch {
	case strings.HasPrefix(name, "TLS_"):
		return "13"
	case name == "DES-CBC3-SHA":
		return "des"
	case forward && strings.Contains(name, "GCM"):
		return "gcm"
	case forward && !strings.HasSuffix(name, "-SHA"):
		return "cbc"
	case forward:
		return "sha"
	case strings.HasSuffix(name, "-SHA"):
		return "rsasha"
	}
	return "rsa"
}

// sslPolicies are the predefined policies.
// Source: "security policies" pages of the load balancer guides.
func sslPolicies() []sslPolicy {
	v10, v11, v12, v13 := []string{"TLSv1", "TLSv1.1", "TLSv1.2"}, []string{"TLSv1.1", "TLSv1.2"}, []string{"TLSv1.2"}, []string{"TLSv1.3"}
	with13 := func(old []string) []string { return append(slices.Clone(old), "TLSv1.3") }
	all := []string{"gcm", "cbc", "sha", "rsa", "rsasha"}
	legacy := map[string]suite{
		defaultSSLPolicy:                           {v10, pick(all...)},
		"ELBSecurityPolicy-2015-05":                {v10, pick(all...)},
		"ELBSecurityPolicy-TLS-1-0-2015-04":        {v10, pick(append(all, "des")...)},
		"ELBSecurityPolicy-TLS-1-1-2017-01":        {v11, pick(all...)},
		"ELBSecurityPolicy-TLS-1-2-2017-01":        {v12, pick("gcm", "cbc", "rsa")},
		"ELBSecurityPolicy-TLS-1-2-Ext-2018-06":    {v12, pick(all...)},
		"ELBSecurityPolicy-FS-2018-06":             {v10, pick("gcm", "cbc", "sha")},
		"ELBSecurityPolicy-FS-1-1-2019-08":         {v11, pick("gcm", "cbc", "sha")},
		"ELBSecurityPolicy-FS-1-2-2019-08":         {v12, pick("gcm", "cbc", "sha")},
		"ELBSecurityPolicy-FS-1-2-Res-2019-08":     {v12, pick("gcm", "cbc")},
		"ELBSecurityPolicy-FS-1-2-Res-2020-10":     {v12, pick("gcm")},
		"ELBSecurityPolicy-TLS13-1-1-2021-06":      {with13(v11), pick(append(all, "13")...)},
		"ELBSecurityPolicy-TLS13-1-1-FIPS-2023-04": {with13(v11), pick(append(all, "13f")...)},
	}
	// These exist in three kinds: plain, FIPS, and each with post-quantum key exchange.
	for level, s := range map[string]suite{
		"1-3":      {v13, nil},
		"1-2":      {with13(v12), []string{"gcm", "cbc"}},
		"1-2-Res":  {with13(v12), []string{"gcm"}},
		"1-2-Ext0": {with13(v12), []string{"gcm", "cbc", "sha"}},
		"1-2-Ext1": {with13(v12), []string{"gcm", "cbc", "rsa"}},
		"1-2-Ext2": {with13(v12), all},
		"1-0":      {with13(v10), all},
	} {
		plain, fips := pick(append(slices.Clone(s.ciphers), "13")...), pick(append(slices.Clone(s.ciphers), "13f")...)
		// Ext0 exists for FIPS only.
		if level != "1-2-Ext0" {
			legacy["ELBSecurityPolicy-TLS13-"+level+"-2021-06"] = suite{s.protocols, plain}
			legacy["ELBSecurityPolicy-TLS13-"+level+"-PQ-2025-09"] = suite{s.protocols, plain}
		}
		legacy["ELBSecurityPolicy-TLS13-"+level+"-FIPS-2023-04"] = suite{s.protocols, fips}
		legacy["ELBSecurityPolicy-TLS13-"+level+"-FIPS-PQ-2025-09"] = suite{s.protocols, fips}
	}
	var out []sslPolicy
	for name, s := range legacy {
		p := sslPolicy{Name: name, SslProtocols: query.Members[string]{Member: s.protocols},
			SupportedLoadBalancerTypes: query.Members[string]{Member: []string{typeApplication, typeNetwork}}}
		for i, name := range s.ciphers {
			p.Ciphers.Member = append(p.Ciphers.Member, cipher{name, i + 1})
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b sslPolicy) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func describeSSLPolicies(c *call) (any, error) {
	names := c.Strs("Names")
	kind := c.Text("LoadBalancerType", lbkit.OneOf(typeApplication, typeNetwork, typeGateway))
	marker, size := c.Paging()
	if err := c.Err(); err != nil {
		return nil, err
	}
	all := sslPolicies()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(p sslPolicy) bool { return p.Name == name }) {
			return nil, query.Errorf("SSLPolicyNotFound", "One or more SSL policies not found")
		}
	}
	all = slices.DeleteFunc(all, func(p sslPolicy) bool {
		return len(names) > 0 && !slices.Contains(names, p.Name) || kind != "" && !slices.Contains(p.SupportedLoadBalancerTypes.Member, kind)
	})
	page, next, err := lbkit.Page(all, func(p sslPolicy) string { return p.Name }, marker, size)
	if err != nil {
		return nil, err
	}
	return struct {
		SslPolicies query.Members[sslPolicy]
		NextMarker  string `xml:",omitempty"`
	}{query.Members[sslPolicy]{Member: page}, next}, nil
}
