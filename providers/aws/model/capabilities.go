package model

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// How many listeners a load balancer can have.
// Source: Elastic Load Balancing quotas; that of Network Load Balancers is fixed.
const (
	classicListeners = 100
	networkListeners = 50
)

// rulesAtMost is how many rules can be in force for one machine or load balancer: AWS
// raises the quota of a group only so far that, times the groups, it stays below.
// Source: Amazon VPC user guide, quotas for security groups.
const rulesAtMost = 1000

// kindCapabilities returns what the kinds support. Load balancers have IPv4 addresses and
// send to nodes over IPv4, regardless of the Service; the official controller does not
// report that. Source:
// kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer.go.
func kindCapabilities() []providers.Capability {
	const unserved = " and send over IPv4, where this Service has no node ports, so it gets no traffic"
	quota := fmt.Sprintf("; accounts that have not raised the quota of a security group have %d", DefaultRuleLimit)
	return []providers.Capability{
		{
			Kind: CLB, Doc: "Classic Load Balancer", Protocols: []corev1.Protocol{corev1.ProtocolTCP},
			Families: []corev1.IPFamily{corev1.IPv4Protocol}, NodePorts: true, Limits: providers.Limits{Ports: classicListeners, Rules: rulesAtMost},
			Advice: providers.Advice{Protocol: "TCP; UDP needs " + typeKey.Name + `: "nlb"`, Address: "remove the field; only Network Load Balancers have fixed addresses, by " + eipKey.Name, Family: unserved, Rules: quota},
		},
		{
			Kind: NLB, Doc: "Network Load Balancer with instances behind it", Asked: typeKey.Name + ": " + typeNLB, Protocols: []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP},
			Families: []corev1.IPFamily{corev1.IPv4Protocol}, NodePorts: true, Limits: providers.Limits{Ports: networkListeners, Rules: rulesAtMost},
			Advice: providers.Advice{Address: "remove the field; addresses are chosen with " + eipKey.Name + " or " + privateIPKey.Name, Family: unserved, Rules: quota},
		},
		{
			Kind: LBC, Doc: "Network Load Balancer of the AWS Load Balancer Controller, with pods or instances behind it",
			Asked: "spec.loadBalancerClass: " + classLBC, Optional: "where the cloud config says LoadBalancerController = true in the section [Berth]",
			Protocols: []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}, Mixed: true,
			Families: []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}, AffinityIgnored: true, AddressIgnored: true, Limits: providers.Limits{Ports: networkListeners, Rules: rulesAtMost},
			Advice: providers.Advice{Address: "remove the field; addresses are chosen with " + eipKey.Name + " or " + privateIPKey.Name},
		},
	}
}

// capabilityOf returns the capability of one kind.
func capabilityOf(kind string) providers.Capability {
	c, _ := providers.CapabilityOf(kindCapabilities(), kind) // choose knows no other kinds
	return c
}
