package elb

import (
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// Ciphers by generation: each list holds what it adds to the one before.
// Source: Classic Load Balancers guide, "predefined SSL security policies".
func forwardCiphers() []string {
	return []string{
		"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-RSA-AES128-SHA256",
		"ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-RSA-AES256-SHA384",
		"AES128-GCM-SHA256", "AES128-SHA256", "AES256-GCM-SHA384", "AES256-SHA256",
	}
}

func shaCiphers() []string {
	return []string{"ECDHE-ECDSA-AES128-SHA", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA", "ECDHE-ECDSA-AES256-SHA", "AES128-SHA", "AES256-SHA"}
}

func oldCiphers() []string {
	return []string{"DES-CBC3-SHA", "DHE-RSA-AES128-SHA", "DHE-DSS-AES128-SHA", "CAMELLIA128-SHA", "EDH-RSA-DES-CBC3-SHA", "ECDHE-RSA-RC4-SHA", "RC4-SHA", "ECDHE-ECDSA-RC4-SHA"}
}

func allCiphers() []string { return slices.Concat(forwardCiphers(), shaCiphers(), oldCiphers()) }

func sslProtocols() []string { return []string{"TLSv1", "SSLv3", "TLSv1.1", "TLSv1.2"} }

// sslSwitches are the boolean attributes of a negotiation policy.
func sslSwitches() []string {
	var out []string
	for _, p := range sslProtocols() {
		out = append(out, "Protocol-"+p)
	}
	return append(append(out, serverOrder), allCiphers()...)
}

type generation struct {
	name      string
	protocols []string
	ciphers   []string
	ordered   bool
}

// generations are the predefined policies, newest first. The exact ciphers of
// those before 2015-05 are simplified to the old list cut at a point.
func generations() []generation {
	tls := []string{"TLSv1", "TLSv1.1", "TLSv1.2"}
	base := append(forwardCiphers(), shaCiphers()...)
	with := func(n int) []string { return append(slices.Clone(base), oldCiphers()[:n]...) }
	return []generation{
		{"ELBSecurityPolicy-TLS-1-2-2017-01", tls[2:], forwardCiphers(), true},
		{"ELBSecurityPolicy-TLS-1-1-2017-01", tls[1:], base, true},
		{defaultSSLPolicy, tls, base, true},
		{"ELBSecurityPolicy-2015-05", tls, with(1), true},
		{"ELBSecurityPolicy-2015-03", tls, with(3), true},
		{"ELBSecurityPolicy-2015-02", tls, with(3)[:len(base)], true},
		{"ELBSecurityPolicy-2014-10", tls, with(7), true},
		{"ELBSecurityPolicy-2014-01", append([]string{"SSLv3"}, tls...), with(7), true},
		{"ELBSecurityPolicy-2011-08", []string{"SSLv3", "TLSv1"}, with(8), false},
		{"ELBSample-ELBDefaultCipherPolicy", []string{"SSLv3", "TLSv1"}, with(8), false},
		{"ELBSample-OpenSSLDefaultCipherPolicy", []string{"SSLv3", "TLSv1"}, with(8), false},
	}
}

// predefined gives a predefined negotiation policy by its name.
func predefined(name string) (policy, bool) {
	all := allPredefined()
	i := slices.IndexFunc(all, func(p policy) bool { return p.Name == name })
	if i < 0 {
		return policy{}, false
	}
	return all[i], true
}

func allPredefined() []policy {
	var out []policy
	for _, g := range generations() {
		attrs := []policyAttribute{{reference, g.name}}
		add := func(name string, on bool) {
			attrs = append(attrs, policyAttribute{name, strconv.FormatBool(on)})
		}
		for _, p := range sslProtocols() {
			add("Protocol-"+p, slices.Contains(g.protocols, p))
		}
		add(serverOrder, g.ordered)
		for _, cipher := range allCiphers() {
			add(cipher, slices.Contains(g.ciphers, cipher))
		}
		out = append(out, policy{g.name, sslType, query.Members[policyAttribute]{Member: attrs}})
	}
	return out
}
