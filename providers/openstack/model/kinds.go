package model

import (
	"net/netip"

	"github.com/berth-lb/berth/stack"
)

// Octavia is the one kind of load balancer.
const Octavia = "octavia"

// Kinds of resources, in OpenStack's words.
const (
	KindBalancer stack.Kind = "load-balancer"
	KindListener stack.Kind = "listener"
	KindPool     stack.Kind = "pool"
	KindMembers  stack.Kind = "members"
	KindMonitor  stack.Kind = "health-monitor"
	// KindShare is the tag by which a Service says that it uses a load balancer that
	// is not its own.
	KindShare stack.Kind = "share"
	// KindFloatingIP is a floating IP that was made for the Service.
	KindFloatingIP stack.Kind = "floating-ip"
	// KindBinding is the binding of a floating IP of the user's to the load balancer.
	KindBinding stack.Kind = "floating-ip-binding"
	KindGroup   stack.Kind = "security-group"
	KindRules   stack.Kind = "security-group-rules"
	// KindGroupPorts is the ports of nodes that have the security group.
	KindGroupPorts stack.Kind = "security-group-ports"
)

// Handed returns the keys of what the maker of a shared load balancer leaves to the others:
// what all of them use.
func Handed() []stack.Key { return []stack.Key{balancerKey(), {Kind: KindFloatingIP}} }

// OnBalancer returns the keys of the Service's resources that are part of a load balancer,
// and are deleted with it.
func OnBalancer() []stack.Key { return []stack.Key{shareKey()} }

func balancerKey() stack.Key { return stack.Key{Kind: KindBalancer} }
func shareKey() stack.Key    { return stack.Key{Kind: KindShare} }
func groupKey() stack.Key    { return stack.Key{Kind: KindGroup} }

func rulesKey() stack.Key      { return stack.Key{Kind: KindRules} }
func groupPortsKey() stack.Key { return stack.Key{Kind: KindGroupPorts} }

// Balancer is a load balancer. What is below it are resources of their own.
type Balancer struct {
	Name, Description string
	Tags              []string // the Service's own must be among them
	Provider          string
	Flavor, Zone      string
	Network, Subnet   string // where the address is from; ids
	Port              string // id of the port of the address; found, or given by the user
	Address           string
	// Status is Failed, or Active where the load balancer is in any other state: what it
	// is busy with, stack.State tells.
	Status string
	// Stuck reports that it is in ERROR, and that nothing this project may do repairs it.
	Stuck bool
	// Lost reports that it is Stuck, and that it is known to forward nothing.
	Lost bool
}

// The states of a load balancer that are decided on.
// Source: Octavia API reference, provisioning status codes.
const (
	Active = "ACTIVE"
	Failed = "ERROR"
)

// Listener is one port of a load balancer.
type Listener struct {
	Name     string
	Tags     []string
	Protocol string
	Port     int32
	Pool     stack.Ref
	Limit    int               // connections; -1: no limit
	Headers  map[string]string // that are inserted
	TLS      string            // where the certificate is kept
	Ranges   []string          // of clients; empty: the API has no such thing
	Timeouts Timeouts
	Claim    string // to its port; see ClaimTag
}

// Timeouts are those of a listener, in milliseconds. The zero value stands for an API
// that has none.
type Timeouts struct {
	ClientData, MemberConnect, MemberData, Inspect int
	Known                                          bool
}

// Pool is what a listener sends to.
type Pool struct {
	Name      string
	Protocol  string
	Algorithm string
	Sticky    bool   // sessions stay by the client's address
	Claim     string // to the port that it is for; see ClaimTag
}

// Members are those of a pool.
type Members struct {
	Members []Member
	// Ranges are the addresses of the members' subnets by the subnets' ids, as far as they
	// are known; without an id, that of the load balancer. Groups of nodes are built from them.
	Ranges map[string]netip.Prefix `stack:"aside"`
}

// Member is a node behind a pool.
type Member struct {
	Name    string
	Address string
	Port    int32
	Subnet  string // id; empty: none is said
	Check   int32  // port of the health check; 0: Port
}

// Compare orders members by address and port.
func (m Member) Compare(o Member) int { return compareMembers(m, o) }

// Monitor is the health check of a pool, with times in seconds.
type Monitor struct {
	Name                 string
	Type                 string
	Delay, Timeout       int
	Retries, RetriesDown int
	Path, Method, Codes  string // of HTTP
}

// Share is a Service's tag on a load balancer of others.
type Share struct {
	Balancer string // id
	Tag      string
}

// FloatingIP is a floating IP that is made for the Service.
type FloatingIP struct {
	Network     string
	Subnets     []string // tried in order; empty: Neutron chooses
	Address     string
	Description string
	Keep        bool      // it outlives the Service, unbound
	Balancer    stack.Ref // whose port it is bound to
}

// Binding binds an existing floating IP.
type Binding struct {
	FloatingIP string // id
	Address    string
	Balancer   stack.Ref
}

// Group is a security group for the nodes of one Service.
type Group struct {
	Name, Description string
}

// GroupRules are what it lets in. The fields besides Rules order the writes; only desired rules have
// them, and the cloud does not.
type GroupRules struct {
	Rules []GroupRule
	// Clients says that the addresses of clients reach the nodes: nothing else limits them.
	Clients bool
	// Opens lists new rules that admit further clients at the node port of a listener that is to
	// be deleted, and Shuts obsolete ones that admit, at the node port of a new listener, clients
	// that no desired rule admits.
	Opens, Shuts []GroupRule
}

// GroupRule is one rule. Desired rules are for incoming traffic.
type GroupRule struct {
	Direction string
	Family    string // IPv4, IPv6
	Protocol  string // in lower case
	Port      int32  // the first port
	Last      int32  // the last port
	Remote    string // a range, or a found rule's group
}

// GroupPorts are the ports of nodes that have the group, by id.
type GroupPorts struct{ Ports []string }
