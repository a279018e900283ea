package model

import "github.com/berth-lb/berth/stack"

// The two kinds of load balancers.
const (
	LB  = "lb"  // Load Balancer
	NLB = "nlb" // Network Load Balancer
)

// Kinds of resources, in Oracle's words. What is in a load balancer has a kind of its
// own for each product, so that both can be there while a Service moves.
const (
	KindBalancer stack.Kind = "load-balancer"
	KindSet      stack.Kind = "backend-set"
	KindListener stack.Kind = "listener"
	KindRuleSet  stack.Kind = "rule-set"
	// KindCertificate is a certificate in a load balancer.
	KindCertificate stack.Kind = "certificate"

	KindNetBalancer stack.Kind = "network-load-balancer"
	KindNetSet      stack.Kind = "network-backend-set"
	KindNetListener stack.Kind = "network-listener"

	// KindEntry is a rule of a security list, which Services share.
	KindEntry stack.Kind = "security-list-rule"
	// KindGroup is the network security group that a Service has of its own.
	KindGroup stack.Kind = "network-security-group"
	// KindGroupRules are the Service's rules in one group: its own, or one of the nodes'.
	KindGroupRules stack.Kind = "network-security-group-rules"
)

// Product is which kinds make up a load balancer of one product.
type Product struct {
	Name                    string // LB or NLB
	Balancer, Set, Listener stack.Kind
}

// Products returns both.
func Products() []Product {
	return []Product{{LB, KindBalancer, KindSet, KindListener}, {NLB, KindNetBalancer, KindNetSet, KindNetListener}}
}

// ProductOf is the product that the kind belongs to, whatever part of it; false: none.
func ProductOf(kind stack.Kind) (Product, bool) {
	for _, p := range Products() {
		if kind == p.Balancer || kind == p.Set || kind == p.Listener || (kind == KindRuleSet || kind == KindCertificate) && p.Name == LB {
			return p, true
		}
	}
	return Product{}, false
}

// productOf returns the product of a kind's name.
func productOf(name string) Product {
	if name == NLB {
		return Products()[1]
	}
	return Products()[0]
}

// key is that of the load balancer itself.
func (p Product) key() stack.Key { return stack.Key{Kind: p.Balancer} }

// Balancer is a load balancer of either product. What is in it are resources of their
// own.
type Balancer struct {
	Name        string
	Compartment string
	Shape       string // of lb
	Least, Most int    // bandwidth in Mbps, of a flexible shape
	Private     bool
	Subnets     []string // OCIDs; nlb has one
	Groups      []string // OCIDs of network security groups, sorted
	Own         stack.Ref
	Version     string // IPV4, IPV6 or IPV4_AND_IPV6
	Reserved    []string
	Assigned    string // private address that is asked for, of nlb
	Assigned6   string
	Freeform    map[string]string
	Defined     string    // tags, as JSON
	Addresses   []Address `stack:"evidence"` // found
	// Was is the version that was found, so that steps know which family is added.
	Was string `stack:"evidence"`
	// Guards lists where rules are managed for it; empty: all rules are the operator's.
	Guards []Guard `stack:"evidence"`
}

// Guard is a security list of a subnet, or a network security group of nodes, in which
// rules of the Service are managed.
type Guard struct {
	ID    string   // OCID of the list or the group
	CIDRs []string // of the subnet; none: it is a group
	Front bool     // the subnet is one of the load balancer's
}

// Address is one of a load balancer.
type Address struct {
	IP       string
	Public   bool
	Reserved string // OCID of the reserved address
}

// Versions of addresses.
const (
	V4   = "IPV4"
	V6   = "IPV6"
	Both = "IPV4_AND_IPV6"
)

// BackendSet is the nodes that listeners send to.
type BackendSet struct {
	Name     string
	Policy   string
	Health   Health
	Preserve bool   // clients' addresses, of nlb
	Version  string // of nlb
	Backends []Backend
	// Certificate is the name of the one with which nodes are spoken to; empty: plain.
	Certificate   string
	CipherSuite   string
	TLSProtocols  []string
	Session       Session       // of lb
	CookieSession CookieSession // of lb; one of the two
	Connections   int           // greatest number to a backend, of lb; 0: no limit
	Failover      bool          // connections of an unhealthy backend move at once, of nlb
	// Rest is what the Service says nothing of, as JSON by field: it is written back as
	// it was found.
	Rest string `stack:"evidence"`
	// Leaves lists the ports of nodes that were found and are not desired any more. That of
	// kube-proxy is not among them: rules for it are a Service's whichever port it checks.
	Leaves []int32 `stack:"evidence"`
	// Opens reports that nodes are reached at another port, or by clients themselves, so that
	// rules must admit it first.
	Opens bool `stack:"evidence"`
}

// Health is the check of a backend set.
type Health struct {
	Protocol                   string
	Path                       string
	Port                       int32
	Retries, Interval, Timeout int // the last two in milliseconds
	Code                       int
	Plain                      bool // although backends speak TLS
}

// Backend is a node behind a set.
type Backend struct {
	Address string
	Target  string // OCID of the instance, of nlb
	Port    int32
	// What a hand may have set, and stays.
	Weight                 int `json:",omitempty"`
	Backup, Drain, Offline bool
}

// Listener is one port.
type Listener struct {
	Name         string
	Protocol     string
	Port         int32
	Set          stack.Ref
	Certificate  string // name of one in the load balancer; empty: none
	Managed      string `json:",omitempty"` // OCID of one of the Certificates service; empty: none
	CipherSuite  string
	TLSProtocols []string
	Idle         int // seconds; 0: the default of the protocol
	Proxy        int // version; 0: none
	RuleSets     []string
	Version      string // of nlb
	// Rest is as in a BackendSet.
	Rest string `stack:"evidence"`
}

// RuleSet is a list of rules for the listeners of lb.
type RuleSet struct {
	Name  string
	Items string // JSON
}

// Certificate is one in a load balancer, with its key. It is named after the Secret that
// it is from and after what is in it, and never changes.
type Certificate struct {
	Name       string
	Public     string // PEM
	Authority  string // PEM
	Private    string `plan:"secret"` // PEM; not found
	Passphrase string `plan:"secret"` // not found
}

// Directions of rules.
const (
	Ingress = "INGRESS"
	Egress  = "EGRESS"
)

// Entry is a rule of a security list: TCP to one port.
type Entry struct {
	List      string // OCID
	Direction string
	Peer      string // CIDR of the source or the destination
	Port      int32
}

// Group is a network security group.
type Group struct {
	Name        string
	Compartment string
	VCN         string
	Tags        map[string]string
}

// GroupRules are the rules of a Service in one group.
type GroupRules struct {
	Group stack.Ref
	Rules []GroupRule
}

// GroupRule is one of them: TCP to one port.
type GroupRule struct {
	Direction string
	Peer      string    // CIDR, or OCID of a group
	Of        stack.Ref // the Service's own group, where it is the peer
	Port      int32
}
