package model

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// ALB is the application load balancer.
const ALB = "alb"

// FamilyNetwork is the family of network load balancers, which are not served: one that
// belongs to a Service is left alone, and is deleted with it.
const FamilyNetwork = "network"

// Kinds of resources, in the words of the VPC API.
const (
	KindBalancer stack.Kind = "load-balancer"
	KindPool     stack.Kind = "pool"
	KindListener stack.Kind = "listener"
)

// Balancer is a load balancer of a VPC.
type Balancer struct {
	Name    string
	Public  bool
	Subnets []string // ids, sorted; empty in a desired one: as found
	// Hostname and Family are found only.
	Hostname string `stack:"evidence"`
	Family   string `stack:"evidence"` // application or network
}

// Pool is the backends of one port. Its name tells port and node port.
type Pool struct {
	Name      string
	Protocol  string // tcp
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

// Member is one backend of a pool.
type Member struct {
	Address string
	Port    int32
}

// Listener is one port of a load balancer.
type Listener struct {
	Protocol string // tcp
	Port     int32
	Limit    int // of connections
	Idle     int // seconds; 0 in a desired one: as found
	Pool     stack.Ref
}

func balancerKey() stack.Key { return stack.Key{Kind: KindBalancer} }

// PoolKey returns the key of the pool of a port.
func PoolKey(protocol string, port int32) stack.Key {
	return stack.Key{Kind: KindPool, Name: fmt.Sprintf("%s-%d", strings.ToLower(protocol), port)}
}

// ListenerKey returns the key of the listener of a port. A load balancer has one listener per
// port, whatever its protocol.
func ListenerKey(port int32) stack.Key {
	return stack.Key{Kind: KindListener, Name: fmt.Sprint(port)}
}
