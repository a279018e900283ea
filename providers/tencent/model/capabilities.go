package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Quotas. Source: Tencent Cloud, use limits of CLB; CLB API 2018-03-17, CreateLoadBalancer.
const (
	mostListeners = 50
	mostTags      = 20
	longestName   = 80
	mostGroups    = 50
	// mostRanges bounds the work for source ranges, which are refused.
	mostRanges = 100
)

// Capabilities are what the load balancers can do.
func Capabilities() []providers.Capability {
	return []providers.Capability{{
		Kind: CLB, Doc: "Cloud Load Balancer", Protocols: []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}, Mixed: true,
		Families: []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}, Limits: providers.Limits{Ports: mostListeners, Ranges: mostRanges},
		Advice: providers.Advice{Address: `use Vip in ` + extensiveKey.Name + `, and remove the field`},
	}}
}
