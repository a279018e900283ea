package model

import "github.com/berth-lb/berth/stack"

// Kinds of load balancers, as a Service chooses them.
const (
	// TargetPool is external, on a target pool.
	TargetPool = "target-pool"
	// NetLB is external, on a regional backend service with instance groups or
	// network endpoint groups behind it.
	NetLB = "netlb-rbs"
	// InternalIG is internal, with instance groups.
	InternalIG = "ilb-ig"
	// InternalNEG is internal, with network endpoint groups.
	InternalNEG = "ilb-neg"
)

// What the session and this table agree on:
//
// Identifiers. ID of a resource is its path below the project, without the
// project: "regions/us-central1/forwardingRules/a1b2", "global/firewalls/x",
// "zones/us-central1-a/instanceGroups/k8s-ig--1". A literal Ref has the same
// form. Network, Subnet and the network of a firewall begin with the project
// ("projects/p/global/networks/n"), since they may be another project's. The
// functions PathOf and ProjectPathOf make both out of any URL.
//
// Names are the key. Every name that a Service may use is in OwnNames, every
// name that the cluster shares in SharedNames; both tell key and ownership. A found
// object of a name has that key, whatever kind of load balancer is wanted. A
// forwarding rule's kind follows from its scheme (RuleKind).
//
// Look-ups in Scope.Own, all by name:
//   - By ByName: the object of the name, if it exists. Forwarding rules are
//     looked up under KindRules, whatever their scheme.
//   - By ByPattern: names in which "*" stands for six hex digits (MatchName); only
//     network endpoint groups of subnets other than the cluster's.
//   - By ByUse: a shared object that this Service does not want now. It belongs
//     to the result only if something in the answer refers to it (a check or a
//     group by the Service's own backend service or pool, the firewall of a check
//     that is in the answer), or if nothing at all in the project refers to it,
//     regional and global backend services included: then it is a left-over. A
//     shared firewall is referred to by the checks of its name (FirewallChecks);
//     adopt leaves it out again where the Service keeps the check.
//
// Groups and endpoint groups are looked for in all zones of the region, managed
// or not: nodes may have been in any of them.
//
// A forwarding rule's Slot is RuleSlot of its name, found and wanted, because the
// two kinds of rules share their names.
//
// Proof. Name for every object that has an own or shared name and is not of another
// project, except: network endpoint groups, Description if the description is
// empty or names this cluster, namespace, name and port "0", else None; and
// names that are marked Ambiguous, Description if the description names the
// Service, else None.
//
// References. Read turns URLs of objects that are in the answer into RefTo their
// key, all others into RefID. It leaves Rule.Address and Rule.Wish empty.
//
// Facts are asked for with the look-ups in Scope.Facts; see facts.go.
//
// Writing. A create step takes the whole spec. Target pools are inserted with at
// most 200 instances, the rest is added at once; groups and endpoint groups are
// inserted and then filled. After carries the spec as the cloud answered and as
// Read would bring it: IP of rules and addresses always filled in.
// Firewall.Destination may refer to a forwarding rule that was made in the same
// run: Firewall.At puts its IP into destination and description, and After has
// them filled in. Rule.Address refers to an address; the IP is sent if there is
// one, else the address's path. Rule.Wish: if the cloud answers that the IP is
// taken, outside of the range or not the project's, the rule is created again
// without one.
//
// Creating an address whose IP is already reserved under another name succeeds: the IP
// is held, and nothing is to be released.
//
// Updates of a backend service send the object as read with our fields put in;
// an empty Locality, nil Tracking or Log leave the present value.
// Updates of firewalls, checks and rules are patches of the fields in Changes.
//
// Batches. Steps on shared resources of any Services are batched under
// "<kind>/<key name>": one call serves all, and each gets the same After. A
// group's members are in one call for adding and one for removing; Draft plans
// are equal since all Services want the same members. Before a shared resource
// is deleted Claims.Others is asked again; an answer that it is in use means
// that the step is done. A shared firewall of checks is deleted only if no check
// of its name is left in either scope (FirewallChecks); else the step is done.

// Kinds of resources, in Google's words.
const (
	KindExternalRule  stack.Kind = "external-forwarding-rule" // key name: which of the Service's names, see OwnNames
	KindInternalRule  stack.Kind = "internal-forwarding-rule" // the same names; both kinds share the collection
	KindAddress       stack.Kind = "address"                  // held while a rule is replaced; key name as the rule's whose name it has
	KindPool          stack.Kind = "target-pool"              // key name: empty
	KindBackend       stack.Kind = "backend-service"          // regional; key name: "legacy" (a<uid>), "v2", or a shared name
	KindCheck         stack.Kind = "health-check"             // global; key name: "legacy", "v2", or a shared name
	KindRegionalCheck stack.Kind = "regional-health-check"    // key name: "v2" or a shared name
	KindHTTPCheck     stack.Kind = "http-health-check"        // legacy and global, of target pools; key name: "legacy" or a shared name
	KindGroup         stack.Kind = "instance-group"           // shared; key name: zone/name
	KindNEG           stack.Kind = "network-endpoint-group"   // key name: zone, or zone/<hash of the subnet>
	KindFirewall      stack.Kind = "firewall"                 // clients to nodes; key name: "legacy", "v2", "v2-ipv6", "old"
	KindCheckFirewall stack.Kind = "health-check-firewall"    // checks to nodes; key name: "legacy-pool", "legacy", "v2", "v2-ipv6", "v2-ipv6-whole", or a shared name
	KindDeny          stack.Kind = "deny-firewall"            // everything else to the load balancer; key name: "legacy", "v2", "v2-ipv6"

	// KindRules is for look-ups only: a forwarding rule of either scheme.
	KindRules stack.Kind = "forwarding-rule"
)

// Ways to look something up; see above.
const (
	ByName    = "name"
	ByPattern = "pattern"
	ByUse     = "use"
)

// Ports are the ports of a forwarding rule: exactly one field is set.
type Ports struct {
	List  []string // single ports, in numeric order
	Range string   // "80-443", also "80-80"
	All   bool
}

// Rule is a forwarding rule.
type Rule struct {
	Name         string
	Description  string
	Scheme       string    // EXTERNAL, INTERNAL
	IPVersion    string    // IPV4, IPV6; never empty
	IP           string    // canonical, IPv6 without prefix length; wanted empty: as found
	Address      stack.Ref // wanted only: the address that the IP is taken from
	Wish         bool      // wanted only: the IP is a wish, any other will do
	Protocol     string    // TCP, UDP, L3_DEFAULT
	Ports        Ports
	Target       stack.Ref // target pool, or
	Backend      stack.Ref // backend service
	Network      string    // path with project; empty for external IPv4
	Subnet       string    // path with project; empty for external IPv4
	Tier         string    // PREMIUM, STANDARD
	GlobalAccess bool      // internal only
	IPCollection string    // URL as the user wrote it or the cloud answers
}

// Address is a regional address of the Service's own: it holds an IP while the
// rule that has it is replaced, or gives two rules the same one.
type Address struct {
	Name         string
	Description  string
	Type         string // EXTERNAL, INTERNAL
	IPVersion    string // IPV4, IPV6
	IP           string // canonical; wanted empty: the cloud chooses
	Tier         string // of external ones; PREMIUM as found of internal ones
	Subnet       string // path with project; internal only
	IPCollection string
}

// Pool is a target pool.
type Pool struct {
	Name        string
	Description string
	Affinity    string      // NONE, CLIENT_IP; found empty if the cloud says nothing
	Checks      []stack.Ref // at most one, of kind http-health-check
	Instances   []string    // "zones/<zone>/instances/<name>", sorted
}

// Tracking is how a backend service follows connections.
type Tracking struct {
	Mode        string // PER_SESSION
	Strong      bool
	IdleTimeout int64 // seconds
}

// Logging is what a backend service logs.
type Logging struct {
	Enable bool
	Rate   float64 // 0 to 1
	Mode   string  // EXCLUDE_ALL_OPTIONAL, INCLUDE_ALL_OPTIONAL, CUSTOM
	Fields []string
}

// Backend is a regional backend service.
type Backend struct {
	Name         string
	Description  string
	Scheme       string // EXTERNAL, INTERNAL
	Protocol     string // TCP, UDP, UNSPECIFIED
	Affinity     string // NONE, CLIENT_IP
	Network      string // path with project; of another network than the cluster's only
	Checks       []stack.Ref
	Groups       []stack.Ref // instance groups or network endpoint groups, sorted
	Balancing    string      // CONNECTION for endpoint groups; empty: not sent
	Draining     int64       // seconds; UDP has none
	Locality     string      // localityLbPolicy; empty: not managed
	ZoneAffinity string      // spillover of the zonal affinity; empty: not managed
	Tracking     *Tracking   // nil: not managed
	Log          *Logging    // nil: not managed
}

// Check is a health check of any of the three collections; all are HTTP.
type Check struct {
	Name        string
	Description string
	Path        string
	Port        int32
	Interval    int64 // seconds
	Timeout     int64 // seconds
	Healthy     int64 // threshold
	Unhealthy   int64 // threshold
}

// Group is a zonal instance group without named ports.
type Group struct {
	Name      string
	Zone      string
	Instances []string // names, sorted
}

// Endpoint is one node in a network endpoint group of type GCE_VM_IP.
type Endpoint struct {
	Instance string // bare name
	IP       string
}

// NEG is a zonal network endpoint group of type GCE_VM_IP.
type NEG struct {
	Name        string
	Zone        string
	Description string
	Network     string // path with project
	Subnet      string // path with project
	Endpoints   []Endpoint
}

// Allowed is what one entry of a firewall lets in.
type Allowed struct {
	Protocol string   // lower case
	Ports    []string // "80" or "80-90", in numeric order; empty: all
}

// Firewall is a firewall rule of the network, for ingress traffic.
type Firewall struct {
	Name        string
	Description string // may hold laterIP, see At
	Network     string // path with project
	Allowed     []Allowed
	Denied      []Allowed // of deny firewalls; {Protocol: "all"}
	Sources     []string  // ranges, masked and sorted
	// Destination is the load balancer's IP, canonical, or an IPv6 range; or
	// refers to the forwarding rule whose IP it will be. Zero: none.
	Destination stack.Ref
	Tags        []string // of the nodes, sorted
	Priority    int64    // 1000 if nothing else is said
}
