package model

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Kinds of load balancers.
const (
	ALB         = "alb"
	NLB         = "nlb"
	PrivatePath = "private-path" // a network load balancer that consumers reach through endpoint gateways
)

// Profiles of network load balancers. Application load balancers are created without one.
// Source: VPC API reference, LoadBalancerProfile.
const (
	profileFixed = "network-fixed"
	profilePath  = "network-private-path"
)

// ProfileOf returns the name of the profile of a new load balancer; empty: that of the API.
func ProfileOf(kind string) string {
	return map[string]string{NLB: profileFixed, PrivatePath: profilePath}[kind]
}

// KindOf returns the kind of an existing load balancer by the family and the name of its
// profile.
func KindOf(family, profile string) string {
	switch {
	case profile == profilePath:
		return PrivatePath
	case strings.EqualFold(family, "network"):
		return NLB
	}
	return ALB
}

// Kinds of resources, in the words of the VPC API.
const (
	KindBalancer stack.Kind = "load-balancer"
	KindPool     stack.Kind = "pool"
	KindListener stack.Kind = "listener"
	// KindRule is a rule of the security group of the cluster's nodes.
	KindRule stack.Kind = "security-group-rule"
)

// Balancer is a load balancer of a VPC.
type Balancer struct {
	Name    string
	Kind    string // alb, nlb or private-path
	Public  bool
	Subnets []string // ids, sorted; empty in a desired one: as found
	Groups  []string // ids of security groups, sorted; empty in a desired one: as found
	DNS     DNS      // empty in a desired one: as found
	// Awaited means that the addresses are needed as soon as it is created; desired only.
	Awaited bool
	// Hostname and Addresses are found only.
	Hostname  string   `stack:"evidence"`
	Addresses []string `stack:"evidence"` // public ones of a public load balancer, else private ones
}

// DNS is the zone of a DNS instance in which a private load balancer is registered.
type DNS struct{ Instance, Zone string } // CRN, id

// Pool is the backends of one port or range. Its name tells port and node port.
type Pool struct {
	Name      string
	Protocol  string // tcp or udp
	Algorithm string
	Proxy     string // disabled, v1 or v2
	Health    Health
	Members   []Member
	// Managed is the instance group that sets the members; found only.
	Managed string `stack:"evidence"`
}

// Health is a health check.
type Health struct {
	Type                    string // tcp, http or https
	Port                    int32
	Path                    string // of http and https
	Delay, Timeout, Retries int    // seconds, seconds, times
}

// Member is one backend of a pool: an address, or an instance of a network load balancer.
type Member struct {
	Address  string
	Instance string // id
	Port     int32
}

// target returns what the member sends to.
func (m Member) target() string { return cmp.Or(m.Instance, m.Address) }

// Listener is one port, or one range of ports, of a load balancer.
type Listener struct {
	Protocol string // tcp or udp
	Port     int32  // the first one of a range
	Last     int32  // the last one of a range; Port of a single port
	Limit    int    // of connections
	Idle     int    // seconds; 0 in a desired one: as found
	Pool     stack.Ref
}

// Rule lets the nodes open connections to one address of a load balancer at one port.
type Rule struct {
	Group   string // id of the security group
	Address string
	Port    int32
}

func balancerKey() stack.Key { return stack.Key{Kind: KindBalancer} }

// PoolKey returns the key of the pool of a port, or of a range by its first port.
func PoolKey(protocol string, port int32) stack.Key {
	return stack.Key{Kind: KindPool, Name: fmt.Sprintf("%s-%d", strings.ToLower(protocol), port)}
}

// ListenerKey returns the key of the listener of a port. A load balancer has one listener per
// port, whatever its protocol.
func ListenerKey(port int32) stack.Key {
	return stack.Key{Kind: KindListener, Name: fmt.Sprint(port)}
}
