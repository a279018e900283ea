package model

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// CLB is the application Cloud Load Balancer.
const CLB = "clb"

// Kinds of resources, in the words of the CLB API.
const (
	KindBalancer stack.Kind = "load-balancer"
	KindListener stack.Kind = "listener"
	KindRule     stack.Kind = "rule"
	// KindClaim is the note of the listeners that a Service has on an existing load balancer.
	KindClaim stack.Kind = "claim"
)

// Network types of load balancers.
const (
	Open     = "OPEN"
	Internal = "INTERNAL"
)

// Balancer is a load balancer. In the desired state of a live one, an empty field means that the
// observed value is kept.
type Balancer struct {
	Name         string
	Type         string // OPEN or INTERNAL
	IPVersion    string // IPV4, IPV6 (NAT64) or IPv6FullChain
	Region       string // empty: that of the cluster
	VPC, Subnet  string
	ChargeType   string // of the traffic, if it is public
	Bandwidth    int    // Mbit/s, if it is public
	PassToTarget string // true or false
	Groups       []string
	Tags         map[string]string
	// Extra are further parameters of the creation, as a JSON object.
	Extra string `stack:"aside"`
	// Unrecorded means that the Service does not carry the region yet.
	Unrecorded bool `stack:"aside"`

	Addresses []string `stack:"evidence"`
	Address6  string   `stack:"evidence"` // of NAT64
	Domain    string   `stack:"evidence"`
}

// Protocols of listeners.
const (
	tcp    = "TCP"
	udp    = "UDP"
	tcpSSL = "TCP_SSL"
	quic   = "QUIC"
	http   = "HTTP"
	https  = "HTTPS"
)

// Listener is one port of a load balancer. Listeners of HTTP and HTTPS have rules, and no settings
// and targets of their own.
type Listener struct {
	Protocol    string
	Port        int32
	Name        string
	Certificate string // id; empty in a desired one: as found
	SNI         bool   // each rule has a certificate
	// Settings are parameters by their names in the API; those of objects have a dot. The desired
	// state has the requested parameters. Others are kept.
	Settings map[string]string
	Members  []Member
	// Claimed says that the load balancer is not the Service's own, so that its listeners are noted.
	Claimed bool   `stack:"aside"`
	User    string `stack:"aside"` // UID of another Service that has noted it
	// Early says that other Services of the cluster had not been read yet: one may have noted it.
	Early bool   `stack:"aside"`
	Batch string `stack:"aside"` // what shares calls
}

// Rule sends the requests for a domain and path of a listener to targets.
type Rule struct {
	Domain, URL string
	Certificate string // id; empty in a desired one: as found
	Settings    map[string]string
	Members     []Member
	Balancer    stack.Key `stack:"aside"`
	Batch       string    `stack:"aside"`
}

// Member is one backend: an instance or an address.
type Member struct {
	Instance string // id
	Address  string
	Port     int32
	Weight   int
}

// Target returns what the member sends to.
func (m Member) Target() string { return m.Instance + m.Address }

// Claim lists the ids of the listeners that a Service has on an existing load balancer.
type Claim struct {
	Balancer  string // id
	Listeners []string
}

// OwnKey is the key of the Service's own load balancer.
func OwnKey() stack.Key { return stack.Key{Kind: KindBalancer} }

// ExistingKey returns the key of an existing load balancer, by its identifier with the region. Services that share it
// have one key.
func ExistingKey(id string) stack.Key { return stack.Key{Kind: KindBalancer, Name: id} }

// ClaimKey is the key of the note.
func ClaimKey() stack.Key { return stack.Key{Kind: KindClaim} }

// ListenerKey returns the key of the listener of a port. A port has one listener of each transport.
func ListenerKey(protocol string, port int32) stack.Key {
	return stack.Key{Kind: KindListener, Name: fmt.Sprintf("%s-%d", strings.ToLower(transportOf(protocol)), port)}
}

// RuleKey returns the key of a rule.
func RuleKey(listener stack.Key, domain, url string) stack.Key {
	return stack.Key{Kind: KindRule, Name: listener.Name + "/" + domain + strings.TrimSuffix(url, "/")}
}

// SlotOf returns the place of a listener in its load balancer.
func SlotOf(protocol string, port int32) string {
	return fmt.Sprintf("port %d/%s", port, transportOf(protocol))
}

func transportOf(protocol string) string {
	if protocol == udp || protocol == quic {
		return udp
	}
	return tcp
}

// HasRules reports whether listeners of a protocol have rules.
func HasRules(protocol string) bool { return protocol == http || protocol == https }
