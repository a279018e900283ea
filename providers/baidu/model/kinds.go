package model

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Kinds of load balancers.
const (
	// AppBLB is an application load balancer: policies of its listeners send to groups.
	AppBLB = "appblb"
	// BLB is a normal load balancer: its listeners send to all of its backends. New ones are not created.
	BLB = "blb"
)

// Kinds of resources, in the words of the BLB and EIP APIs.
const (
	KindBalancer stack.Kind = "load-balancer"
	KindAddress  stack.Kind = "eip"
	KindGroup    stack.Kind = "server-group"
	KindPool     stack.Kind = "ip-group"
	KindTarget   stack.Kind = "group-port"
	KindListener stack.Kind = "listener"
	KindPolicy   stack.Kind = "policy"
	KindBackends stack.Kind = "backend-servers"
	KindClaim    stack.Kind = "claim"
)

// Balancer is a load balancer.
type Balancer struct {
	Type        string // AppBLB or BLB
	Name        string
	Description string
	VPC, Subnet string
	Tags        map[string]string
	// EIP is the public address: the Service's own one, or the one that it names. Zero: an internal load
	// balancer.
	EIP stack.Ref

	Address string `stack:"evidence"` // in the VPC
}

// Address is a public address that the Service owns.
type Address struct {
	Name      string
	Bandwidth int    // Mbit/s; 0 in a desired one: as found
	Payment   string // Prepaid or Postpaid
	Billing   string // ByTraffic or ByBandwidth, if it is Postpaid
	Months    int    // if it is Prepaid
	Tags      map[string]string

	Instance string `stack:"evidence"` // that it is bound to
}

// Group is a group of servers, or of addresses if it is in KindPool.
type Group struct {
	Name    string
	Mark    string // its description
	Members []Member
}

// Member is one backend: an instance, or the address and port of a pod.
type Member struct {
	Instance string // id
	Address  string
	Port     int32 // of an address
	Weight   int
}

// Target returns what the member sends to.
func (m Member) Target() string { return m.Instance + m.Address }

// Target is a port of a server group, or the protocol of an IP group, with its health check.
type Target struct {
	Protocol string
	Port     int32 // 0 in an IP group, whose members have ports
	Health   Health
	// Balancer contains the group.
	Balancer stack.Key `stack:"aside"`
}

// Health is a health check. In a desired one, zero values mean that the observed value is kept.
type Health struct {
	Timeout, Interval  int    // seconds
	Unhealthy, Healthy int    // results in a row
	Text               string // that backends of UDP have to answer
}

// Protocols of listeners.
const (
	tcp = "TCP"
	udp = "UDP"
)

// Listener is one port of a load balancer. Those of a normal one have a port of the backends and a health
// check of their own.
type Listener struct {
	Protocol    string
	Port        int32
	Scheduler   string
	Mark        string // its description; empty on a normal load balancer
	BackendPort int32
	Health      Health
}

// Policy sends the traffic of a listener to a group.
type Policy struct {
	Protocol string
	Port     int32 // of the listener
	Group    stack.Ref
	Target   stack.Ref // port of the group
	// Backend is the port of the members; 0 if they have ports of their own.
	Backend int32
	Mark    string // its description
	// Balancer contains the listener.
	Balancer stack.Key `stack:"aside"`
}

// Backends are the members of a normal load balancer, which all of its listeners send to.
type Backends struct{ Members []Member }

// Claim lists the listeners without a mark that a Service has on an existing load balancer.
type Claim struct {
	Balancer  string // id
	Listeners []string
}

// OwnKey is the key of the Service's own load balancer.
func OwnKey() stack.Key { return stack.Key{Kind: KindBalancer} }

// ExistingKey returns the key of an existing load balancer. Services that share it have one key.
func ExistingKey(id string) stack.Key { return stack.Key{Kind: KindBalancer, Name: id} }

// AddressKey is the key of the Service's own public address.
func AddressKey() stack.Key { return stack.Key{Kind: KindAddress} }

// GroupKey is the key of the group of nodes.
func GroupKey() stack.Key { return stack.Key{Kind: KindGroup} }

// PoolKey returns the key of the group of the pods behind a port.
func PoolKey(port string) stack.Key { return stack.Key{Kind: KindPool, Name: port} }

// FoundGroupKey returns the key of a group that another controller has created.
func FoundGroupKey(kind stack.Kind, id string) stack.Key {
	return stack.Key{Kind: kind, Name: foundPrefix + id}
}

// foundPrefix begins the names of groups that another controller has created.
const foundPrefix = "found/"

// TargetKey returns the key of a port of a group.
func TargetKey(group stack.Key, protocol string, port int32) stack.Key {
	return stack.Key{Kind: KindTarget, Name: fmt.Sprintf("%s/%s/%s-%d", group.Kind, group.Name, strings.ToLower(protocol), port)}
}

// PortName names a port of a Service, which has one listener for each protocol.
func PortName(protocol string, port int32) string {
	return fmt.Sprintf("%s-%d", strings.ToLower(protocol), port)
}

// NodePortName names a port of a Service with its node port, which one Service of a cluster has.
func NodePortName(protocol string, port, nodePort int32) string {
	return fmt.Sprintf("%s-%d", PortName(protocol, port), nodePort)
}

// ListenerKey returns the key of the listener of a port.
func ListenerKey(protocol string, port int32) stack.Key {
	return stack.Key{Kind: KindListener, Name: PortName(protocol, port)}
}

// PolicyKey returns the key of the policy of a listener.
func PolicyKey(listener stack.Key) stack.Key {
	return stack.Key{Kind: KindPolicy, Name: listener.Name}
}

// BackendsKey is the key of the backends of an existing normal load balancer.
func BackendsKey() stack.Key { return stack.Key{Kind: KindBackends} }

// ClaimKey is the key of the note with the listeners.
func ClaimKey() stack.Key { return stack.Key{Kind: KindClaim} }

// SlotOf returns the place of a listener in its load balancer.
func SlotOf(protocol string, port int32) string { return fmt.Sprintf("port %d/%s", port, protocol) }
