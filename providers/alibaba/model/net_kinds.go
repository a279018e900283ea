package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// NLB is the Network Load Balancer.
const NLB = "nlb"

// ClassNLB is the class of Services with network load balancers.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/helper/service_utils.go.
const ClassNLB = "alibabacloud.com/nlb"

// Kinds of resources, in the words of the NLB and ECS APIs.
const (
	KindNetBalancer stack.Kind = "network-load-balancer"
	KindServerGroup stack.Kind = "server-group"
	KindNetListener stack.Kind = "network-listener"
	// KindNetAttributes is what the Service sets on a network load balancer of others.
	KindNetAttributes stack.Kind = "network-attributes"
	// KindSecurityGroup is the security group that admits the source ranges of a Service.
	KindSecurityGroup stack.Kind = "security-group"
)

// NetBalancer is a network load balancer. In the desired state of a live one, an empty field means
// that the observed value is kept.
type NetBalancer struct {
	Name        string
	AddressType string // Internet or Intranet
	IPVersion   string // ipv4 or DualStack
	IPv6Type    string // Internet or Intranet, of the IPv6 address
	VPC         string
	Zones       []Zone
	Group       string // id of the resource group
	Package     string // id of the common bandwidth package
	CrossZone   string // true or false
	// Security are the security groups that have been joined.
	Security []stack.Ref
	Tags     map[string]string
	Host     string // DNS name, which the cloud chooses
	// Protected and Locked report the protections against deletion and changes, which follow from
	// the creation.
	Protected, Locked bool `stack:"evidence"`
	// Returned says that the load balancer is given back to the user.
	Returned bool
}

// Zone is one zone of a network load balancer.
type Zone struct {
	Zone, VSwitch string
	Private       string // address; empty: the cloud chooses
	Public        string // id of an elastic IP address; empty: the cloud chooses
}

// ServerGroup is the backends of one port of a network load balancer.
type ServerGroup struct {
	Name      string // also the description of the Service's servers in a group of others
	Protocol  string // TCP, UDP or TCPSSL
	Type      string // Instance or Ip
	IPVersion string // ipv4 or DualStack
	Affinity  string `stack:"aside"` // IpVersionAffinityMode of a new group
	AnyPort   bool   // servers are reached at the port of the client
	Group     string // id of the resource group
	Servers   []Server
	// Settings are parameters by their names in the API. Those of lists are separated by commas.
	Settings map[string]string
	// Shared reports that the group is the user's, has servers that the user added, or is used
	// by a listener of others. It is never deleted.
	Shared bool `stack:"evidence"`
	// Returned says that the group is given back to the user: without the tags of the controller.
	Returned bool
}

// NetListener is one port, or a range of ports, of a network load balancer.
type NetListener struct {
	Protocol    string // TCP, UDP or TCPSSL
	Port        int32  // the first one of a range
	End         int32  // the last one of a range; 0: one port
	Description string
	Group       stack.Ref
	Running     bool
	// Settings are parameters by their names in the API. Others are kept.
	Settings map[string]string
	More     []string // ids of additional certificates
}

// SecurityGroup admits ranges of clients to a network load balancer.
type SecurityGroup struct {
	Name        string
	Description string // also of its rules
	Group       string // id of the resource group
	Ranges      []string
	DualStack   bool `stack:"aside"` // clients with IPv6 addresses reach the load balancer
}

// Protocols of listeners of network load balancers.
const (
	netTCP    = "TCP"
	netUDP    = "UDP"
	netTCPSSL = "TCPSSL"
)

// Values of the NLB API.
const (
	netInternet  = "Internet"
	netIntranet  = "Intranet"
	netIPv4      = "ipv4"
	netDualStack = "DualStack"

	groupInstance = "Instance"
	groupIP       = "Ip"
)

// ServerIP is the type of a server by its address alone.
const ServerIP = "ip"

func netBalancerKey() stack.Key    { return stack.Key{Kind: KindNetBalancer} }
func netAttributesKey() stack.Key  { return stack.Key{Kind: KindNetAttributes} }
func securityGroupKey() stack.Key  { return stack.Key{Kind: KindSecurityGroup} }
func netTransport(p string) string { return cmp.Or(map[string]string{netUDP: udp}[p], tcp) }

// ServerGroupKey returns the key of the server group of a port of the backends, a number, a name or a
// range, and a protocol.
func ServerGroupKey(port, protocol string) stack.Key {
	return stack.Key{Kind: KindServerGroup, Name: port + "." + protocol}
}

// NetListenerKey returns the key of a listener. Listeners of UDP may have the ports of others.
func NetListenerKey(protocol string, port, end int32) stack.Key {
	return stack.Key{Kind: KindNetListener, Name: netTransport(protocol) + "-" + portsText(port, end)}
}

// NetSlotOf returns the place of a listener in its load balancer.
func NetSlotOf(protocol string, port, end int32) string {
	return "port " + portsText(port, end) + "/" + strings.ToUpper(netTransport(protocol))
}

// portsText returns a port, or a range of ports, as names have it.
func portsText(port, end int32) string {
	if end == 0 {
		return fmt.Sprint(port)
	}
	return fmt.Sprintf("%d_%d", port, end)
}

// NetName returns the name of a server group or the description of a listener.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/model/nlb (NamedKey).
func NetName(port, protocol string, o stack.Owner, cluster string) string {
	return strings.Join([]string{"k8s", port, protocol, o.Name, o.Namespace, cluster}, ".")
}

// IsNetNameOf reports whether a name or description is of a Service, and returns its port and protocol.
func IsNetNameOf(name string, o stack.Owner, cluster string) (port, protocol string, ok bool) {
	parts := strings.Split(name, ".")
	if len(parts) != 6 || parts[0] != "k8s" || parts[3] != o.Name || parts[4] != o.Namespace || parts[5] != cluster {
		return "", "", false
	}
	return parts[1], parts[2], true
}

// IsNetControllerName reports whether a controller of any cluster wrote a name.
func IsNetControllerName(name string) bool {
	parts := strings.Split(name, ".")
	return len(parts) == 6 && parts[0] == "k8s"
}

// SecurityGroupName returns the name of the security group of a Service.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/nlbv2/security_group.go.
func SecurityGroupName(o stack.Owner) string { return "k8s-nlb-" + DefaultName(o) }

// SecurityGroupDescription returns the description of the security group of a Service and its rules.
func SecurityGroupDescription(o stack.Owner, cluster string) string {
	return strings.Join([]string{"k8s", o.Namespace, o.Name, cluster}, ".")
}

// ServersIn returns the servers of a group of either kind.
func ServersIn(spec stack.Spec) ([]Server, bool) {
	switch g := spec.(type) {
	case VServerGroup:
		return g.Servers, true
	case ServerGroup:
		return g.Servers, true
	}
	return nil, false
}

// withServers returns a group of either kind with other servers.
func withServers(spec stack.Spec, servers []Server) stack.Spec {
	switch g := spec.(type) {
	case VServerGroup:
		g.Servers = servers
		return g
	case ServerGroup:
		g.Servers = servers
		return g
	}
	return spec
}

// NetVersion returns an address family in the spelling of specs.
func NetVersion(word string) string {
	if strings.EqualFold(word, netDualStack) {
		return netDualStack
	}
	return netIPv4
}

// CompareZones orders zones.
func CompareZones(a, b Zone) int {
	return cmp.Or(strings.Compare(a.Zone, b.Zone), strings.Compare(a.VSwitch, b.VSwitch))
}

// hasZones reports whether a load balancer has every desired zone. Others are those of the user.
func hasZones(want, have any) bool {
	asked, _ := want.([]Zone)
	found, _ := have.([]Zone)
	for _, w := range asked {
		if !slices.ContainsFunc(found, func(h Zone) bool {
			return h.Zone == w.Zone && h.VSwitch == w.VSwitch && (w.Private == "" || w.Private == h.Private) && (w.Public == "" || w.Public == h.Public)
		}) {
			return false
		}
	}
	return true
}
