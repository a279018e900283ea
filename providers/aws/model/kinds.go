package model

import (
	"github.com/berth-lb/berth/stack"
)

// Kinds of load balancers, as a Service chooses them.
const (
	// CLB is a Classic Load Balancer.
	CLB = "clb"
	// NLB is a Network Load Balancer with instance targets.
	NLB = "nlb"
	// LBC is a Network Load Balancer as the AWS Load Balancer Controller makes it.
	LBC = "nlb-lbc"
)

// Kinds of resources, in AWS's words.
const (
	KindGroup        stack.Kind = "security-group"            // our own group, on the load balancer
	KindIngress      stack.Kind = "security-group-ingress"    // the rules of our own group; inherent in it
	KindNodeGroup    stack.Kind = "node-security-group"       // an object that is never ours: the group of the nodes
	KindNodeRule     stack.Kind = "node-security-group-rule"  // an entry in it; shared
	KindClassic      stack.Kind = "classic-load-balancer"     // key name: empty
	KindClassicPort  stack.Kind = "classic-listener"          // key name: the port; inline in the load balancer
	KindClassicPol   stack.Kind = "classic-policy"            // key name: the policy's name
	KindClassicSSL   stack.Kind = "classic-listener-policies" // key name: the port; inherent in the listener
	KindClassicBack  stack.Kind = "classic-backend-policies"  // key name: the instance port; inherent in the load balancer
	KindClassicAttr  stack.Kind = "classic-attributes"        // inherent in the load balancer
	KindClassicCheck stack.Kind = "classic-health-check"      // inherent in the load balancer
	KindClassicInst  stack.Kind = "classic-instances"         // inherent in the load balancer
	KindNetwork      stack.Kind = "network-load-balancer"     // key name: empty
	KindNetworkAttr  stack.Kind = "network-attributes"        // inherent in the load balancer
	KindTargetGroup  stack.Kind = "target-group"              // key name: protocol family and port, "tcp-80"
	KindTargets      stack.Kind = "targets"                   // inherent in the target group, same name
	KindTargetAttr   stack.Kind = "target-group-attributes"   // inherent in the target group, same name
	KindListener     stack.Kind = "listener"                  // key name: as the target group's
	KindSharedGroup  stack.Kind = "shared-security-group"     // of all load balancers of kind nlb-lbc; shared

	KindSharedNetwork stack.Kind = "shared-network-load-balancer" // key name: the group of Services; shared; or the name of one of others; external
	KindFrontGroup    stack.Kind = "front-security-group"         // on it; the same name; shared
	KindFrontRule     stack.Kind = "front-security-group-rule"    // an entry in it; shared
)

// Tags are AWS tags by key.
type Tags map[string]string

// Group is a security group that belongs to one Service.
type Group struct {
	Name        string
	Description string
	VPC         string
	Tags        Tags
}

// Permission is one rule of a security group with exactly one source. It is
// comparable: two permissions are the same rule if and only if they are equal,
// since a description is no part of a rule's identity.
type Permission struct {
	Protocol         string    // tcp, udp, icmp, -1 for all
	FromPort, ToPort int32     // for icmp the type and code; 0 for protocol -1
	CIDR             string    // source range, or
	Source           stack.Ref // source group
}

// Ingress is the exact set of rules of our own group.
type Ingress struct {
	Rules []Permission // sorted
}

// NodeRule is one rule of ours in a group of the nodes.
type NodeRule struct {
	Group string // sg-...
	Permission
	Description string
	// Opens is set on desired rules that would admit more clients to a port that closes.
	Opens bool `json:"-" stack:"aside"`
	// Shuts is set on found rules that admit clients to a new port that are not to reach it.
	Shuts bool `json:"-" stack:"aside"`
}

// Classic is a Classic Load Balancer without its parts.
type Classic struct {
	Name    string
	Scheme  string      // "internal" or "internet-facing"
	Subnets []string    // sorted
	Groups  []stack.Ref // in order: the first one is the source of the node rule
	Tags    Tags
	DNSName string // found only; never compared
}

// ClassicPort is a listener of a Classic Load Balancer. Protocols are upper case.
type ClassicPort struct {
	Balancer         string // name of the load balancer, whose listeners share calls
	Port             int32
	Protocol         string
	InstancePort     int32
	InstanceProtocol string
	Certificate      string // ARN; empty without TLS
	// Waits is set on desired listeners only: the existing listener stays as it is until AWS
	// has accepted the certificate of its replacement.
	Waits bool `json:",omitempty" stack:"aside"`
	// Trial marks a listener that exists only until AWS has accepted its certificate.
	Trial bool `json:",omitempty" stack:"aside"`
}

// ClassicPolicy is a policy object of a Classic Load Balancer.
type ClassicPolicy struct {
	Name       string
	Type       string
	Attributes Tags // attribute name to value
}

// ClassicPolicies are the names of the policies in force on a listener or an
// instance port.
type ClassicPolicies struct {
	Port     int32
	Policies []stack.Ref // to classic-policy, or literal names of policies that are not ours
}

// ClassicAttributes are the attributes that we manage. Pointers that are nil
// mean: leave as it is; they compare equal to anything found.
type ClassicAttributes struct {
	CrossZone       *bool
	DrainingEnabled *bool
	DrainingTimeout *int32 // seconds
	IdleTimeout     *int32 // seconds
	LogEnabled      *bool
	LogBucket       *string
	LogPrefix       *string
	LogEmitInterval *int32 // minutes
}

// ClassicHealthCheck is the one health check of a Classic Load Balancer.
type ClassicHealthCheck struct {
	Target             string // PROTO:port[path]
	Interval, Timeout  int32  // seconds
	Healthy, Unhealthy int32  // thresholds
}

// ClassicInstances are the registered instances.
type ClassicInstances struct {
	Instances []string // i-..., sorted
}

// Mapping is one subnet of a Network Load Balancer with its address.
type Mapping struct {
	Subnet     string
	Allocation string // eipalloc-...; empty: AWS assigns
	PrivateIP  string // empty: AWS assigns
	IPv6       string `json:",omitempty"` // empty: AWS assigns
	SourceNAT  string `json:",omitempty"` // IPv6 prefix to send from; empty: AWS assigns
}

// Network is a Network Load Balancer without its parts.
type Network struct {
	Name     string
	Scheme   string    // "internal" or "internet-facing"
	Mappings []Mapping // sorted by subnet
	Groups   []stack.Ref
	Tags     Tags
	// AddressType is "ipv4" or "dualstack", SourceNAT "on" or "off", PrivateLink "on" or
	// "off" where the rules of the groups hold for private links too; empty: not managed.
	AddressType string
	SourceNAT   string
	PrivateLink string
	DNSName     string // found only; never compared
	// Members are the Services that have a part of the load balancer of a group, the oldest
	// first; found only.
	Members []GroupMember `json:",omitempty"`
}

// GroupMember is a Service that has a part of the load balancer of a group.
type GroupMember struct {
	Service string // namespace/name
	Created int64  // seconds of Unix
}

// FrontRule is one rule by which clients reach the load balancer of a group.
type FrontRule struct {
	Permission
	Listener stack.Ref // that it is for, which holds the port; zero: it is for no single one
	Group    string    `json:",omitempty"` // id of the security group; found only
}

// Attributes are name-value attributes of a load balancer or target group;
// only those named are managed.
type Attributes struct {
	Values Tags
	// Type is what a target group has as targets, for its defaults; never compared.
	Type string
}

// TargetGroup is a target group without its targets.
type TargetGroup struct {
	Name          string
	Protocol      string // TCP, UDP, TLS
	Port          int32  // the node port
	VPC           string
	TargetType    string // instance, ip
	Family        string // "ipv6"; empty: IPv4
	CheckProtocol string // TCP, HTTP, HTTPS
	CheckPort     string // "traffic-port" or a number
	CheckPath     string // empty for TCP
	CheckInterval int32  // seconds
	CheckTimeout  *int32 // seconds; nil: as AWS chooses
	Healthy       int32
	Unhealthy     int32
	Codes         string // HTTP codes that count as healthy; empty: desired as they are, found the defaults of AWS
	Tags          Tags
}

// Target is one registered target; comparable.
type Target struct {
	ID   string // i-..., or the address of a pod
	Port int32
	Zone string `json:",omitempty"` // "all" for an address outside of the VPC
	// Server is the id of a target that speaks QUIC.
	Server string `json:",omitempty"`
}

// Targets are the registered targets of a target group, without the ones that are being
// deregistered.
type Targets struct {
	Targets []Target // sorted
	// Own is set on desired targets where other clusters have targets in the group as well:
	// these are the ones that this cluster registers. It is never set on found ones.
	Own bool `json:",omitempty" stack:"aside"`
	// Moves is set on desired instances if found ones have another port.
	Moves bool `json:"-" stack:"aside"`
}

// Listener is a listener of a Network Load Balancer.
type Listener struct {
	Port        int32
	Protocol    string // TCP, UDP, TLS, TCP_UDP
	TargetGroup stack.Ref
	Certificate string // ARN of the default certificate; empty without TLS
	SSLPolicy   string // empty: as AWS chooses
	ALPN        string // empty: as it is
	// Shares are those of the traffic, sorted, where target groups of others get some: the
	// Service's own share is first. Without any, the own group gets all of it.
	Shares []Weighted `json:",omitempty"`
	Sticks string     `json:",omitempty"` // "on": clients stay with the group that they got
	// Leaving is set on desired listeners where one of the shares is that of a group of the
	// Service which is about to be left: its ARN. It is never set on found ones.
	Leaving string `json:",omitempty" stack:"aside"`
	Tags    Tags
}
