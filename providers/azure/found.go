package azure

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Lists among the properties of a load balancer.
const (
	listFrontends = "frontendIPConfigurations"
	listPools     = "backendAddressPools"
	listMembers   = "backendIPConfigurations" // of a pool
	listRules     = "loadBalancingRules"
	listProbes    = "probes"
	listOutbound  = "outboundRules"
	listNAT       = "inboundNatRules"
	listNATPools  = "inboundNatPools"

	toFrontend  = "frontendIPConfiguration"
	toFrontends = "frontendIPConfigurations"
	toPool      = "backendAddressPool"
	toProbe     = "probe"

	protocolAll = "All"
	ipv4        = "IPv4"
	ipv6        = "IPv6"
)

// addressOf tells the address of a public IP; "" while it has none.
type addressOf func(stack.Key) string

// entriesOf is what the Service with the base name has in a load balancer; false
// if that is nothing. A frontend of its name that only strangers still use is not
// the Service's to take away, so alone it is nothing.
func entriesOf(c Config, lb Object, base string, address addressOf) (Entries, bool) {
	if lb == nil {
		return Entries{}, false
	}
	p := lb.props()
	out := Entries{Group: c.balancerGroup(), Balancer: lb.text("name"), Tags: lb.tags(), Trouble: troubleOf(lb)}
	for _, r := range p.list(listRules) {
		if ownedBy(base, r.text("name")) {
			out.Rules = append(out.Rules, ruleOf(r))
		}
	}
	for _, pr := range p.list(listProbes) {
		uses := func(r Rule) bool { return strings.EqualFold(r.Probe, pr.text("name")) }
		if ownedBy(base, pr.text("name")) || slices.ContainsFunc(out.Rules, uses) {
			out.Probes = append(out.Probes, probeOf(pr))
		}
	}
	for _, f := range p.list(listFrontends) {
		name := f.text("name")
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
	slices.SortFunc(e.Frontends, func(a, b Frontend) int { return cmp.Compare(lower(a.Name), lower(b.Name)) })
	slices.SortFunc(e.Rules, func(a, b Rule) int { return cmp.Compare(lower(a.Name), lower(b.Name)) })
	slices.SortFunc(e.Probes, func(a, b Probe) int { return cmp.Compare(lower(a.Name), lower(b.Name)) })
	slices.Sort(e.Pools)
}

// frontendOf reads a frontend.
func frontendOf(f Object, address addressOf) Frontend {
	p := f.props()
	out := Frontend{Name: f.text("name"), Version: ipv4, Zones: f.texts("zones")}
	if id := f.ref("publicIPAddress"); id != "" {
		key := publicIPKeyOf(id)
		out.PublicIP = stack.RefTo(key)
		if address != nil {
			out.Address = canonical(address(key))
		}
		if a, err := netip.ParseAddr(out.Address); err == nil && a.Is6() || err != nil && strings.HasSuffix(out.Name, suffixIPv6) {
			out.Version = ipv6
		}
		return out
	}
	out.Subnet = f.ref("subnet")
	out.Address = canonical(p.text("privateIPAddress"))
	out.Static = strings.EqualFold(p.text("privateIPAllocationMethod"), "Static")
	if strings.EqualFold(p.text("privateIPAddressVersion"), ipv6) {
		out.Version = ipv6
	}
	return out
}

func ruleOf(r Object) Rule {
	p := r.props()
	return Rule{
		Name: r.text("name"), Frontend: r.refName(toFrontend), Pool: poolOf(r), Probe: r.refName(toProbe),
		Protocol: p.text("protocol"), FrontendPort: p.number("frontendPort"), BackendPort: p.number("backendPort"),
		FloatingIP: p.flag("enableFloatingIP"), Distribution: p.text("loadDistribution"),
		IdleTimeout: p.number("idleTimeoutInMinutes"), TCPReset: p.flag("enableTcpReset"), NoSNAT: p.flag("disableOutboundSnat"),
	}
}

// poolOf is the pool of a rule, which newer API versions answer as a list of one.
func poolOf(r Object) string {
	if name := r.refName(toPool); name != "" {
		return name
	}
	for _, p := range r.props().list("backendAddressPools") {
		return lastSegment(p.text("id"))
	}
	return ""
}

func probeOf(o Object) Probe {
	p := o.props()
	return Probe{
		Name: o.text("name"), Protocol: p.text("protocol"), Port: p.number("port"), Path: p.text("requestPath"),
		Interval: p.number("intervalInSeconds"), Threshold: p.number("probeThreshold"),
	}
}

// usedByOthers tells whether anything that is not the Service's sends from the
// frontend: rules of others, outbound or NAT rules, a private link service.
func usedByOthers(lb Object, frontend, base string) bool {
	users, held := usersOf(lb, frontend)
	return held || slices.ContainsFunc(users, func(rule string) bool { return base == "" || !ownedBy(base, rule) })
}

// usersOf lists the load balancing rules that send from a frontend, and tells
// whether something else holds it.
func usersOf(lb Object, frontend string) (rules []string, held bool) {
	use := usesOf(lb)[lower(frontend)]
	return use.rules, use.held
}

// frontendUse is what uses one frontend.
type frontendUse struct {
	rules []string // load balancing rules
	held  bool     // outbound or NAT rules, or a private link service
}

// usesOf lists who uses the frontends of a load balancer, by their names in lower
// case.
func usesOf(lb Object) map[string]frontendUse {
	p, out := lb.props(), map[string]frontendUse{}
	hold := func(name string) {
		use := out[lower(name)]
		use.held = true
		out[lower(name)] = use
	}
	for _, r := range p.list(listRules) {
		name := lower(r.refName(toFrontend))
		use := out[name]
		use.rules = append(use.rules, r.text("name"))
		out[name] = use
	}
	for _, list := range []string{listNAT, listNATPools} {
		for _, r := range p.list(list) {
			hold(r.refName(toFrontend))
		}
	}
	for _, r := range p.list(listOutbound) {
		for _, f := range r.props().list(toFrontends) {
			hold(lastSegment(f.text("id")))
		}
	}
	for _, f := range p.list(listFrontends) {
		if f.ref("privateLinkService") != "" {
			hold(f.text("name"))
		}
	}
	return out
}

// balancerOf is what Build may know of a load balancer.
func balancerOf(lb Object, address addressOf) FoundBalancer {
	p := lb.props()
	out := FoundBalancer{Name: lb.text("name"), SKU: lb.in("sku").text("name"), Rules: len(p.list(listRules)), Tags: lb.tags()}
	uses := usesOf(lb)
	for _, f := range p.list(listFrontends) {
		found := FoundFrontend{Frontend: frontendOf(f, address)}
		use := uses[lower(found.Name)]
		found.Users, found.Held = use.rules, use.held
		out.Frontends = append(out.Frontends, found)
	}
	for _, pool := range p.list(listPools) {
		out.Pools = append(out.Pools, pool.text("name"))
	}
	return out
}

// membersOf are the addresses in the pools that rules of Services send to.
func membersOf(lb Object) []string {
	used := map[string]bool{}
	for _, r := range lb.props().list(listRules) {
		if baseOf(r.text("name")) != "" {
			used[lower(poolOf(r))] = true
		}
	}
	var out []string
	for _, pool := range lb.props().list(listPools) {
		if !used[lower(pool.text("name"))] {
			continue
		}
		for _, a := range pool.props().list("loadBalancerBackendAddresses") {
			if ip := a.props().text("ipAddress"); ip != "" {
				out = append(out, canonical(ip))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// poolSpecOf is a pool with its addresses; false if the load balancer has none of
// that name.
func poolSpecOf(c Config, lb Object, name string) (Pool, bool) {
	pools := lb.props().list(listPools)
	i := named(pools, name)
	if i < 0 {
		return Pool{}, false
	}
	out := Pool{Group: c.balancerGroup(), Balancer: lb.text("name"), Name: pools[i].text("name")}
	if c.PoolType != poolNodeIP {
		return out, true
	}
	p := pools[i].props()
	out.Network = p.in("virtualNetwork").text("id")
	for _, a := range p.list("loadBalancerBackendAddresses") {
		if ip := a.props().text("ipAddress"); ip != "" {
			out.Addresses = append(out.Addresses, PoolAddress{Name: a.text("name"), IP: canonical(ip)})
		}
		if out.Network == "" {
			out.Network = a.props().in("virtualNetwork").text("id")
		}
	}
	slices.SortFunc(out.Addresses, PoolAddress.compare)
	return out, true
}

// compare orders members by name, then by IP.
func (a PoolAddress) compare(b PoolAddress) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.IP, b.IP))
}

// poolIsNIC tells whether network interfaces are members of a pool, which then
// cannot take addresses.
func poolIsNIC(lb Object, name string) bool {
	pools := lb.props().list(listPools)
	i := named(pools, name)
	return i >= 0 && len(pools[i].props().list(listMembers)) > 0 && !poolHasOwnAddresses(pools[i])
}

func poolHasOwnAddresses(pool Object) bool {
	return slices.ContainsFunc(pool.props().list("loadBalancerBackendAddresses"), func(a Object) bool {
		return a.props().text("ipAddress") != "" && a.props().in("networkInterfaceIPConfiguration") == nil
	})
}

// hasStrangers tells whether somebody else uses a load balancer besides Services:
// it has frontends of other names, or outbound or NAT rules, as those of AKS have.
func hasStrangers(lb Object) bool {
	p := lb.props()
	if len(p.list(listOutbound))+len(p.list(listNAT))+len(p.list(listNATPools)) > 0 {
		return true
	}
	return slices.ContainsFunc(p.list(listFrontends), func(f Object) bool { return baseOf(f.text("name")) == "" })
}

// isClusterPool tells whether a pool is one of the two of all Services.
func isClusterPool(cluster, pool string) bool {
	return strings.EqualFold(pool, cluster) || strings.EqualFold(pool, cluster+suffixIPv6)
}

// poolProof is the proof for a pool in a load balancer in which the Service has
// entries, and for its members. The pool of all Services is nobody's proof where
// strangers use the load balancer as well: it may have been there before us, with
// the nodes in it, and its name cannot tell. It stays with the load balancer, as
// the official controller leaves it.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
//
// A pool that only others use, such as that of a family which the Service does
// not have, is theirs as well.
func poolProof(cluster, base string, lb Object, pool string, there bool) stack.Proof {
	theirs := poolInUse(lb, pool, base) && !poolOwned(lb, pool, base)
	if !there || theirs || isClusterPool(cluster, pool) && hasStrangers(lb) {
		return stack.None
	}
	return stack.Derived
}

// poolOwned tells whether a rule of the Service sends to a pool.
func poolOwned(lb Object, name, base string) bool {
	return slices.ContainsFunc(lb.props().list(listRules), func(r Object) bool {
		return strings.EqualFold(poolOf(r), name) && ownedBy(base, r.text("name"))
	})
}

// poolInUse tells whether anything but the Service's own rules refers to a pool.
// Such a pool keeps its members.
func poolInUse(lb Object, name, base string) bool {
	p := lb.props()
	refers := func(o Object) bool { return strings.EqualFold(poolOf(o), name) }
	for _, r := range p.list(listRules) {
		if refers(r) && (base == "" || !ownedBy(base, r.text("name"))) {
			return true
		}
	}
	return slices.ContainsFunc(p.list(listOutbound), refers) || slices.ContainsFunc(p.list(listNAT), refers)
}

// stateOf reads the provisioning state of a resource.
func stateOf(o Object) stack.State {
	switch lower(o.props().text("provisioningState")) {
	case "", "succeeded":
		return stack.Ready
	case "failed", "canceled":
		return stack.Failed
	}
	return stack.Pending
}

// troubleOf says that Azure accepted the last write of a resource and could not
// do it; empty: it did.
func troubleOf(o Object) string {
	if stateOf(o) == stack.Failed {
		return "its last operation failed"
	}
	return ""
}
