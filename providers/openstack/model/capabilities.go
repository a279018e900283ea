package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Limits of Berth's own: Octavia has none but quotas, which are the operator's.
const (
	mostPorts  = 500
	mostRanges = 1000
	mostRules  = 10000 // a range of a listener is one
)

// Capabilities are what load balancers of Octavia can do. What a driver or an older
// version cannot, Build says, which knows the cloud.
func Capabilities() []providers.Capability {
	return []providers.Capability{{
		Kind: Octavia, Doc: "load balancer of Octavia, with a floating IP unless it is internal",
		Protocols: []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}, Mixed: true,
		Families: []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}, Affinity: true, Address: true, NodePorts: true, EmptyPools: true,
		Limits: providers.Limits{Ports: mostPorts, Ranges: mostRanges, Rules: mostRules},
	}}
}

// Driver is what load balancers of one driver can do, and how they do it.
type Driver struct {
	// Proxies says that connections end at the load balancer: it can speak HTTP, TLS and
	// the PROXY protocol, can ask for health by HTTP, and nodes see its addresses. Else
	// packets are passed on, and nodes see the clients'.
	Proxies bool
	// Algorithms are the ways to choose a member; none: all.
	Algorithms []string
	// Failover reports that a load balancer in ERROR can be failed over in place. Otherwise
	// it is replaced by one with the same address.
	Failover bool
	// Settings says that flavors, availability zones, timeouts and ranges of clients are
	// heard, where the version of the API has them.
	Settings bool
}

// ovn is the driver that does layer 4 only.
const ovn = "ovn"

// FailsOver reports whether a load balancer of a driver can be failed over when in ERROR.
func FailsOver(driver string) bool { return driverOf(driver).Failover }

// driverOf returns what a driver can do; one that is not known counts as amphora.
// Source: openstack/ovn-octavia-provider, driver.py; Octavia feature matrix of providers.
func driverOf(name string) Driver {
	if name == ovn {
		return Driver{Algorithms: []string{"SOURCE_IP_PORT"}}
	}
	return Driver{Proxies: true, Failover: true, Settings: true}
}
