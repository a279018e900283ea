package compute

import (
	"net/netip"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

func networks() *collection {
	return &collection{
		name: "networks", param: "network", kind: "compute#network", at: []string{"global"},
		verbs: map[string][]string{"global": {"insert", "delete"}},
		schema: common(wire.Schema{
			"autoCreateSubnetworks": {Type: wire.Truth}, "mtu": {Type: wire.Int}, "subnetworks": {List: true, Output: true},
			"enableUlaInternalIpv6": {Type: wire.Truth}, "internalIpv6Range": {},
			"routingConfig": {Type: wire.Nested, Fields: wire.Schema{"routingMode": {Values: []string{"GLOBAL", "REGIONAL"}}}},
		}),
		finish: func(_ *call, _ *entry, doc wire.Object) error {
			doc.Default("mtu", float64(1460))
			doc.Default("routingConfig", wire.Object{"routingMode": "REGIONAL"})
			if doc.Bool("autoCreateSubnetworks") {
				return wire.Usage("The simulator does not create subnetworks on its own: set autoCreateSubnetworks to false.")
			}
			return nil
		},
		guard: unused(
			link{"subnetworks", field("network")}, link{"firewalls", field("network")}, link{"routes", field("network")},
			link{"instanceGroups", field("network")}, link{"networkEndpointGroups", field("network")}),
		show: func(c *call, e *entry, doc wire.Object) {
			var urls []string
			for _, s := range c.users("subnetworks", field("network"), e.ref.URL()) {
				urls = append(urls, s.ref.URL())
			}
			doc["subnetworks"] = wire.Texts(urls...)
		},
		quota: func(wire.Object) string { return "NETWORKS" },
	}
}

func subnetworks() *collection {
	return &collection{
		name: "subnetworks", param: "subnetwork", kind: "compute#subnetwork", at: []string{"region"}, aggregated: "subnetworks",
		verbs: map[string][]string{"region": {"insert", "patch", "delete"}}, print: "always",
		schema: common(wire.Schema{
			"network": {}, "ipCidrRange": {}, "gatewayAddress": {Output: true}, "fingerprint": {Type: wire.Bytes},
			"privateIpGoogleAccess": {Type: wire.Truth}, "purpose": {Values: []string{"PRIVATE", "REGIONAL_MANAGED_PROXY", "PRIVATE_SERVICE_CONNECT"}},
			"role":            {Values: []string{"ACTIVE", "BACKUP"}},
			"stackType":       {Values: []string{"IPV4_ONLY", "IPV4_IPV6", "IPV6_ONLY"}},
			"ipv6AccessType":  {Values: []string{"EXTERNAL", "INTERNAL"}},
			"ipv6CidrRange":   {Output: true},
			"ipv6GceEndpoint": {Output: true}, "externalIpv6Prefix": {}, "internalIpv6Prefix": {},
			"privateIpv6GoogleAccess": {}, "state": {Output: true}, "enableFlowLogs": {Type: wire.Truth},
			"secondaryIpRanges": {Type: wire.Nested, List: true, Fields: wire.Schema{"rangeName": {}, "ipCidrRange": {}}},
		}),
		finish: (*call).finishSubnet,
		guard: unused(
			link{"forwardingRules", field("subnetwork")}, link{"addresses", field("subnetwork")}, link{"networkEndpointGroups", field("subnetwork")},
			link{"instanceGroups", field("subnetwork")}, link{"instances", func(o wire.Object) []string { return []string{nic(o).Str("subnetwork")} }}),
		quota: func(wire.Object) string { return "SUBNETWORKS" },
	}
}

func (c *call) finishSubnet(old *entry, doc wire.Object) error {
	if err := keep(old, doc, "network", "purpose"); err != nil {
		return err
	}
	network, err := c.network(doc.Str("network"), "resource.network")
	if err != nil {
		return err
	}
	doc["network"] = network.ref.URL()
	prefix, err := netip.ParsePrefix(doc.Str("ipCidrRange"))
	if err != nil || !prefix.Addr().Is4() || prefix.Masked() != prefix || prefix.Bits() > 29 {
		return wire.Invalid("resource.ipCidrRange", doc.Str("ipCidrRange"), "Must be a CIDR address range.")
	}
	if other := c.overlapping(doc, prefix); other != nil {
		return wire.Invalid("resource.ipCidrRange", prefix, "Conflicts with existing subnetwork '%s' in region '%s'.", other.ref.Name, other.ref.Place())
	}
	doc["gatewayAddress"] = prefix.Addr().Next().String()
	doc.Default("purpose", "PRIVATE")
	doc.Default("stackType", "IPV4_ONLY")
	doc.Default("privateIpGoogleAccess", false)
	doc.Default("privateIpv6GoogleAccess", "DISABLE_GOOGLE_ACCESS")
	doc["fingerprint"] = ""
	if doc.Str("stackType") == "IPV4_ONLY" {
		return nil
	}
	if !doc.Has("ipv6AccessType") {
		return wire.Required("resource.ipv6AccessType")
	}
	c.giveIPv6(doc)
	return nil
}

// giveIPv6 gives a subnetwork its IPv6 range, once.
func (c *call) giveIPv6(doc wire.Object) {
	c.api.bump["ipv6"]++
	n := byte(c.api.bump["ipv6"])
	name, prefix := "externalIpv6Prefix", netip.AddrFrom16([16]byte{0x26, 0x00, 0x19, 0x00, 0x40, 0x00, 0x10, n})
	if doc.Str("ipv6AccessType") == "INTERNAL" {
		name, prefix = "internalIpv6Prefix", netip.AddrFrom16([16]byte{0xfd, 0x20, 0x0a, 0x80, 0, 0, 0x10, n})
	}
	doc.Default(name, netip.PrefixFrom(prefix, 64).String())
	doc.Default("ipv6CidrRange", doc.Str(name))
}

func (c *call) overlapping(doc wire.Object, prefix netip.Prefix) (found *entry) {
	c.st.each("subnetworks", func(e *entry) bool {
		other, err := netip.ParsePrefix(e.doc.Str("ipCidrRange"))
		if err == nil && e.doc.Str("network") == doc.Str("network") && e.doc.Str("name") != doc.Str("name") && other.Overlaps(prefix) {
			found = e
		}
		return found == nil
	})
	return found
}

func routes() *collection {
	return &collection{
		name: "routes", param: "route", kind: "compute#route", at: []string{"global"},
		verbs: map[string][]string{"global": {"insert", "delete"}},
		schema: common(wire.Schema{
			"network": {}, "destRange": {}, "priority": {Type: wire.Int}, "tags": {List: true}, "nextHopInstance": {}, "nextHopIp": {},
			"nextHopGateway": {}, "nextHopNetwork": {Output: true}, "nextHopIlb": {},
		}),
		finish: func(c *call, _ *entry, doc wire.Object) error {
			network, err := c.network(doc.Str("network"), "resource.network")
			if err != nil {
				return err
			}
			doc["network"] = network.ref.URL()
			if _, err := netip.ParsePrefix(doc.Str("destRange")); err != nil {
				return wire.Invalid("resource.destRange", doc.Str("destRange"), "Must be a CIDR address range.")
			}
			doc.Default("priority", float64(1000))
			if at := doc.Str("nextHopInstance"); at != "" {
				ref, err := wire.ParseRef(at, c.project(), "instances", "resource.nextHopInstance")
				if err != nil {
					return err
				}
				if _, err := c.find(ref); err != nil {
					return err
				}
				doc["nextHopInstance"] = ref.URL()
			}
			return between("resource.priority", doc.Num("priority"), 0, 65535)
		},
		quota: func(wire.Object) string { return "ROUTES" },
	}
}

// network finds a network by reference; without one it is the project's default.
func (c *call) network(text, field string) (*entry, error) {
	if text == "" {
		text = "global/networks/default"
	}
	ref, err := wire.ParseRef(text, c.project(), "networks", field)
	if err != nil {
		return nil, err
	}
	return c.find(ref)
}

// subnet finds a subnetwork of the request's region by reference. Without one it
// is the region's own in the network, if that has just one as the networks in
// auto mode have; it is nil when there is none.
func (c *call) subnet(text string, network *entry, field string) (*entry, error) {
	region := "regions/" + regionOf(c.scope())
	if text == "" {
		if network == nil || !network.doc.Bool("autoCreateSubnetworks") {
			return nil, wire.Invalid(field, text, "Subnetwork should be specified for custom subnetmode network")
		}
		ref := wire.Ref{Project: network.ref.Project, Scope: region, Collection: "subnetworks", Name: network.ref.Name}
		return c.find(ref)
	}
	ref, err := wire.ParseRef(text, c.project(), "subnetworks", field)
	if err != nil {
		return nil, err
	}
	if ref.Scope != region {
		return nil, wire.Invalid(field, text, "The subnetwork must be in %s.", strings.TrimSuffix(strings.Replace(region, "s/", " ", 1), "/"))
	}
	e, err := c.find(ref)
	if err != nil {
		return nil, err
	}
	if network != nil && e.doc.Str("network") != network.ref.URL() {
		return nil, wire.Invalid(field, text, "The subnetwork is not in the network '%s'.", network.ref.URL())
	}
	return e, nil
}
