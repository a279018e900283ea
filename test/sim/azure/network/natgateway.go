package network

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// maxGatewayIdle is in minutes. Source: Azure NAT Gateway documentation, TCP idle timeout.
const maxGatewayIdle = 120

func (a *API) natGateways() *arm.Kind {
	return &arm.Kind{
		Type: NatGateways, Service: "network", Client: "NatGateways", ReadOnly: []string{"resourceGuid", subnets},
		Links: []string{"serviceGateway", "sourceVirtualNetwork"}, Prepare: a.prepareNatGateway, Stored: storedNatGateway,
		Vacate: func(w *arm.Write, refs []arm.Ref) *arm.Error {
			return badRequest("InUseNatGatewayCannotBeDeleted", "NAT gateway %s is in use by %s and cannot be deleted.", w.ID, refs[0].From)
		},
		View: func(s *arm.State, r *arm.Resource, d arm.Doc) {
			for _, ref := range s.ReferredBy(r.ID.String()) {
				if ref.Property == "natGateway" {
					appendRef(d, subnets, ref.From)
				}
			}
		},
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
	arm.Default(w.Doc, arm.Doc{}, "properties")
	arm.Default(w.Doc, arm.Doc{}, "sku")
	if err := normalizeChoice(arm.Object(w.Doc, "sku"), w.ID.String(), "name", "Standard", "Standard", skuStandardV2); err != nil {
		return err
	}
	sku, props := arm.Text(w.Doc, "sku", "name"), w.Props()
	if was := arm.Text(w.OldDoc(), "sku", "name"); was != "" && was != sku {
		return badRequest("SkuCannotBeChanged", "The SKU of resource %s cannot be changed from %s to %s.", w.ID, was, sku)
	}
	if err := a.zones(w.ID.String(), w.Doc, oldOrNil(w)); err != nil {
		return err
	}
	if err := checkNumber(props, w.ID.String(), "idleTimeoutInMinutes", minIdle, minIdle, maxGatewayIdle, "InvalidIdleTimeout"); err != nil {
		return err
	}
	assignGUID(w, "natgateway")
	if sku == "Standard" && (arm.Text(props, "serviceGateway", "id") != "" || len(arm.List(props, "publicIpAddressesV6"))+len(arm.List(props, "publicIpPrefixesV6")) > 0) {
		// Source: Azure NAT Gateway documentation, SKUs: IPv6 is of StandardV2 only.
		return badRequest("NatGatewayPropertyNeedsStandardV2", "NAT gateway %s of the SKU Standard can have neither IPv6 addresses nor a service gateway.", w.ID)
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
		return badRequest("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", id, w.ID)
	case arm.Text(r.Doc, "properties", "publicIPAddressVersion") != version:
		return badRequest("NatGatewayPublicIPVersionMismatch", "Resource %s of NAT gateway %s is not %s.", id, w.ID, version)
	case arm.Text(r.Doc, "sku", "name") != arm.Text(w.Doc, "sku", "name"):
		return badRequest("DifferentSkuNatGatewayAndPublicIPAddressNotAllowed", "Different sku NAT gateway and public IP address are not allowed: NAT gateway %s is %s, %s is %s.", w.ID, arm.Text(w.Doc, "sku", "name"), id, arm.Text(r.Doc, "sku", "name"))
	}
	if kind != PublicIPAddresses {
		return nil
	}
	for _, ref := range w.State.ReferredBy(id) {
		if arm.Key(ref.From) != w.ID.Key() {
			return badRequest("PublicIPAddressInUse", "Resource %s is referencing public IP address %s that is already allocated to resource %s.", w.ID, id, ref.From)
		}
	}
	return nil
}

// storedNatGateway updates the etags of the addresses that were added or removed.
func storedNatGateway(w *arm.Write) {
	ids := func(d arm.Doc) []string {
		var out []string
		for name := range natAddresses() {
			for _, l := range arm.List(d, "properties", name) {
				out = append(out, arm.Key(arm.Text(l, "id")))
			}
		}
		return out
	}
	before, after := ids(w.OldDoc()), ids(w.Doc)
	for _, pair := range [][2][]string{{before, after}, {after, before}} {
		for _, id := range pair[0] {
			if !slices.Contains(pair[1], id) {
				touchID(w, id)
			}
		}
	}
}
