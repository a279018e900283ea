package elb

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

const (
	sslType         = "SSLNegotiationPolicyType"
	appCookieType   = "AppCookieStickinessPolicyType"
	lbCookieType    = "LBCookieStickinessPolicyType"
	proxyType       = "ProxyProtocolPolicyType"
	publicKeyType   = "PublicKeyPolicyType"
	backendAuthType = "BackendServerAuthenticationPolicyType"

	// defaultSSLPolicy is what a secure listener gets when none is named.
	// Source: Classic Load Balancers guide, "predefined SSL security policies".
	defaultSSLPolicy = "ELBSecurityPolicy-2016-08"
	reference        = "Reference-Security-Policy"
	serverOrder      = "Server-Defined-Cipher-Order"
)

type policyType struct {
	PolicyTypeName                  string
	Description                     string
	PolicyAttributeTypeDescriptions query.Members[attributeType]
}

type attributeType struct {
	AttributeName string
	AttributeType string
	DefaultValue  string `xml:",omitempty"`
	Cardinality   string
}

// policyTypes are all types with their attributes. Cardinalities are ONE,
// ZERO_OR_ONE, ZERO_OR_MORE and ONE_OR_MORE; source: ELB API reference.
func policyTypes() []policyType {
	one := func(name, kind, def, cardinality string) query.Members[attributeType] {
		return query.Members[attributeType]{Member: []attributeType{{name, kind, def, cardinality}}}
	}
	ssl := []attributeType{{reference, "String", "", "ZERO_OR_ONE"}}
	for _, n := range sslSwitches() {
		ssl = append(ssl, attributeType{n, "Boolean", "false", "ZERO_OR_ONE"})
	}
	return []policyType{
		{appCookieType, "Stickiness policy with session lifetimes controlled by the lifetime of the application-generated cookie. This policy can be associated only with HTTP/HTTPS listeners.",
			one("CookieName", "String", "", "ONE")},
		{backendAuthType, "Policy that controls authentication to back-end servers and contains one or more policies of type PublicKeyPolicyType. It can be associated only with back-end servers that use HTTPS/SSL.",
			one("PublicKeyPolicyName", "PolicyName", "", "ONE_OR_MORE")},
		{lbCookieType, "Stickiness policy with session lifetimes controlled by the browser or a specified expiration period. This policy can be associated only with HTTP/HTTPS listeners.",
			one("CookieExpirationPeriod", "Long", "", "ZERO_OR_ONE")},
		{proxyType, "Policy that controls whether the IP address and port of the original request are sent to back-end servers on TCP/SSL listeners.",
			one("ProxyProtocol", "Boolean", "", "ONE")},
		{publicKeyType, "Policy with a list of public keys to accept when authenticating back-end servers. It cannot be applied to servers or listeners directly, only as part of a BackendServerAuthenticationPolicyType.",
			one("PublicKey", "String", "", "ONE")},
		{sslType, "Listener policy that defines the ciphers and protocols accepted by the load balancer. This policy can be associated only with HTTPS/SSL listeners.",
			query.Members[attributeType]{Member: ssl}},
	}
}

func describePolicyTypes(c *call) (any, error) {
	all := policyTypes()
	names := c.Strs("PolicyTypeNames")
	var out struct {
		PolicyTypeDescriptions query.Members[policyType]
	}
	if len(names) == 0 {
		out.PolicyTypeDescriptions.Member = all
	}
	for _, name := range names {
		t, ok := typeNamed(name)
		if !ok {
			return nil, noType(name)
		}
		out.PolicyTypeDescriptions.Member = append(out.PolicyTypeDescriptions.Member, t)
	}
	return out, nil
}

func typeNamed(name string) (policyType, bool) {
	all := policyTypes()
	i := slices.IndexFunc(all, func(t policyType) bool { return t.PolicyTypeName == name })
	if i < 0 {
		return policyType{}, false
	}
	return all[i], true
}

func noType(name string) error {
	return query.Errorf("PolicyTypeNotFound", "Policy type %s does not exist", name)
}

// complete checks the attributes of a new policy against its type and adds what
// they imply: a policy that refers to a predefined one shows its whole content.
func (p *policy) complete() error {
	t, ok := typeNamed(p.Type)
	if !ok {
		return noType(p.Type)
	}
	for _, given := range p.Attributes.Member {
		if err := t.check(given); err != nil {
			return err
		}
	}
	for _, a := range t.PolicyAttributeTypeDescriptions.Member {
		n := 0
		for _, given := range p.Attributes.Member {
			if given.Name == a.AttributeName {
				n++
			}
		}
		if n == 0 && strings.HasPrefix(a.Cardinality, "ONE") {
			return conflict("Policy attribute %s is required for policy type %s", a.AttributeName, p.Type)
		}
		if n > 1 && !strings.HasSuffix(a.Cardinality, "MORE") {
			return conflict("Policy attribute %s was given more than once", a.AttributeName)
		}
	}
	if p.Type == sslType {
		return p.expand()
	}
	return nil
}

func (t policyType) check(given policyAttribute) error {
	i := slices.IndexFunc(t.PolicyAttributeTypeDescriptions.Member, func(a attributeType) bool { return a.AttributeName == given.Name })
	if i < 0 {
		return conflict("Policy attribute %s is not valid for policy type %s", given.Name, t.PolicyTypeName)
	}
	var ok bool
	switch t.PolicyAttributeTypeDescriptions.Member[i].AttributeType {
	case "Boolean":
		ok = strings.EqualFold(given.Value, "true") || strings.EqualFold(given.Value, "false")
	case "Long":
		ok = number(given.Value)
	default:
		ok = given.Value != ""
	}
	if !ok {
		return conflict("The value '%s' of policy attribute %s is not valid", given.Value, given.Name)
	}
	return nil
}

func (p *policy) expand() error {
	if name := p.attribute(reference); name != "" {
		ref, ok := predefined(name)
		if !ok {
			return conflict("There is no predefined security policy %s", name)
		}
		p.Attributes = ref.Attributes
		return nil
	}
	on := p.Attributes.Member
	p.Attributes.Member = nil
	for _, n := range sslSwitches() {
		value := "false"
		for _, a := range on {
			if a.Name == n && strings.EqualFold(a.Value, "true") {
				value = "true"
			}
		}
		p.Attributes.Member = append(p.Attributes.Member, policyAttribute{n, value})
	}
	return nil
}
