package model

import (
	"net/netip"

	"github.com/berth-lb/berth/stack"
)

// Kinds of load balancers, as a Service chooses them. Both are Standard.
const (
	// Public load balancers have public addresses.
	Public = "public"
	// Internal load balancers have addresses of a subnet.
	Internal = "internal"
)

// Kinds of resources and of the objects that entries are in. Names in keys are
// in lower case throughout, because ARM compares names without case; see names.go
// for the functions that make keys and ARM ids. contract.go says, kind by kind,
// what a read returns and what a write does.
const (
	KindBalancer stack.Kind = "load-balancer"          // an object; In of entries and of what hangs on pools; name: <lb>
	KindEntries  stack.Kind = "load-balancer-entries"  // owned; name: <lb>; frontends, rules and probes of one Service
	KindPool     stack.Kind = "backend-pool"           // shared, In the load balancer; name: <lb>/<pool>
	KindNICs     stack.Kind = "pool-nics"              // shared, In the load balancer; name: <lb>/<pool>; interfaces of machines
	KindScaleSet stack.Kind = "pool-scale-set"         // shared, In the load balancer; name: <lb>/<pool>/<group>/<scale set>
	KindPublicIP stack.Kind = "public-ip"              // shared (made by a controller) or external (the user's); name: <group>/<public ip>
	KindBinding  stack.Kind = "public-ip-binding"      // owned, In the public IP; name: as the public IP's
	KindSecurity stack.Kind = "network-security-group" // an object; name: <group>/<nsg>
	KindAccess   stack.Kind = "security-rule-entry"    // shared, In the security group; name: <rule name>/<destination>
	KindLink     stack.Kind = "private-link-service"   // owned; name: empty
	KindPolicy   stack.Kind = "subnet-policy"          // shared; name: <group>/<vnet>/<subnet>
)

// Tags are Azure tags by key. Keys are compared without case.
type Tags map[string]string

// Entries holds all entries of one Service in one load balancer, written in one PUT with
// the changed entries of all other Services.
type Entries struct {
	Group     string     // resource group of the load balancer, lower case
	Balancer  string     // name of the load balancer, in its own case
	Frontends []Frontend // that the Service uses, its own or another Service's; sorted by name
	Rules     []Rule     // sorted by name
	Probes    []Probe    // sorted by name
	// Pools are the pools that the rules send to; made by name with the first rule.
	Pools []string
	// Tags are those of the whole load balancer as they should be; see mergeTags.
	Tags Tags
	// Expect lists pools that existed when the plan was computed. One that is missing at
	// the time of writing is a Conflict. Never compared.
	Expect []string
	// Trouble is set where an operation on the load balancer failed after Azure had
	// accepted it: only another write repairs that. Never desired.
	Trouble string
}

// Frontend is a frontend IP configuration. What makes it the same frontend is
// its place: the public IP, or subnet and address.
type Frontend struct {
	Name string
	// PublicIP is RefTo(PublicIPKey(group, name)) of a public frontend, whether or
	// not the public IP is in the stack; the id follows from the key.
	PublicIP stack.Ref
	Subnet   string // ARM id, of an internal frontend
	// Address is the private address. Wanted and empty: Azure chooses. Found: the
	// one it has, chosen or given.
	Address string
	Static  bool     // the private address is given and not chosen
	Version string   // "IPv4" or "IPv6"
	Zones   []string // of an internal frontend at its creation; never compared
}

// Rule is a load balancing rule.
type Rule struct {
	Name         string
	Frontend     string // name
	Pool         string // name
	Probe        string // name; empty: none
	Protocol     string // Tcp, Udp, All
	FrontendPort int32  // 0 with All: every port
	BackendPort  int32
	FloatingIP   bool
	Distribution string // Default or SourceIP
	IdleTimeout  int32  // minutes; found 0: not said
	TCPReset     bool
	NoSNAT       bool // disableOutboundSnat
}

// Probe is a health probe. Probes of one name are one probe: the shared one has no single
// owner and is deleted with the last rule that uses it.
type Probe struct {
	Name      string
	Protocol  string // Tcp, Http, Https
	Port      int32
	Path      string // empty for Tcp
	Interval  int32  // seconds
	Threshold int32  // probeThreshold
}

// Pool is a backend pool. In the mode nodeIP it has addresses; in the mode
// nodeIPConfiguration it is only a name that network interfaces refer to.
type Pool struct {
	Group     string // of the load balancer, lower case
	Balancer  string
	Name      string
	Network   string // ARM id of the virtual network, mode nodeIP only
	Addresses []PoolAddress
}

// PoolAddress is one member of a pool of addresses; comparable.
type PoolAddress struct {
	Name string // the node's
	IP   string
}

// NICs are the network interfaces of machines that are in a pool: of single
// machines and of flexible scale sets.
type NICs struct {
	Pool    stack.Ref // to the backend-pool
	Members []NIC     // sorted
}

// NIC is the network interface of one node; comparable.
type NIC struct {
	Node string // name
	ID   string // ARM id of the network interface, lower case
}

// ScaleSet is the membership of a scale set in a pool: that of its model, which
// new instances take over, and that of its instances.
type ScaleSet struct {
	ID        string    // ARM id, lower case
	Flex      bool      // flexible: the model only, the machines are NICs
	Pool      stack.Ref // to the backend-pool
	Instances []Instance
}

// Instance is one machine of a uniform scale set; comparable.
type Instance struct {
	Node string // name
	ID   string // instance id inside the scale set
}

// PublicIP is a public IP address.
type PublicIP struct {
	Group   string // lower case
	Name    string // in its own case
	Version string // "IPv4" or "IPv6"
	Prefix  string // ARM id of the prefix that the address is from; empty: Azure's
	IPTags  *Tags  // ipTagType to tag; nil: leave as they are
	Zones   []string
	Tags    Tags // without those of KindBinding
	// Found only, never compared.
	Address  string
	SKU      string
	Services []string // namespace/name of those in the ownership tag
	// Trouble is set after a failed operation; never desired.
	Trouble string
}

// Binding is what one Service writes onto a public IP.
type Binding struct {
	PublicIP stack.Ref
	// Service is the namespace/name that the ownership tag lists; empty on a
	// user's public IP, which is never tagged.
	Service string
	// DNSLabel is the wanted label: nil leaves it alone, empty takes it away.
	DNSLabel *string
}

// Access is one destination of a security rule: the smallest thing that two
// Services can want at once. Rules are made of entries by merge_nsg.go.
type Access struct {
	Group       string // of the security group, lower case
	Security    string // its name
	Rule        string // name of the rule; made from all below but the destination
	Deny        bool
	Family      string   // IPv4 or IPv6
	Protocol    string   // Tcp, Udp, *
	Sources     []string // sorted; nil for deny
	Ports       []string // sorted as texts; nil for deny
	Destination string   // address
	Rank        int      `stack:"evidence"` // order in which new rules of one Service get priorities; never compared
	// Alone reports that no other Service has the address, so that no unknown Service can
	// want the entry. Never compared.
	Alone bool `stack:"evidence"`
	// AfterRule has the entry created after the rule that it is for: until then, the port may
	// become another Service's, or nothing shows whose the entry is. Without it, a Service
	// that is served already does not move before the entry is accepted. Desired only.
	AfterRule bool `stack:"aside"`
	// Trouble is set after a failed operation on the security group; never desired.
	Trouble string
}

// Link is a private link service.
type Link struct {
	Group         string // lower case
	Name          string
	Entries       stack.Ref // to the load-balancer-entries that hold the frontend
	Frontend      string    // <lb>/<frontend>, lower case
	On            Place     // where the frontend is: another place means another private link service
	Subnet        stack.Ref // to the subnet-policy
	IPs           []LinkIP
	FQDNs         []string
	ProxyProtocol bool
	Visibility    []string
	AutoApproval  []string
	Tags          Tags
	Trouble       string // set after a failed operation; never desired
}

// LinkIP is one address that a private link service translates to; comparable.
type LinkIP struct {
	Name    string
	Address string // empty: dynamic
	Primary bool
}

// Place is what makes two frontends the same.
type Place struct {
	PublicIP stack.Key
	Subnet   string // ARM id, lower case
	Address  string
}

// Policy says that private link services may take addresses of a subnet.
type Policy struct {
	Group, Network, Subnet string // the group in lower case
	Disabled               bool   // privateLinkServiceNetworkPolicies
}

// place is where the frontend is. A wanted dynamic address leaves the address open.
func (f Frontend) place() Place {
	if !f.PublicIP.IsZero() {
		return Place{PublicIP: f.PublicIP.To}
	}
	return Place{Subnet: lowerCase(f.Subnet), Address: Canonical(f.Address)}
}

// Canonical is an address as netip writes it; other texts stay as they are.
func Canonical(text string) string {
	a, err := netip.ParseAddr(text)
	if err != nil {
		return text
	}
	return a.Unmap().String()
}
