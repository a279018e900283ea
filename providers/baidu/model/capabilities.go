package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Quotas. Source: https://cloud.baidu.com/doc/BLB/s/Ajwvxno34.
const (
	mostListeners = 50
	mostServers   = 50
	longestName   = 65
	// mostRanges bounds the work for source ranges, which are refused.
	mostRanges = 100
)

// Capabilities are what the load balancers can do.
func Capabilities() []providers.Capability {
	protocols, families := []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}, []corev1.IPFamily{corev1.IPv4Protocol}
	limits := providers.Limits{Ports: mostListeners, Ranges: mostRanges}
	return []providers.Capability{
		{Kind: AppBLB, Doc: "Application load balancer", Protocols: protocols, Mixed: true, Families: families, Affinity: true, Address: true, Limits: limits},
		{
			Kind: BLB, Doc: "Normal load balancer that exists, with one set of backends for all ports", Asked: typeKey.Name + ": " + BLB, Protocols: protocols, Mixed: true, Families: families,
			Affinity: true, NodePorts: true, Limits: limits, Advice: providers.Advice{Address: "bind the EIP to the load balancer"},
		},
	}
}
