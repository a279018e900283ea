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
	return []providers.Capability{{
		Kind: AppBLB, Doc: "Application load balancer", Protocols: []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}, Mixed: true, Families: []corev1.IPFamily{corev1.IPv4Protocol},
		Affinity: true, Address: true, Limits: providers.Limits{Ports: mostListeners, Ranges: mostRanges},
	}}
}
