package network

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// maxGatewayIdle is in minutes. Source: Azure NAT Gateway documentation, TCP idle timeout.
const maxGatewayIdle = 120

func (a *API) natGateways() *arm.Kind {
	return &arm.Kind{
		Type: NatGateways, Service: "network", Client: "NatGateways", GUIDs: resourceGUID("natgateway"), Shows: []arm.Show{{Property: subnets, By: []string{"natGateway"}}},
		Links: []string{"serviceGateway", "sourceVirtualNetwork"}, Touches: slices.Collect(maps.Keys(natAddresses())), Prepare: a.prepareNatGateway,
		Vacate: inUse("InUseNatGatewayCannotBeDeleted", "NAT gateway %s is in use by %s and cannot be deleted."),
	}
}

// natAddresses are the lists of a NAT gateway: what each holds.
func natAddresses() map[string]struct{ kind, version string } {
	return map[string]struct{ kind, version string }{
		"publicIpAddresses": {PublicIPAddresses, ipv4}, "publicIpAddressesV6": {PublicIPAddresses, ipv6},
		"publicIpPrefixes": {PublicIPPrefixes, ipv4}, "publicIpPrefixesV6": {PublicIPPrefixes, ipv6},
	}
}

func (a *API) prepareNatGateway(w *arm.Write) *arm.Error {
	arm.Default(w.Doc, arm.Doc{}, "sku")
	if err := checkFields(w.ID, arm.Object(w.Doc, "sku"), choiceField("name", "Standard", "Standard", skuStandardV2)); err != nil {
		return err
	}
	sku, props := arm.Text(w.Doc, "sku", "name"), w.Props()
	if was := arm.Text(w.OldDoc(), "sku", "name"); was != "" && was != sku {
		return arm.Badf("SkuCannotBeChanged", "The SKU of resource %s cannot be changed from %s to %s.", w.ID, was, sku)
	}
	if err := a.zonesOfResource(w); err != nil {
		return err
	}
	if err := checkFields(w.ID, props, idleField(maxGatewayIdle)); err != nil {
		return err
	}
	if sku == "Standard" && (arm.Text(props, "serviceGateway", "id") != "" || len(arm.List(props, "publicIpAddressesV6"))+len(arm.List(props, "publicIpPrefixesV6")) > 0) {
		// Source: Azure NAT Gateway documentation, SKUs: IPv6 is of StandardV2 only.
		return arm.Badf("NatGatewayPropertyNeedsStandardV2", "NAT gateway %s of the SKU Standard can have neither IPv6 addresses nor a service gateway.", w.ID)
	}
	for name, want := range natAddresses() {
		arm.OnlyIDs(props, name)
		for _, l := range arm.List(props, name) {
			if err := natAddress(w, arm.Text(l, "id"), want.kind, want.version); err != nil {
				return err
			}
		}
	}
	return nil
}

// natAddress checks one address or prefix of a NAT gateway: family, SKU, and that no other
// resource has it.
func natAddress(w *arm.Write, id, kind, version string) *arm.Error {
	r := w.State.Lookup(id)
	switch {
	case r == nil || r.ID.Type() != kind:
		return unknownReference(id, w.ID)
	case arm.Text(r.Doc, "properties", "publicIPAddressVersion") != version:
		return arm.Badf("NatGatewayPublicIPVersionMismatch", "Resource %s of NAT gateway %s is not %s.", id, w.ID, version)
	case arm.Text(r.Doc, "sku", "name") != arm.Text(w.Doc, "sku", "name"):
		return arm.Badf("DifferentSkuNatGatewayAndPublicIPAddressNotAllowed", "Different sku NAT gateway and public IP address are not allowed: NAT gateway %s is %s, %s is %s.", w.ID, arm.Text(w.Doc, "sku", "name"), id, arm.Text(r.Doc, "sku", "name"))
	}
	if kind != PublicIPAddresses {
		return nil
	}
	for _, ref := range w.State.ReferredBy(id) {
		if arm.Key(ref.From) != w.ID.Key() {
			return arm.Badf("PublicIPAddressInUse", "Resource %s is referencing public IP address %s that is already allocated to resource %s.", w.ID, id, ref.From)
		}
	}
	return nil
}
