package compute

import (
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// networkCollection and subnetworkCollection come with the seed; no controller of load
// balancers creates any.
func networkCollection() *collection {
	return &collection{
		name: "networks", param: "network", at: []string{"global"},
		show: func(c *call, e *entry, doc wire.Object) {
			var urls []string
			for _, s := range c.users("subnetworks", fieldValues("network"), e.ref.URL()) {
				urls = append(urls, s.ref.URL())
			}
			doc["subnetworks"] = wire.Texts(urls...)
		},
	}
}

func subnetworkCollection() *collection {
	return &collection{
		name: "subnetworks", param: "subnetwork", at: []string{"region"}, print: "always",
	}
}

// publicDelegatedPrefixes are ranges that the user brings. Controllers only refer to them.
func publicDelegatedPrefixes() *collection {
	return &collection{
		name: "publicDelegatedPrefixes", param: "publicDelegatedPrefix", at: []string{"region"},
	}
}

// prefixOf finds the range that an address or a rule takes its external IPv6 address from; nil:
// it names none.
// Source: Compute Engine API reference, forwardingRules and addresses, ipCollection.
func (c *call) prefixOf(doc wire.Object) (*entry, error) {
	const field = "resource.ipCollection"
	if !doc.Has("ipCollection") {
		return nil, nil
	}
	found, err := c.resolve(doc.Text("ipCollection"), "publicDelegatedPrefixes", field)
	if err != nil {
		return nil, err
	}
	if mode := found.doc.Text("mode"); mode != "EXTERNAL_IPV6_FORWARDING_RULE_CREATION" {
		return nil, wire.Invalid(field, doc.Text("ipCollection"), "The mode of the public delegated prefix is %s, which does not allow the use.", mode)
	}
	doc["ipCollection"] = found.ref.URL()
	return found, nil
}

// takePremium gives an address or a rule the tier that all of its sort are of.
func takePremium(doc wire.Object, sort string) error {
	if tier := doc.Text("networkTier"); tier == "STANDARD" {
		return wire.Invalid("resource.networkTier", tier, "%s are of the PREMIUM tier.", sort)
	}
	doc["networkTier"] = "PREMIUM"
	return nil
}

// network finds a network by reference; without one it is the project's default.
func (c *call) network(text, field string) (*entry, error) {
	if text == "" {
		text = "global/networks/default"
	}
	return c.resolve(text, "networks", field)
}

// subnetOf finds the subnetwork of a document, in its network or in the default one.
func (c *call) subnetOf(doc wire.Object) (subnet *entry, err error) {
	var network *entry
	if doc.Has("network") || !doc.Has("subnetwork") {
		if network, err = c.network(doc.Text("network"), "resource.network"); err != nil {
			return nil, err
		}
	}
	return c.subnet(doc.Text("subnetwork"), network, "resource.subnetwork")
}

// subnet finds a subnetwork of the request's region by reference. Without one it
// is the region's own in the network, if that has just one as the networks in
// auto mode have; it is nil when there is none.
func (c *call) subnet(text string, network *entry, field string) (*entry, error) {
	region := "regions/" + regionOf(c.scope())
	if text == "" {
		if network == nil || !network.doc.Truth("autoCreateSubnetworks") {
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
	if network != nil && e.doc.Text("network") != network.ref.URL() {
		return nil, wire.Invalid(field, text, "The subnetwork is not in the network '%s'.", network.ref.URL())
	}
	return e, nil
}
