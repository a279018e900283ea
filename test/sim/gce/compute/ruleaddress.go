package compute

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// maxSharingRules is how many rules may have one internal address.
// Source: Cloud Load Balancing quotas page.
const maxSharingRules = 10

// ruleNetwork finds out network and subnetwork of a rule. External IPv4 rules
// have none.
func (c *call) ruleNetwork(doc wire.Object) error {
	internal := doc.Str("loadBalancingScheme") == "INTERNAL"
	if text := doc.Str("IPAddress"); strings.Contains(text, ":") && !strings.HasPrefix(text, "http") {
		doc["ipVersion"] = "IPV6"
	}
	v6 := doc.Str("ipVersion") == "IPV6"
	if !internal && !v6 {
		if doc.Has("subnetwork") {
			return wire.Invalid("resource.subnetwork", doc.Str("subnetwork"), "The subnetwork of an external IPv4 forwarding rule cannot be set.")
		}
		delete(doc, "network")
		return nil
	}
	if !internal && doc.Has("ipCollection") {
		delete(doc, "network")
		return nil
	}
	if !internal && !doc.Has("subnetwork") {
		return wire.Required("resource.subnetwork")
	}
	subnet, err := c.subnetOf(doc)
	if err != nil {
		return err
	}
	doc["subnetwork"] = subnet.ref.URL()
	delete(doc, "network")
	if internal {
		doc["network"] = subnet.doc.Str("network")
		if e := c.follow(doc.Str("backendService"), "backendServices"); e != nil && e.doc.Has("network") && e.doc.Str("network") != doc.Str("network") {
			return wire.Invalid("resource.network", doc.Str("network"), "The network of the backend service is '%s', that of the forwarding rule must be the same.", e.doc.Str("network"))
		}
	}
	return nil
}

// ruleAddress gives the rule its address: the one it names, as a number or as a
// reserved address, or a new ephemeral one.
func (c *call) ruleAddress(doc wire.Object) error {
	reserved, err := c.reservedFor(doc)
	if err != nil {
		return err
	}
	if reserved != nil {
		return c.useReserved(doc, reserved)
	}
	switch {
	case doc.Str("ipVersion") == "IPV6":
		return c.ruleIPv6(doc)
	case doc.Str("loadBalancingScheme") == "INTERNAL":
		return c.ruleInternal(doc)
	}
	doc.Default("networkTier", "PREMIUM")
	if given := doc.Str("IPAddress"); given != "" {
		return c.unreserved(doc, given)
	}
	ip, err := c.takeExternal(doc.Str("networkTier"))
	doc["IPAddress"] = ip
	return err
}

// unreserved refuses an external address that is not reserved.
func (c *call) unreserved(doc wire.Object, given string) error {
	if len(c.holders(given, "")) > 0 {
		return wire.Invalid("resource.IPAddress", given, "Specified IP address is in-use and would result in a conflict.")
	}
	return wire.Invalid("resource.IPAddress", given, "Invalid IP address specified. The %s address is not reserved in this region.", strings.ToLower(doc.Str("loadBalancingScheme")))
}

// reservedFor finds the reserved address that the rule names by reference, by
// name or by its number.
func (c *call) reservedFor(doc wire.Object) (*entry, error) {
	text := doc.Str("IPAddress")
	if text == "" {
		return nil, nil
	}
	if _, ok := parseAddress(text); !ok {
		ref := wire.Ref{Project: c.project(), Scope: c.scope(), Collection: "addresses", Name: text}
		if strings.Contains(text, "/") {
			var err error
			if ref, err = wire.ParseRef(text, c.project(), "addresses", "resource.IPAddress"); err != nil {
				return nil, err
			}
		} else if !wire.IsName(text) {
			return nil, wire.Invalid("resource.IPAddress", text, "Invalid IP address specified.")
		}
		return c.find(ref)
	}
	network := ""
	if doc.Str("loadBalancingScheme") == "INTERNAL" {
		network = doc.Str("network")
	}
	for _, a := range filterHolders(c.holders(text, network), "addresses") {
		if a.ref.Project == c.project() && a.ref.Scope == c.scope() {
			return a, nil
		}
	}
	return nil, nil
}

func (c *call) useReserved(doc wire.Object, a *entry) error {
	scheme, ip := doc.Str("loadBalancingScheme"), a.doc.Str("address")
	if a.doc.Str("addressType") != scheme {
		return wire.Invalid("resource.IPAddress", ip, "The type of the address is %s, which does not fit a forwarding rule with load balancing scheme %s.", a.doc.Str("addressType"), scheme)
	}
	v6 := a.doc.Str("ipVersion") == "IPV6"
	if v6 != (doc.Str("ipVersion") == "IPV6") && doc.Has("ipVersion") {
		return wire.Invalid("resource.ipVersion", doc.Str("ipVersion"), "The address is of another version.")
	}
	if scheme == "INTERNAL" && doc.Str("subnetwork") != a.doc.Str("subnetwork") {
		return wire.Invalid("resource.IPAddress", ip, "Requested internal IP address is outside the network/subnetwork range.")
	}
	tier := a.doc.Str("networkTier")
	if doc.Has("networkTier") && doc.Str("networkTier") != tier {
		return wire.Invalid("resource.networkTier", doc.Str("networkTier"), "The network tier of the address is %s, that of the forwarding rule must be the same.", tier)
	}
	doc["networkTier"] = tier
	doc["IPAddress"] = ip
	if v6 && scheme == "EXTERNAL" {
		doc["IPAddress"] = ip + "/96"
	}
	others := filterHolders(c.holders(ip, doc.Str("network")), "forwardingRules")
	if scheme == "INTERNAL" && len(others) > 0 && a.doc.Str("purpose") != "SHARED_LOADBALANCER_VIP" {
		return wire.AddressInUse(ip, others[0].ref.Path())
	}
	if scheme == "INTERNAL" && len(others) >= maxSharingRules {
		return wire.QuotaExceeded("INTERNAL_FORWARDING_RULES_PER_IP", maxSharingRules, "for '"+ip+"'")
	}
	return nil
}

func (c *call) ruleIPv6(doc wire.Object) error {
	scheme := doc.Str("loadBalancingScheme")
	if err := takePremium(doc, "IPv6 forwarding rules"); err != nil {
		return err
	}
	given := doc.Str("IPAddress")
	prefix, err := c.prefixOf(doc)
	if err != nil {
		return err
	}
	if prefix != nil && given == "" {
		ip, err := c.takeDelegated(doc, prefix)
		doc["IPAddress"] = ip + "/96"
		return err
	}
	if prefix != nil {
		return c.unreserved(doc, given)
	}
	subnet := c.follow(doc.Str("subnetwork"), "subnetworks")
	if given == "" {
		ip, err := c.takeIPv6(subnet, scheme)
		if err != nil {
			return err
		}
		doc["IPAddress"] = ip
		if scheme == "EXTERNAL" {
			doc["IPAddress"] = ip + "/96"
		}
		return nil
	}
	if scheme == "EXTERNAL" {
		if !strings.HasSuffix(given, "/96") {
			return wire.Invalid("resource.IPAddress", given, "An external IPv6 address must be given as a range of /96.")
		}
		return c.unreserved(doc, given)
	}
	addr, _ := parseAddress(given)
	if prefix, err := netip.ParsePrefix(subnet.doc.Str("internalIpv6Prefix")); err != nil || !prefix.Contains(addr) {
		return wire.Invalid("resource.IPAddress", given, "Requested internal IP address is outside the network/subnetwork range.")
	}
	if list := c.holders(given, doc.Str("network")); len(list) > 0 {
		return wire.AddressInUse(given, list[0].ref.Path())
	}
	doc["IPAddress"] = spellIPv6(addr)
	return nil
}

func (c *call) ruleInternal(doc wire.Object) error {
	if err := takePremium(doc, "Internal forwarding rules"); err != nil {
		return err
	}
	subnet := c.follow(doc.Str("subnetwork"), "subnetworks")
	given := doc.Str("IPAddress")
	if given == "" {
		ip, err := c.takeInternal(subnet, 8)
		doc["IPAddress"] = ip
		return err
	}
	addr, _ := parseAddress(given)
	if !subnetContains(subnet, addr) {
		return wire.Invalid("resource.IPAddress", given, "Requested internal IP address is outside the network/subnetwork range.")
	}
	if user := c.internalUser(doc.Str("network"), given); user != "" {
		return wire.AddressInUse(given, user)
	}
	return nil
}

// ruleConflict refuses a rule that would take packets of another one: the same
// address and protocol, and a port in common.
func (c *call) ruleConflict(doc wire.Object) error {
	for _, other := range filterHolders(c.holders(doc.Str("IPAddress"), doc.Str("network")), "forwardingRules") {
		o := other.doc
		if o.Str("IPProtocol") != doc.Str("IPProtocol") || !portsMeet(o, doc) {
			continue
		}
		if o.Has("target") || doc.Has("target") {
			return wire.Invalid("resource.IPAddress", doc.Str("IPAddress"), "Specified IP address is in-use and would result in a conflict.")
		}
		return wire.Invalid("resource.portRange", doc.Str("portRange"), "Forwarding rule's port range is conflicting with forwarding rule '%s'.", other.ref.Path())
	}
	return nil
}

func portsMeet(a, b wire.Object) bool {
	for _, x := range portRanges(a) {
		for _, y := range portRanges(b) {
			if x[0] <= y[1] && y[0] <= x[1] {
				return true
			}
		}
	}
	return false
}

func portRanges(rule wire.Object) [][2]int {
	if low, high, ok := portRange(rule.Str("portRange")); ok {
		return [][2]int{{low, high}}
	}
	var out [][2]int
	for _, p := range rule.Strings("ports") {
		if n, err := strconv.Atoi(p); err == nil {
			out = append(out, [2]int{n, n})
		}
	}
	if len(out) == 0 {
		return [][2]int{{0, 65535}}
	}
	return out
}
