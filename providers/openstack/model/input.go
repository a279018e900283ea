package model

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Input is that of the contract with this cloud's configuration.
type Input = providers.Input[Config]

// Identity is that of the contract with this cloud's configuration.
type Identity = providers.Identity[Config]

// Choose says which kind a Service asks for: there is one.
func Choose(*corev1.Service) providers.Choice { return providers.Choice{Kind: Octavia} }

// isInternal reports whether the load balancer gets no floating IP.
func isInternal(in Input) bool { return in.Config.Internal || internalKey.Get(in.Values) }

// classOf returns the settings of the class that the Service names, and false for an
// unknown class.
func classOf(in Input) (Class, bool) {
	name := classKey.Get(in.Values)
	if name == "" {
		return Class{}, true
	}
	c, ok := in.Config.Classes[name]
	return c, ok
}

// ipv6 reports whether the Service's first family is IPv6; only the first one is served.
func ipv6(in Input) bool {
	return len(in.Backends.Families) > 0 && in.Backends.Families[0] == corev1.IPv6Protocol
}

// ipFamily returns the family that is served.
func ipFamily(in Input) corev1.IPFamily {
	if ipv6(in) {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// vipPlace returns the network and subnet of the address: a class prevails over the
// annotations of external Services, and annotations prevail over it on internal ones.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer.go
// (getNetworkID, getSubnetID, createOctaviaLoadBalancer).
func vipPlace(in Input) (network, subnet string) {
	c, _ := classOf(in)
	network = networkKey.Or(in.Values, cmp.Or(c.Network, in.Config.Network))
	subnet = subnetKey.Or(in.Values, cmp.Or(c.Subnet, in.Config.Subnet))
	if !isInternal(in) {
		network, subnet = cmp.Or(c.Network, network), cmp.Or(c.Subnet, subnet)
	}
	return network, subnet
}

// memberSubnet is the subnet of the backends where something says it; else it is that
// of the address.
func memberSubnet(in Input) string {
	c, _ := classOf(in)
	ofAddress := cmp.Or(in.Config.Subnet, subnetKey.Or(in.Values, c.Subnet))
	return memberSubnetKey.Or(in.Values, cmp.Or(c.MemberSubnet, in.Config.MemberSubnet, ofAddress))
}

// floating is where a floating IP is from.
type floating struct {
	network, subnet, name, tags string
}

// floatingPlace is where the Service's floating IP is from. A class that names a subnet
// in any way is heard alone.
func floatingPlace(in Input) floating {
	c, _ := classOf(in)
	f := floating{network: cmp.Or(c.FloatingNetwork, floatingNetworkKey.Or(in.Values, in.Config.FloatingNetwork))}
	for _, level := range []floating{
		{subnet: c.FloatingSubnet, name: c.FloatingSubnetName, tags: c.FloatingSubnetTags},
		{subnet: floatingSubnetKey.Get(in.Values), name: floatingNameKey.Get(in.Values), tags: floatingTagsKey.Get(in.Values)},
		{subnet: in.Config.FloatingSubnet, name: in.Config.FloatingSubnetName, tags: in.Config.FloatingSubnetTags},
	} {
		if level.subnet != "" || level.name != "" || level.tags != "" {
			f.subnet, f.name, f.tags = level.subnet, level.name, level.tags
			break
		}
	}
	return f
}

// protocolsOf returns the protocols of a listener and its pool for a Service's port.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer.go
// (getListenerProtocol, buildPoolCreateOpt).
func protocolsOf(in Input, protocol corev1.Protocol) (listener, pool string) {
	listener, pool = string(protocol), string(protocol)
	if forwardedKey.Get(in.Values) {
		listener, pool = "HTTP", "HTTP"
	}
	if tlsRef(in) != "" {
		listener, pool = "TERMINATED_HTTPS", "HTTP"
	}
	switch proxyKey.Get(in.Values) {
	case "true", "v1":
		pool = "PROXY"
	case "v2":
		pool = "PROXYV2"
	}
	return listener, pool
}

// usesProxyProtocol reports whether members receive the PROXY protocol.
func usesProxyProtocol(in Input) bool {
	says := proxyKey.Get(in.Values)
	return says != "" && says != "false"
}

func tlsRef(in Input) string { return tlsKey.Or(in.Values, in.Config.TLS) }

// hasMonitor reports whether pools have health checks.
func hasMonitor(in Input) bool {
	return monitorKey.Or(in.Values, in.Config.Monitor)
}

// byHTTP reports whether the health check of a pool asks kube-proxy, which reports the
// local endpoints.
func byHTTP(in Input, protocol corev1.Protocol) bool {
	if in.Service.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal || in.Service.Spec.HealthCheckNodePort == 0 || !driverOf(in.Config.Provider).Proxies {
		return false
	}
	return protocol != corev1.ProtocolUDP || in.Config.Features.HTTPOnUDP
}
