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

// VServerGroup is the backends of one node port.
type VServerGroup struct {
	Name    string
	Servers []Server // the Service's own
	// Shared reports that the group has servers that the user added. It is never deleted.
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
	Running     bool
	// Settings are parameters by their names in the API. The desired state has the
	// requested parameters. Others are kept.
	Settings map[string]string
}

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
