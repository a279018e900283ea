package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Quotas. Source: Alibaba Cloud, quotas of CLB.
const (
	mostListeners = 50
	mostServers   = 200 // of a load balancer
	mostTags      = 10
	longestName   = 80
	// mostRanges bounds the work for source ranges, which are refused.
	mostRanges = 100
)

// Capabilities are what the load balancers can do.
func Capabilities() []providers.Capability {
	return []providers.Capability{{
		Kind: CLB, Doc: "Classic Load Balancer", Protocols: []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}, Mixed: true,
		Families: []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}, NodePorts: true, AffinityIgnored: true, Limits: providers.Limits{Ports: mostListeners, Ranges: mostRanges},
		Advice: providers.Advice{Address: "use " + addressKey.Name + " for an address of the vSwitch, and remove the field"},
	}, {
		Kind: NLB, Doc: "Network Load Balancer", Asked: "spec.loadBalancerClass: " + ClassNLB, Protocols: []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}, Mixed: true,
		Families: []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}, NodePorts: true, AffinityIgnored: true, Limits: providers.Limits{Ports: mostListeners, Ranges: mostRanges},
		Advice: providers.Advice{Address: "use an address in " + zonesKey.Name + ", and remove the field"},
	}}
}
