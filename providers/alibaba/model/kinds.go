package model

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// CLB is the Classic Load Balancer.
const CLB = "clb"

// Kinds of resources, in the words of the SLB API.
const (
	KindBalancer stack.Kind = "load-balancer"
	KindGroup    stack.Kind = "vserver-group"
	KindListener stack.Kind = "listener"
	// KindAttributes is what the Service sets on a load balancer of others: name, tags,
	// billing and protections.
	KindAttributes stack.Kind = "attributes"
	// KindDomain is a further certificate of a listener.
	KindDomain stack.Kind = "domain-extension"
	// KindList is an access control list of others.
	KindList stack.Kind = "access-control-list"
	// KindPublic is the elastic IP addresses of a load balancer.
	KindPublic stack.Kind = "elastic-ips"
)

// Balancer is a Classic Load Balancer. In the desired state of a live one, an empty field means
// that the observed value is kept.
type Balancer struct {
	Name         string
	AddressType  string // internet or intranet
	NetworkType  string // classic or vpc
	IPVersion    string // ipv4 or ipv6
	VPC, VSwitch string
	Address      string
	Zone, Backup string // ids of the primary and the secondary zone
	Group        string // id of the resource group

	ChargeType    string // PayByCLCU or PayBySpec
	Size          string // of PayBySpec, such as slb.s1.small
	TrafficCharge string // paybytraffic or paybybandwidth
	Bandwidth     int    // Mbit/s, of internet load balancers

	DeleteProtection       string // on or off
	ModificationProtection string // ConsoleProtection or NonProtection
	Tags                   map[string]string
	// Returned says that the load balancer is given back to the user: without protections and
	// without the tags of the controller.
	Returned bool
	// Spares are the vSwitches that a new load balancer may use if the first one has no free
	// address.
	Spares []string `stack:"aside"`
}

// VServerGroup is the backends of one node port, or of one target port of pods.
type VServerGroup struct {
	Name    string   // also the description of the Service's servers in a group of others
	Servers []Server // the Service's own
	// Shared reports that the group is the user's, has servers that the user added, or is used
	// by a listener of others. It is never deleted.
	Shared bool `stack:"evidence"`
}

// Types of servers.
const (
	ServerECS = "ecs"
	ServerENI = "eni"
)

// Server is one backend.
type Server struct {
	ID      string // of the instance or the network interface
	Address string // of a network interface
	Type    string // ecs or eni
	Port    int32
	Weight  int
}

// Protocols of listeners.
const (
	tcp   = "tcp"
	udp   = "udp"
	http  = "http"
	https = "https"
)

// Listener is one port of a load balancer.
type Listener struct {
	Protocol    string // tcp, udp, http or https
	Port        int32
	Description string
	Group       stack.Ref
	// Forward is the listener of HTTPS that clients are redirected to. Such a listener has no
	// server group.
	Forward stack.Ref
	Running bool
	// Settings are parameters by their names in the API. The desired state has the
	// requested parameters. Others are kept.
	Settings map[string]string
}

// Domain is a certificate for one domain of a listener.
type Domain struct {
	Name        string
	Certificate string
}

// List is an access control list.
type List struct {
	Entries []string // ranges of addresses
}

// Public is the elastic IP addresses of a load balancer.
type Public struct {
	Addresses []string
}

// DomainKey returns the key of a domain of the listener of a port.
func DomainKey(port int32, domain string) stack.Key {
	return stack.Key{Kind: KindDomain, Name: fmt.Sprintf("%d/%s", port, domain)}
}

// ListKey returns the key of an access control list.
func ListKey(id string) stack.Key { return stack.Key{Kind: KindList, Name: id} }

// Other load balancers that a read finds.
const (
	// NamedBalancer is the one that the Service names beside its own.
	NamedBalancer = "named"
	// FormerBalancer is the one of others that has parts of the Service.
	FormerBalancer = "former"
)

func balancerKey() stack.Key { return stack.Key{Kind: KindBalancer} }

// GroupKey returns the key of the server group of a port of the backends, a number or a name.
func GroupKey(port string) stack.Key { return stack.Key{Kind: KindGroup, Name: port} }

// ListenerKey returns the key of the listener of a port. Listeners of UDP may have the port of
// another one.
func ListenerKey(protocol string, port int32) stack.Key {
	return stack.Key{Kind: KindListener, Name: fmt.Sprintf("%s-%d", transportOf(protocol), port)}
}

// SlotOf returns the place of a listener in its load balancer.
func SlotOf(protocol string, port int32) string {
	return fmt.Sprintf("port %d/%s", port, strings.ToUpper(transportOf(protocol)))
}

func transportOf(protocol string) string {
	if protocol == udp {
		return udp
	}
	return tcp
}
