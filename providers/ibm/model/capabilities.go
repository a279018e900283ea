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
	// mostRanges bounds the work for source ranges, which are refused.
	mostRanges = 100
)

// Capabilities are what the load balancers can do.
func Capabilities() []providers.Capability {
	return []providers.Capability{{
		Kind: ALB, Doc: "application load balancer of a VPC, which ends connections", Protocols: []corev1.Protocol{corev1.ProtocolTCP},
		Families: []corev1.IPFamily{corev1.IPv4Protocol}, NodePorts: true, Limits: providers.Limits{Ports: mostListeners, Ranges: mostRanges},
		Advice: providers.Advice{Address: "the address is chosen by the subnet; remove the field"},
	}}
}
