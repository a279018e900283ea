package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// kindCapabilities returns what the kinds support. Those of the SKU Service support
// less; see build_pods.go.
func kindCapabilities() []providers.Capability {
	both := []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	public := []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}
	limits := providers.Limits{Ports: mostRules, Ranges: mostPrefixes, Rules: mostSecurityRules}
	return []providers.Capability{
		{
			Kind: Public, Doc: "Standard load balancer with public addresses", Protocols: public, Mixed: true, Families: both, Affinity: true, Address: true, Limits: limits,
			Advice: providers.Advice{Protocol: "TCP or UDP; SCTP is served by internal load balancers, " + internalKey.Name + `: "true"`},
		},
		{
			Kind: Internal, Doc: "Standard load balancer with addresses of a subnet", Asked: internalKey.Name + `: "true"`, Protocols: append(public, corev1.ProtocolSCTP), Mixed: true, Families: both,
			Affinity: true, Address: true, Limits: limits,
		},
	}
}

// capabilityOf returns the capability of one kind.
func capabilityOf(kind string) providers.Capability {
	c, _ := providers.CapabilityOf(kindCapabilities(), kind)
	return c
}
