package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Limits of the services.
// Sources: Oracle's pages on service limits, Load Balancer API reference, VCN limits.
const (
	mostGroups       = 5
	mostListeners    = 16
	mostNetListeners = 50
	mostRanges       = 100
	mostRules        = 200 // of a security list, in one direction
)

// Capabilities are what the two products can do.
func Capabilities() []providers.Capability {
	four, six, tcp, udp := corev1.IPv4Protocol, corev1.IPv6Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP
	return []providers.Capability{
		{
			Kind: LB, Doc: "Load Balancer, which ends connections", Protocols: []corev1.Protocol{tcp}, Families: []corev1.IPFamily{four, six},
			Affinity: true, Address: true, NodePorts: true, Limits: providers.Limits{Ports: mostListeners, Ranges: mostRanges, Rules: mostRules},
			Advice: providers.Advice{Protocol: "TCP, or " + typeKey.Name + ": nlb"},
		},
		{
			Kind: NLB, Doc: "Network Load Balancer, which passes packets on", Asked: typeKey.Name + ": nlb", Protocols: []corev1.Protocol{tcp, udp}, Mixed: true, Families: []corev1.IPFamily{four, six},
			Affinity: true, Address: true, NodePorts: true, Limits: providers.Limits{Ports: mostNetListeners, Ranges: mostRanges, Rules: mostRules},
		},
	}
}
