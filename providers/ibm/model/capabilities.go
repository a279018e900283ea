package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Quotas. Source: ibm-cloud-docs/vpc, quotas.md.
const (
	mostListeners = 10
	mostMembers   = 50
	mostSubnets   = 15
	mostGroups    = 5 // of a load balancer
	// mostRanges bounds the work for source ranges, which are refused.
	mostRanges = 100
)

// Capabilities are what the load balancers can do.
func Capabilities() []providers.Capability {
	tcp, udp := corev1.ProtocolTCP, corev1.ProtocolUDP
	kind := func(name, doc, asked string, protocols ...corev1.Protocol) providers.Capability {
		return providers.Capability{
			Kind: name, Doc: doc, Asked: asked, Protocols: protocols, Mixed: len(protocols) > 1,
			Families: []corev1.IPFamily{corev1.IPv4Protocol}, NodePorts: true, AffinityIgnored: true, Limits: providers.Limits{Ports: mostListeners, Ranges: mostRanges},
			Advice: providers.Advice{Address: "the address is chosen by the subnet; remove the field"},
		}
	}
	alb := kind(ALB, "application load balancer of a VPC, which ends connections", "", tcp)
	alb.Advice.Protocol = "TCP, or " + featuresKey.Name + ": nlb"
	return []providers.Capability{
		alb,
		kind(NLB, "network load balancer of a VPC, which passes packets on", featuresKey.Name+": nlb", tcp, udp),
		kind(PrivatePath, "network load balancer of a VPC that consumers reach through endpoint gateways", featuresKey.Name+": private-path", tcp),
	}
}
