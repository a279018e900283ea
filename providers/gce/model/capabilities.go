package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// What a firewall can have: Source: docs.cloud.google.com/firewall/docs/quotas, ranges of
// sources of one rule. The limit of ports is Berth's own; Google Cloud counts them only
// together with all other attributes of a project's firewalls.
const (
	mostRanges = 5000
	mostPorts  = 1000
)

// kindCapabilities returns what the kinds support. The older ones serve one protocol
// and have IPv4 only, regardless of the Service. Source:
// kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer.go.
func kindCapabilities() []providers.Capability {
	protocols := []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}
	v4, both := []corev1.IPFamily{corev1.IPv4Protocol}, []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	limits := providers.Limits{Ports: mostPorts, Ranges: mostRanges}
	return []providers.Capability{
		{
			Kind: TargetPool, Doc: "external, on a target pool", Protocols: protocols, Families: v4, Affinity: true, Address: true, Limits: limits,
			Advice: providers.Advice{Mixed: "one protocol; kind " + NetLB + " has both, see " + rbsKey.Name},
		},
		{Kind: NetLB, Doc: "external, on a regional backend service", Asked: rbsKey.Name + ": enabled", Protocols: protocols, Mixed: true, Families: both, Affinity: true, Address: true, Limits: limits},
		{
			Kind: InternalIG, Doc: "internal, with instance groups", Asked: typeKey.Name + ": Internal", Protocols: protocols, Families: v4, Affinity: true, Address: true, Limits: limits,
			Advice: providers.Advice{Mixed: "one protocol; kind " + InternalNEG + " has both, see spec.loadBalancerClass " + classInternal},
		},
		{Kind: InternalNEG, Doc: "internal, with network endpoint groups", Asked: "spec.loadBalancerClass: " + classInternal, Protocols: protocols, Mixed: true, Families: both, Affinity: true, Address: true, Limits: limits},
	}
}
