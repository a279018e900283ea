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
	internal := doc.Text("loadBalancingScheme") == "INTERNAL"
	if text := doc.Text("IPAddress"); strings.Contains(text, ":") && !strings.HasPrefix(text, "http") {
		doc["ipVersion"] = "IPV6"
	}
	v6 := doc.Text("ipVersion") == "IPV6"
	if !internal && !v6 {
		if doc.Has("subnetwork") {
			return wire.Invalid("resource.subnetwork", doc.Text("subnetwork"), "The subnetwork of an external IPv4 forwarding rule cannot be set.")
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
		doc["network"] = subnet.doc.Text("network")
		if e := c.follow(doc.Text("backendService"), "backendServices"); e != nil && e.doc.Has("network") && e.doc.Text("network") != doc.Text("network") {
			return wire.Invalid("resource.network", doc.Text("network"), "The network of the backend service is '%s', that of the forwarding rule must be the same.", e.doc.Text("network"))
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
	case doc.Text("ipVersion") == "IPV6":
		return c.ruleIPv6(doc)
	case doc.Text("loadBalancingScheme") == "INTERNAL":
		return c.ruleInternal(doc)
	}
	doc.Default("networkTier", "PREMIUM")
	if given := doc.Text("IPAddress"); given != "" {
		return c.unreserved(doc, given)
	}
	ip, err := c.takeExternal(doc.Text("networkTier"))
	doc["IPAddress"] = ip
	return err
}

// unreserved refuses an external address that is not reserved.
func (c *call) unreserved(doc wire.Object, given string) error {
	if len(c.holders(given, "")) > 0 {
		return wire.Invalid("resource.IPAddress", given, "Specified IP address is in-use and would result in a conflict.")
	}
	return wire.Invalid("resource.IPAddress", given, "Invalid IP address specified. The %s address is not reserved in this region.", strings.ToLower(doc.Text("loadBalancingScheme")))
}

// reservedFor finds the reserved address that the rule names by reference, by
// name or by its number.
func (c *call) reservedFor(doc wire.Object) (*entry, error) {
	text := doc.Text("IPAddress")
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
	if doc.Text("loadBalancingScheme") == "INTERNAL" {
		network = doc.Text("network")
	}
	for _, a := range filterHolders(c.holders(text, network), "addresses") {
		if a.ref.Project == c.project() && a.ref.Scope == c.scope() {
			return a, nil
		}
	}
	return nil, nil
}

func (c *call) useReserved(doc wire.Object, a *entry) error {
	scheme, ip := doc.Text("loadBalancingScheme"), a.doc.Text("address")
	if a.doc.Text("addressType") != scheme {
		return wire.Invalid("resource.IPAddress", ip, "The type of the address is %s, which does not fit a forwarding rule with load balancing scheme %s.", a.doc.Text("addressType"), scheme)
	}
	v6 := a.doc.Text("ipVersion") == "IPV6"
	if v6 != (doc.Text("ipVersion") == "IPV6") && doc.Has("ipVersion") {
		return wire.Invalid("resource.ipVersion", doc.Text("ipVersion"), "The address is of another version.")
	}
	if scheme == "INTERNAL" && doc.Text("subnetwork") != a.doc.Text("subnetwork") {
		return wire.Invalid("resource.IPAddress", ip, "Requested internal IP address is outside the network/subnetwork range.")
	}
	tier := a.doc.Text("networkTier")
	if doc.Has("networkTier") && doc.Text("networkTier") != tier {
		return wire.Invalid("resource.networkTier", doc.Text("networkTier"), "The network tier of the address is %s, that of the forwarding rule must be the same.", tier)
	}
	doc["networkTier"] = tier
	doc["IPAddress"] = ip
	if v6 && scheme == "EXTERNAL" {
		doc["IPAddress"] = ip + "/96"
	}
	others := filterHolders(c.holders(ip, doc.Text("network")), "forwardingRules")
	if scheme == "INTERNAL" && len(others) > 0 && a.doc.Text("purpose") != "SHARED_LOADBALANCER_VIP" {
		return wire.AddressInUse(ip, others[0].ref.Path())
	}
	if scheme == "INTERNAL" && len(others) >= maxSharingRules {
		return wire.QuotaExceeded("INTERNAL_FORWARDING_RULES_PER_IP", maxSharingRules, "for '"+ip+"'")
	}
	return nil
}

func (c *call) ruleIPv6(doc wire.Object) error {
	scheme := doc.Text("loadBalancingScheme")
	if err := takePremium(doc, "IPv6 forwarding rules"); err != nil {
		return err
	}
	given := doc.Text("IPAddress")
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
	subnet := c.follow(doc.Text("subnetwork"), "subnetworks")
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
	if prefix, err := netip.ParsePrefix(subnet.doc.Text("internalIpv6Prefix")); err != nil || !prefix.Contains(addr) {
		return wire.Invalid("resource.IPAddress", given, "Requested internal IP address is outside the network/subnetwork range.")
	}
	if list := c.holders(given, doc.Text("network")); len(list) > 0 {
		return wire.AddressInUse(given, list[0].ref.Path())
	}
	doc["IPAddress"] = spellIPv6(addr)
	return nil
}

func (c *call) ruleInternal(doc wire.Object) error {
	if err := takePremium(doc, "Internal forwarding rules"); err != nil {
		return err
	}
	subnet := c.follow(doc.Text("subnetwork"), "subnetworks")
	given := doc.Text("IPAddress")
	if given == "" {
		ip, err := c.takeInternal(subnet, 8)
		doc["IPAddress"] = ip
		return err
	}
	addr, _ := parseAddress(given)
	if !subnetContains(subnet, addr) {
		return wire.Invalid("resource.IPAddress", given, "Requested internal IP address is outside the network/subnetwork range.")
	}
	if user := c.internalUser(doc.Text("network"), given); user != "" {
		return wire.AddressInUse(given, user)
	}
	return nil
}

// ruleConflict refuses a rule that would take packets of another one: the same
// address and protocol, and a port in common.
func (c *call) ruleConflict(doc wire.Object) error {
	for _, other := range filterHolders(c.holders(doc.Text("IPAddress"), doc.Text("network")), "forwardingRules") {
		o := other.doc
		if o.Text("IPProtocol") != doc.Text("IPProtocol") || !portsMeet(o, doc) {
			continue
		}
		if o.Has("target") || doc.Has("target") {
			return wire.Invalid("resource.IPAddress", doc.Text("IPAddress"), "Specified IP address is in-use and would result in a conflict.")
		}
		return wire.Invalid("resource.portRange", doc.Text("portRange"), "Forwarding rule's port range is conflicting with forwarding rule '%s'.", other.ref.Path())
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
	if low, high, ok := portRange(rule.Text("portRange")); ok {
		return [][2]int{{low, high}}
	}
	var out [][2]int
	for _, p := range rule.Texts("ports") {
		if n, err := strconv.Atoi(p); err == nil {
			out = append(out, [2]int{n, n})
		}
	}
	if len(out) == 0 {
		return [][2]int{{0, 65535}}
	}
	return out
}
