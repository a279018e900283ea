package elb

import "github.com/berth-lb/berth/test/sim/aws/query"

const (
	sslType   = "SSLNegotiationPolicyType"
	proxyType = "ProxyProtocolPolicyType"

	// defaultSSLPolicy is what a secure listener gets when none is named.
	// Source: Classic Load Balancers guide, "predefined SSL security policies".
	defaultSSLPolicy = "ELBSecurityPolicy-2016-08"
	reference        = "Reference-Security-Policy"
)

// predefinedNames are the predefined negotiation policies, newest first. Their ciphers
// and protocols are left out: controllers take the policies by name.
// Source: Classic Load Balancers guide, "predefined SSL security policies".
func predefinedNames() []string {
	return []string{
		"ELBSecurityPolicy-TLS-1-2-2017-01", "ELBSecurityPolicy-TLS-1-1-2017-01", defaultSSLPolicy, "ELBSecurityPolicy-2015-05",
		"ELBSecurityPolicy-2015-03", "ELBSecurityPolicy-2015-02", "ELBSecurityPolicy-2014-10", "ELBSecurityPolicy-2014-01",
		"ELBSecurityPolicy-2011-08", "ELBSample-ELBDefaultCipherPolicy", "ELBSample-OpenSSLDefaultCipherPolicy",
	}
}

// predefinedPolicy returns a predefined negotiation policy by its name.
func predefinedPolicy(name string) (policy, bool) {
	for _, p := range allPredefined() {
		if p.Name == name {
			return p, true
		}
	}
	return policy{}, false
}

func allPredefined() []policy {
	var out []policy
	for _, name := range predefinedNames() {
		out = append(out, policy{name, sslType, []policyAttribute{{reference, name}}})
	}
	return out
}

// complete checks the attributes of a new policy against its type.
// Source: ELB API reference, DescribeLoadBalancerPolicyTypes.
func (p *policy) complete() error {
	name, ok := map[string]string{proxyType: "ProxyProtocol", sslType: reference}[p.Type]
	if !ok {
		return query.Errorf("PolicyTypeNotFound", "Policy type %s does not exist", p.Type)
	}
	if len(p.Attributes) != 1 || p.Attributes[0].Name != name {
		return configurationConflict("Policy attribute %s, and no other, is required for policy type %s", name, p.Type)
	}
	value := p.Attributes[0].Value
	if p.Type == sslType {
		_, ok = predefinedPolicy(value)
	} else {
		ok = value == "true" || value == "false"
	}
	if !ok {
		return configurationConflict("The value '%s' of policy attribute %s is not valid", value, name)
	}
	return nil
}
