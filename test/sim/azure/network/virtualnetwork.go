package network

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

const subnets = "subnets"

func (a *API) virtualNetworks() *arm.Kind {
	return &arm.Kind{
		Type: VirtualNetworks, Service: "network", Client: "VirtualNetworks", GUIDs: resourceGUID("vnet"),
		Collections: []arm.Collection{{
			Property: subnets, Client: "Subnets", Writable: true, ReadOnly: []string{"resourceNavigationLinks", "serviceAssociationLinks", "purpose"},
			Shows: []arm.Show{{Property: ipConfigurations, Of: "ipconfigurations"}, {Property: "privateEndpoints", Of: "/privateendpoints"}},
			Links: []string{"networkSecurityGroup", "routeTable", "natGateway", "serviceGateway"},
		}},
		Prepare: prepareNetwork,
		Vacate: func(w *arm.Write, refs []arm.Ref) *arm.Error {
			if arm.Key(refs[0].To) == w.ID.Key() {
				return arm.Badf("InUseVirtualNetworkCannotBeDeleted", "Virtual network %s is in use by %s and cannot be deleted.", w.ID, refs[0].From)
			}
			return arm.Badf("InUseSubnetCannotBeDeleted", "Subnet %s is in use by %s and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet. See aka.ms/deletesubnet.", arm.LastName(refs[0].To), refs[0].From)
		},
	}
}

func prepareNetwork(w *arm.Write) *arm.Error {
	arm.Default(w.Doc, []any{}, "properties", subnets)
	texts := arm.Texts(w.Doc, "properties", "addressSpace", "addressPrefixes")
	space := parsePrefixes(texts)
	if len(space) == 0 || len(space) != len(texts) {
		return arm.Badf("InvalidAddressPrefixFormat", "Address prefixes %v of virtual network %s are not formatted correctly. They should follow CIDR notation, for example 10.0.0.0/24.", texts, w.ID)
	}
	if _, _, bad := findOverlap(slices.Clone(space)); bad {
		return arm.Badf("NetcfgInvalidAddressSpace", "The address prefixes of virtual network %s overlap.", w.ID)
	}
	var all []netip.Prefix
	for _, s := range arm.List(w.Doc, "properties", subnets) {
		ranges, err := prepareSubnet(w, space, s)
		if err != nil {
			return err
		}
		all = append(all, ranges...)
	}
	if a, b, bad := findOverlap(all); bad {
		return arm.Badf("NetcfgSubnetRangesOverlap", "Subnets with address ranges %s and %s in virtual network %s overlap.", a, b, w.ID)
	}
	return nil
}

func prepareSubnet(w *arm.Write, space []netip.Prefix, s arm.Doc) ([]netip.Prefix, *arm.Error) {
	id, props := arm.Text(s, "id"), arm.Object(s, "properties")
	ranges := subnetPrefixes(s)
	if len(ranges) == 0 {
		return nil, arm.Badf("InvalidCIDRNotation", "The address prefix of subnet %s is missing or not formatted correctly.", id)
	}
	for _, p := range ranges {
		if !slices.ContainsFunc(space, func(in netip.Prefix) bool { return in.Bits() <= p.Bits() && in.Contains(p.Addr()) }) {
			return nil, arm.Badf("NetcfgInvalidSubnet", "Subnet '%s' is not valid because its IP address range is outside the IP address range of virtual network '%s'.", arm.Text(s, "name"), w.ID.Name())
		}
	}
	arm.Default(props, "Disabled", "privateEndpointNetworkPolicies")
	if err := checkFields(id, props, choiceField("privateLinkServiceNetworkPolicies", "Enabled", "Enabled", "Disabled")); err != nil {
		return nil, err
	}
	arm.Default(props, []any{}, "delegations")
	if err := gatewayOf(w, s); err != nil {
		return nil, err
	}
	old := arm.Collection{Property: subnets}.Part(w.OldDoc(), arm.Text(s, "name"))
	if old == nil {
		return ranges, nil
	}
	used := subnetUsers(w.State, id)
	if len(used) > 0 && !slices.Equal(subnetPrefixes(old), ranges) && !onlyGrown(subnetPrefixes(old), ranges) {
		return nil, arm.Badf("InUseSubnetCannotBeUpdated", "Subnet %s is in use by %s and cannot be updated.", arm.Text(s, "name"), used[0])
	}
	if arm.Text(props, "privateLinkServiceNetworkPolicies") == "Enabled" {
		for _, u := range used {
			if strings.Contains(arm.Key(u), "/privatelinkservices/") {
				return nil, arm.Badf("PrivateLinkServiceNetworkPoliciesCannotBeEnabledOnPrivateLinkServiceSubnet", "Private link service network policies cannot be enabled on subnet %s: it is used by %s.", id, u)
			}
		}
	}
	return ranges, nil
}

// onlyGrown reports whether every old range is among the new ones, as when a
// second family is added to a subnet in use.
func onlyGrown(old, next []netip.Prefix) bool {
	return !slices.ContainsFunc(old, func(p netip.Prefix) bool { return !slices.Contains(next, p) })
}

// subnetUsers returns the ip configurations in a subnet; the model of a scale set is
// none.
func subnetUsers(s *arm.State, subnet string) []string {
	var out []string
	for _, ref := range s.ReferredBy(subnet) {
		if key := arm.Key(ref.From); strings.Contains(key, "ipconfigurations/") {
			out = append(out, ref.From)
		}
	}
	return out
}

func routeTables() *arm.Kind {
	return &arm.Kind{
		Type: RouteTables, Service: "network", Client: "RouteTables", GUIDs: resourceGUID("routetable"), Shows: []arm.Show{{Property: subnets}},
		Collections: []arm.Collection{{Property: "routes", Client: "Routes", Writable: true}},
		Prepare: func(w *arm.Write) *arm.Error {
			arm.Default(w.Doc, []any{}, "properties", "routes")
			for _, r := range arm.List(w.Doc, "properties", "routes") {
				if p := arm.Text(r, "properties", "addressPrefix"); familyOf(p) == "" && strings.ContainsAny(p, "/") {
					return arm.Badf("InvalidAddressPrefixFormat", "Address prefix %s of route %s is not formatted correctly.", p, arm.Text(r, "name"))
				}
			}
			return nil
		},
		Vacate: func(w *arm.Write, refs []arm.Ref) *arm.Error {
			return arm.Badf("InUseRouteTableCannotBeDeleted", "Route table %s is in use by %s and cannot be deleted.", w.ID.Name(), refs[0].From)
		},
	}
}
