package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Lists among the properties of a load balancer.
const (
	ListFrontends = "frontendIPConfigurations"
	ListPools     = "backendAddressPools"
	ListMembers   = "backendIPConfigurations" // of a pool
	ListRules     = "loadBalancingRules"
	ListProbes    = "probes"
	listOutbound  = "outboundRules"
	listNAT       = "inboundNatRules"
	listNATPools  = "inboundNatPools"

	toFrontend  = "frontendIPConfiguration"
	toFrontends = "frontendIPConfigurations"
	toPool      = "backendAddressPool"
	toProbe     = "probe"

	protocolAll = "All"
	ipv4        = "IPv4"
	IPv6        = "IPv6"
)

// addressOf tells the address of a public IP; "" while it has none.
type addressOf func(stack.Key) string

// EntriesOf returns the entries of the Service with the base name in a load balancer; false
// if there are none. A frontend of its name that only other owners still use may not be
// deleted by the Service, so alone it does not count.
func EntriesOf(c Config, lb Object, base string, address addressOf) (Entries, bool) {
	if lb == nil {
		return Entries{}, false
	}
	p := lb.Props()
	out := Entries{Group: c.GroupOfBalancers(), Balancer: lb.Text("name"), Tags: lb.Tags(), Trouble: TroubleOf(lb)}
	for _, r := range p.List(ListRules) {
		if ownedBy(base, r.Text("name")) {
			out.Rules = append(out.Rules, ruleOf(r))
		}
	}
	for _, pr := range p.List(ListProbes) {
		uses := func(r Rule) bool { return strings.EqualFold(r.Probe, pr.Text("name")) }
		if ownedBy(base, pr.Text("name")) || slices.ContainsFunc(out.Rules, uses) {
			out.Probes = append(out.Probes, probeOf(pr))
		}
	}
	for _, f := range p.List(ListFrontends) {
		name := f.Text("name")
		used := slices.ContainsFunc(out.Rules, func(r Rule) bool { return strings.EqualFold(r.Frontend, name) })
		if used || ownedBy(base, name) && !usedByOthers(lb, name, base) {
			out.Frontends = append(out.Frontends, frontendOf(f, address))
		}
	}
	for _, r := range out.Rules {
		if r.Pool != "" && !slices.Contains(out.Pools, r.Pool) {
			out.Pools = append(out.Pools, r.Pool)
		}
	}
	out.sort()
	return out, len(out.Frontends)+len(out.Rules)+len(out.Probes) > 0
}

func (e *Entries) sort() {
	slices.SortFunc(e.Frontends, func(a, b Frontend) int { return cmp.Compare(lowerCase(a.Name), lowerCase(b.Name)) })
	slices.SortFunc(e.Rules, func(a, b Rule) int { return cmp.Compare(lowerCase(a.Name), lowerCase(b.Name)) })
	slices.SortFunc(e.Probes, func(a, b Probe) int { return cmp.Compare(lowerCase(a.Name), lowerCase(b.Name)) })
	slices.Sort(e.Pools)
}

// frontendOf reads a frontend.
func frontendOf(f Object, address addressOf) Frontend {
	p := f.Props()
	out := Frontend{Name: f.Text("name"), Version: ipv4, Zones: f.Texts("zones")}
	if id := f.Ref("publicIPAddress"); id != "" {
		key := PublicIPKeyOf(id)
		out.PublicIP = stack.RefTo(key)
		if address != nil {
			out.Address = Canonical(address(key))
		}
		if a, err := netip.ParseAddr(out.Address); err == nil && a.Is6() || err != nil && strings.HasSuffix(out.Name, SuffixIPv6) {
			out.Version = IPv6
		}
		return out
	}
	out.Subnet = f.Ref("subnet")
	out.Address = Canonical(p.Text("privateIPAddress"))
	out.Static = strings.EqualFold(p.Text("privateIPAllocationMethod"), "Static")
	if strings.EqualFold(p.Text("privateIPAddressVersion"), IPv6) {
		out.Version = IPv6
	}
	return out
}

func ruleOf(r Object) Rule {
	p := r.Props()
	return Rule{
		Name: r.Text("name"), Frontend: r.refName(toFrontend), Pool: PoolOf(r), Probe: r.refName(toProbe),
		Protocol: p.enum("protocol", probeTCP, "Udp", protocolAll), FrontendPort: p.number("frontendPort"), BackendPort: p.number("backendPort"),
		FloatingIP: p.Flag("enableFloatingIP"), Distribution: p.enum("loadDistribution", "Default", "SourceIP"),
		IdleTimeout: p.number("idleTimeoutInMinutes"), TCPReset: p.Flag("enableTcpReset"), NoSNAT: p.Flag("disableOutboundSnat"),
	}
}

// PoolOf is the pool of a rule, which newer API versions answer as a list of one.
func PoolOf(r Object) string {
	if name := r.refName(toPool); name != "" {
		return name
	}
	for _, p := range r.Props().List("backendAddressPools") {
		return LastSegment(p.Text("id"))
	}
	return ""
}

func probeOf(o Object) Probe {
	p := o.Props()
	return Probe{
		Name: o.Text("name"), Protocol: p.enum("protocol", probeTCP, probeHTTP, probeHTTPS), Port: p.number("port"), Path: p.Text("requestPath"),
		Interval: p.number("intervalInSeconds"), Threshold: p.number("probeThreshold"),
	}
}

// usedByOthers reports whether anything that is not the Service's uses the frontend: rules
// of others, outbound or NAT rules, a private link service.
func usedByOthers(lb Object, frontend, base string) bool {
	users, held := UsersOf(lb, frontend)
	return held || slices.ContainsFunc(users, func(rule string) bool { return base == "" || !ownedBy(base, rule) })
}

// UsersOf lists the load balancing rules of a frontend, and reports whether something else
// holds it.
func UsersOf(lb Object, frontend string) (rules []string, held bool) {
	use := usesOf(lb)[lowerCase(frontend)]
	return use.rules, use.held
}

// frontendUse is what uses one frontend.
type frontendUse struct {
	rules []string // load balancing rules
	ports []ServedPort
	held  bool // outbound or NAT rules, or a private link service
}

// usesOf lists the users of the frontends of a load balancer, by frontend name in lower
// case.
func usesOf(lb Object) map[string]frontendUse {
	p, out := lb.Props(), map[string]frontendUse{}
	hold := func(name string) {
		use := out[lowerCase(name)]
		use.held = true
		out[lowerCase(name)] = use
	}
	for _, r := range p.List(ListRules) {
		name := lowerCase(r.refName(toFrontend))
		use := out[name]
		use.rules = append(use.rules, r.Text("name"))
		use.ports = append(use.ports, ruleOf(r).servedPort())
		out[name] = use
	}
	for _, list := range []string{listNAT, listNATPools} {
		for _, r := range p.List(list) {
			hold(r.refName(toFrontend))
		}
	}
	for _, r := range p.List(listOutbound) {
		for _, f := range r.Props().List(toFrontends) {
			hold(LastSegment(f.Text("id")))
		}
	}
	for _, f := range p.List(ListFrontends) {
		if f.Ref("privateLinkService") != "" {
			hold(f.Text("name"))
		}
	}
	return out
}

// servedPort returns what the rule forwards.
func (r Rule) servedPort() ServedPort {
	out := ServedPort{Protocol: r.Protocol, Port: r.FrontendPort}
	if toNode(r) {
		out.NodePort = r.BackendPort
	}
	return out
}

// BalancerOf is what Build may know of a load balancer.
func BalancerOf(lb Object, address addressOf) FoundBalancer {
	p := lb.Props()
	out := FoundBalancer{Name: lb.Text("name"), SKU: lb.In("sku").Text("name"), Rules: len(p.List(ListRules)), Tags: lb.Tags()}
	uses := usesOf(lb)
	for _, f := range p.List(ListFrontends) {
		found := FoundFrontend{Frontend: frontendOf(f, address)}
		use := uses[lowerCase(found.Name)]
		found.Users, found.Held, found.Serves = use.rules, use.held, use.ports
		out.Frontends = append(out.Frontends, found)
	}
	for _, pool := range p.List(ListPools) {
		out.Pools = append(out.Pools, pool.Text("name"))
	}
	return out
}

// MembersOf are the addresses in the pools that rules of Services send to.
func MembersOf(lb Object) []string {
	used := map[string]bool{}
	for _, r := range lb.Props().List(ListRules) {
		if BaseOf(r.Text("name")) != "" {
			used[lowerCase(PoolOf(r))] = true
		}
	}
	var out []string
	for _, pool := range lb.Props().List(ListPools) {
		if !used[lowerCase(pool.Text("name"))] {
			continue
		}
		for _, a := range pool.Props().List("loadBalancerBackendAddresses") {
			if ip := a.Props().Text("ipAddress"); ip != "" {
				out = append(out, Canonical(ip))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// PoolSpecOf is a pool with its addresses; false if the load balancer has none of
// that name.
func PoolSpecOf(c Config, lb Object, name string) (Pool, bool) {
	pools := lb.Props().List(ListPools)
	i := Named(pools, name)
	if i < 0 {
		return Pool{}, false
	}
	out := Pool{Group: c.GroupOfBalancers(), Balancer: lb.Text("name"), Name: pools[i].Text("name")}
	if c.PoolType != PoolNodeIP {
		return out, true
	}
	p := pools[i].Props()
	out.Network = p.In("virtualNetwork").Text("id")
	for _, a := range p.List("loadBalancerBackendAddresses") {
		if ip := a.Props().Text("ipAddress"); ip != "" {
			out.Addresses = append(out.Addresses, PoolAddress{Name: a.Text("name"), IP: Canonical(ip)})
		}
		if out.Network == "" {
			out.Network = a.Props().In("virtualNetwork").Text("id")
		}
	}
	slices.SortFunc(out.Addresses, PoolAddress.Compare)
	return out, true
}

// Compare orders members by name, then by IP.
func (a PoolAddress) Compare(b PoolAddress) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.IP, b.IP))
}

// PoolIsNIC reports whether network interfaces are members of a pool, which then cannot
// have addresses.
func PoolIsNIC(lb Object, name string) bool {
	pools := lb.Props().List(ListPools)
	i := Named(pools, name)
	return i >= 0 && len(pools[i].Props().List(ListMembers)) > 0 && !poolHasOwnAddresses(pools[i])
}

func poolHasOwnAddresses(pool Object) bool {
	return slices.ContainsFunc(pool.Props().List("loadBalancerBackendAddresses"), func(a Object) bool {
		return a.Props().Text("ipAddress") != "" && a.Props().In("networkInterfaceIPConfiguration") == nil
	})
}

// HasForeign reports whether a load balancer has users other than Services: it has
// frontends of other names, or outbound or NAT rules, as those of AKS have.
func HasForeign(lb Object) bool {
	p := lb.Props()
	if len(p.List(listOutbound))+len(p.List(listNAT))+len(p.List(listNATPools)) > 0 {
		return true
	}
	return slices.ContainsFunc(p.List(ListFrontends), func(f Object) bool { return BaseOf(f.Text("name")) == "" })
}

// IsClusterPool reports whether a pool is one of the two that all Services share.
func IsClusterPool(cluster, pool string) bool {
	return strings.EqualFold(pool, cluster) || strings.EqualFold(pool, cluster+SuffixIPv6)
}

// PoolProof returns the proof for a pool, and for its members, in a load balancer in which
// the Service has entries. The pool of all Services has no proof where other owners use the
// load balancer as well: it may have existed before, with the nodes in it, and its name
// does not show that. It is retained with the load balancer, as by the official controller.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
//
// A pool that only others use, such as the pool of a family that the Service does not have,
// is theirs as well.
func PoolProof(cluster, base string, lb Object, pool string, there bool) stack.Proof {
	theirs := PoolInUse(lb, pool, base) && !PoolOwned(lb, pool, base)
	if !there || theirs || IsClusterPool(cluster, pool) && HasForeign(lb) {
		return stack.None
	}
	return stack.Derived
}

// PoolOwned reports whether a rule of the Service sends to a pool.
func PoolOwned(lb Object, name, base string) bool {
	return slices.ContainsFunc(lb.Props().List(ListRules), func(r Object) bool {
		return strings.EqualFold(PoolOf(r), name) && ownedBy(base, r.Text("name"))
	})
}

// PoolInUse reports whether anything but the Service's own rules refers to a pool. Such a
// pool keeps its members.
func PoolInUse(lb Object, name, base string) bool {
	p := lb.Props()
	refers := func(o Object) bool { return strings.EqualFold(PoolOf(o), name) }
	for _, r := range p.List(ListRules) {
		if refers(r) && (base == "" || !ownedBy(base, r.Text("name"))) {
			return true
		}
	}
	return slices.ContainsFunc(p.List(listOutbound), refers) || slices.ContainsFunc(p.List(listNAT), refers)
}

// StateOf reads the provisioning state of a resource.
func StateOf(o Object) stack.State {
	switch lowerCase(o.Props().Text("provisioningState")) {
	case "", "succeeded":
		return stack.Ready
	case "failed", "canceled":
		return stack.Failed
	}
	return stack.Pending
}

// TroubleOf says that Azure accepted the last write of a resource and could not
// do it; empty: it did.
func TroubleOf(o Object) string {
	if StateOf(o) == stack.Failed {
		return "its last operation failed"
	}
	return ""
}
