package compute

import (
	"net/netip"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// noLabels is the fingerprint of no labels.
// Source: labelFingerprint of unlabelled resources, as every gcloud describe shows it.
const noLabels = "42WmSpB8rSM="

func addressCollection() *collection {
	return &collection{
		name: "addresses", param: "address", at: []string{"global", "region"},
		prefix: map[string]string{"global": "globalAddresses"},
		verbs:  map[string][]string{"region": {"insert", "delete"}},
		schema: withCommonFields(wire.Schema{
			"address": {}, "addressType": {Values: []string{"EXTERNAL", "INTERNAL"}}, "ipVersion": {Values: []string{"IPV4", "IPV6"}},
			"ipv6EndpointType": {Values: []string{"NETLB", "VM"}}, "networkTier": {Values: []string{"PREMIUM", "STANDARD"}}, "network": {}, "subnetwork": {},
			"prefixLength": {Type: wire.Int}, "ipCollection": {}, "purpose": {Values: []string{"GCE_ENDPOINT", "SHARED_LOADBALANCER_VIP"}},
			"labels": {Type: wire.Map}, "labelFingerprint": {Type: wire.Bytes}, "status": {Output: true}, "users": {List: true, Output: true},
		}),
		finish: (*call).finishAddress,
		show:   (*call).showAddress,
		quota: func(doc wire.Object) string {
			switch {
			case doc.Text("addressType") == "INTERNAL":
				return "INTERNAL_ADDRESSES"
			case doc.Text("ipVersion") == "IPV6":
				return "STATIC_EXTERNAL_IPV6_ADDRESS_RANGES"
			}
			return "STATIC_ADDRESSES"
		},
	}
}

func (c *call) finishAddress(_ *entry, doc wire.Object) error {
	doc.Default("addressType", "EXTERNAL")
	doc.Default("labelFingerprint", noLabels)
	delete(doc, "users")
	given := doc.Text("address")
	addr, ok := parseAddress(given)
	if given != "" && !ok {
		return wire.Invalid("resource.address", given, "Must be a valid IP address.")
	}
	v6 := doc.Text("ipVersion") == "IPV6" || (ok && addr.Is6())
	if !v6 && doc.Has("prefixLength") {
		return wire.Invalid("resource.prefixLength", doc.Num("prefixLength"), "The field is only for IPv6 addresses and ranges.")
	}
	if doc.Text("addressType") == "INTERNAL" {
		return c.finishInternal(doc, addr, v6)
	}
	if doc.Has("purpose") {
		return wire.Invalid("resource.purpose", doc.Text("purpose"), "The purpose of an external address cannot be set.")
	}
	if doc.Has("network") {
		return wire.Invalid("resource.network", doc.Text("network"), "The network of an external address cannot be set.")
	}
	if v6 {
		return c.finishExternalIPv6(doc)
	}
	if doc.Has("subnetwork") {
		return wire.Invalid("resource.subnetwork", doc.Text("subnetwork"), "The subnetwork of an external IPv4 address cannot be set.")
	}
	return c.finishExternal(doc)
}

// finishExternal takes a new address, or promotes the one of a live rule or
// instance of the project.
func (c *call) finishExternal(doc wire.Object) error {
	given := doc.Text("address")
	if given == "" {
		doc.Default("networkTier", "PREMIUM")
		ip, err := c.takeExternal(doc.Text("networkTier"))
		doc["address"] = ip
		return err
	}
	list := c.holders(given, "")
	if len(filterHolders(list, "addresses")) > 0 {
		return wire.Invalid("resource.address", given, "Specified IP address is already reserved.")
	}
	for _, h := range list {
		if h.ref.Project != c.project() || regionOf(h.ref.Scope) != regionOf(c.scope()) {
			continue
		}
		tier := h.doc.Text("networkTier")
		if tier == "" {
			tier = "PREMIUM"
		}
		if doc.Has("networkTier") && doc.Text("networkTier") != tier {
			return wire.Invalid("resource.networkTier", doc.Text("networkTier"), "The network tier of external IP is %s, that of Address must be the same.", tier)
		}
		doc["networkTier"] = tier
		return nil
	}
	return wire.Invalid("resource.address", given, "The IP address is not in use by the project in this region.")
}

func (c *call) finishExternalIPv6(doc wire.Object) error {
	if err := takePremium(doc, "IPv6 addresses"); err != nil {
		return err
	}
	doc["ipVersion"], doc["prefixLength"] = "IPV6", float64(96)
	if given := doc.Text("address"); given != "" {
		return c.promoteIPv6(doc, c.holders(given, ""))
	}
	doc.Default("ipv6EndpointType", "VM")
	if doc.Text("ipv6EndpointType") != "NETLB" {
		return wire.Invalid("resource.ipv6EndpointType", doc.Text("ipv6EndpointType"), "The simulator only gives addresses to load balancers: NETLB.")
	}
	prefix, err := c.prefixOf(doc)
	if err != nil {
		return err
	}
	if prefix != nil {
		doc["address"], err = c.takeDelegated(doc, prefix)
		return err
	}
	if !doc.Has("subnetwork") {
		return wire.Required("resource.subnetwork")
	}
	subnet, err := c.subnet(doc.Text("subnetwork"), nil, "resource.subnetwork")
	if err != nil {
		return err
	}
	doc["subnetwork"] = subnet.ref.URL()
	doc["address"], err = c.takeIPv6(subnet, "EXTERNAL")
	return err
}

// promoteIPv6 reserves the range that a live rule has.
func (c *call) promoteIPv6(doc wire.Object, list []holder) error {
	given, _, _ := strings.Cut(doc.Text("address"), "/")
	if len(filterHolders(list, "addresses")) > 0 {
		return wire.Condition("IP_IN_USE_BY_ANOTHER_RESOURCE: IP '%s' is already being used by another resource.", given)
	}
	for _, rule := range filterHolders(list, "forwardingRules") {
		if rule.ref.Project == c.project() && rule.ref.Scope == c.scope() {
			doc["address"], doc["subnetwork"] = given, rule.doc.Text("subnetwork")
			if doc.Text("addressType") == "EXTERNAL" {
				doc["ipv6EndpointType"] = "NETLB"
			}
			return nil
		}
	}
	return wire.Invalid("resource.address", given, "The IP address is not in use by the project in this region.")
}

func (c *call) finishInternal(doc wire.Object, addr netip.Addr, v6 bool) error {
	if err := takePremium(doc, "Internal addresses"); err != nil {
		return err
	}
	doc.Default("purpose", "GCE_ENDPOINT")
	network, err := c.network(doc.Text("network"), "resource.network")
	if doc.Has("subnetwork") {
		network, err = nil, nil
	}
	if err != nil {
		return err
	}
	subnet, err := c.subnet(doc.Text("subnetwork"), network, "resource.subnetwork")
	if err != nil {
		return err
	}
	doc["subnetwork"] = subnet.ref.URL()
	delete(doc, "network")
	given := doc.Text("address")
	switch {
	case v6 && given == "":
		doc["ipVersion"], doc["prefixLength"] = "IPV6", float64(96)
		doc["address"], err = c.takeIPv6(subnet, "INTERNAL")
		return err
	case v6 && doc.Num("prefixLength") != 96:
		// Source: kubernetes/ingress-gce:pkg/l4/address/manager.go: an address that is in use is
		// reserved with the length of its range, also an internal one.
		return wire.Invalid("resource.prefixLength", doc.Num("prefixLength"), "The prefix length of an IPv6 address that is in use must be 96.")
	case v6:
		doc["ipVersion"] = "IPV6"
		return c.promoteIPv6(doc, c.holders(given, subnet.doc.Text("network")))
	case given == "":
		doc["address"], err = c.takeInternal(subnet, 8)
		return err
	case !subnetContains(subnet, addr):
		return wire.Invalid("resource.address", given, "Requested internal IP address is outside the network/subnetwork range.")
	}
	for _, h := range c.holders(given, subnet.doc.Text("network")) {
		if h.collection != "forwardingRules" || h.ref.Project != c.project() {
			return wire.AddressInUse(given, h.ref.Path())
		}
	}
	return nil
}

// showAddress adds the users of the address. Until its operation has ended an address is
// about to be reserved. Source: Compute Engine API reference, addresses, status.
func (c *call) showAddress(e *entry, doc wire.Object) {
	network := ""
	if doc.Text("addressType") == "INTERNAL" {
		network = c.networkOf(doc.Text("subnetwork"))
	}
	var users []string
	for _, h := range c.holders(doc.Text("address"), network) {
		if h.collection != "addresses" && h.ref.Project == e.ref.Project {
			users = append(users, h.ref.URL())
		}
	}
	doc["status"] = "RESERVED"
	switch {
	case e.ready.After(c.Now) && !e.gone:
		doc["status"] = "RESERVING"
	case len(users) > 0:
		doc["status"], doc["users"] = "IN_USE", wire.Texts(users...)
	}
}
