package network

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// addresses are those at one location: the Services of each.
type addresses map[netip.Addr][]string

// locationUpdate is a change of the locations of one gateway while it is checked.
type locationUpdate struct {
	*arm.Write
	api *API
	// old and next are the addresses by location.
	old, next map[netip.Addr]addresses
	changed   map[netip.Addr]bool
	// services are those of the gateway: by name in key form, as it is written.
	services map[string]string
}

// updateLocations plans a change of locations: a location is the address of a node, an
// address at it that of a pod. A full update deletes all locations that are not named; a
// partial one deletes a location without addresses, and an address without Services. Source:
// Azure REST API reference, service gateways, update address locations.
func (a *API) updateLocations(w *arm.Write, body arm.Doc) (func(), *arm.Error) {
	if err := a.members.Rule(ServiceGateways + "/updateAddressLocations")(body); err != nil {
		return nil, err
	}
	body = arm.Clone(body)
	full, err := updateAction(body, w.ID, "action")
	if err != nil {
		return nil, err
	}
	u := &locationUpdate{Write: w, api: a, old: map[netip.Addr]addresses{}, next: map[netip.Addr]addresses{}, changed: map[netip.Addr]bool{}, services: map[string]string{}}
	for _, r := range w.State.Under(gatewayServices, w.ID) {
		u.services[arm.Key(r.ID.Name())] = r.ID.Name()
	}
	for _, r := range w.State.Under(gatewayLocations, w.ID) {
		u.old[netip.MustParseAddr(r.ID.Name())] = readAddresses(r.Doc)
	}
	if !full {
		maps.Copy(u.next, u.old)
	}
	if err := arm.Each(arm.List(body, "addressLocations"), u.location); err != nil {
		return nil, err
	}
	return u.commit, u.count()
}

// readAddresses returns the addresses of a stored location.
func readAddresses(d arm.Doc) addresses {
	out := addresses{}
	for _, addr := range arm.List(d, "properties", "addresses") {
		out[netip.MustParseAddr(arm.Text(addr, "address"))] = arm.Texts(addr, "services")
	}
	return out
}

func (u *locationUpdate) location(d arm.Doc) *arm.Error {
	text := arm.Text(d, "addressLocation")
	at, err := netip.ParseAddr(text)
	if err != nil {
		return arm.Badf("InvalidAddressLocation", "The address location '%s' of service gateway %s is no IP address.", text, u.ID)
	}
	if u.changed[at] {
		// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/azure_operations.go.
		return arm.Badf("DuplicateLocationsInRequest", "The address location %s is in the request more than once.", at)
	}
	u.changed[at] = true
	list := arm.List(d, "addresses")
	if len(list) == 0 {
		delete(u.next, at)
		return nil
	}
	full, bad := updateAction(d, "address location "+at.String(), "addressUpdateAction")
	if bad != nil {
		return bad
	}
	next := addresses{}
	if !full {
		maps.Copy(next, u.old[at])
	}
	seen := map[netip.Addr]bool{}
	bad = arm.Each(list, func(d arm.Doc) *arm.Error { return u.address(at, d, next, seen) })
	u.next[at] = next
	if len(next) == 0 {
		delete(u.next, at)
	}
	return bad
}

// address takes one address at a location, of whose family it must be. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/endpoints.go.
func (u *locationUpdate) address(at netip.Addr, d arm.Doc, next addresses, seen map[netip.Addr]bool) *arm.Error {
	text := arm.Text(d, "address")
	ip, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		return arm.Badf("InvalidAddress", "The address '%s' at %s of service gateway %s is no IP address.", text, at, u.ID)
	case ipVersion(ip) != ipVersion(at):
		return arm.Badf("AddressFamilyMismatch", "The address %s and its location %s are of different families.", ip, at)
	case seen[ip]:
		return arm.Badf("DuplicateAddressesInRequest", "The address %s at %s is in the request more than once.", ip, at)
	}
	seen[ip] = true
	var services []string
	for _, name := range arm.Texts(d, "services") {
		known := u.services[arm.Key(name)]
		if known == "" {
			return arm.Badf("InvalidResourceReference", "Service %s of address %s at %s does not exist in service gateway %s.", name, ip, at, u.ID)
		}
		if slices.Contains(services, known) {
			return arm.Badf("DuplicateServicesInRequest", "Service %s is named more than once for address %s at %s.", name, ip, at)
		}
		services = append(services, known)
	}
	next[ip] = services
	if len(services) == 0 {
		delete(next, ip)
	}
	return nil
}

func (u *locationUpdate) count() *arm.Error {
	limits := u.api.Limits
	if exceedsLimit(len(u.next), limits.GatewayLocations) {
		return arm.Badf("ServiceGatewayAddressLocationCountLimitReached", "Service gateway %s would have %d address locations. The limit is %d.", u.ID, len(u.next), limits.GatewayLocations)
	}
	all := 0
	for _, list := range u.next {
		all += len(list)
	}
	if exceedsLimit(all, limits.GatewayAddresses) {
		return arm.Badf("ServiceGatewayAddressCountLimitReached", "Service gateway %s would have %d addresses. The limit is %d.", u.ID, all, limits.GatewayAddresses)
	}
	return nil
}

func (u *locationUpdate) commit() {
	for at := range u.old {
		if u.next[at] == nil {
			u.Remove(u.ID.Child("addressLocations", at.String()))
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(u.changed), netip.Addr.Compare) {
		if u.next[at] != nil {
			u.Replace(u.ID.Child("addressLocations", at.String()), locationDoc(at, u.next[at]))
		}
	}
}

// locationDoc returns a location as it is stored and answered.
func locationDoc(at netip.Addr, list addresses) arm.Doc {
	var out []any
	for _, ip := range slices.SortedFunc(maps.Keys(list), netip.Addr.Compare) {
		var services []any
		for _, name := range slices.Sorted(slices.Values(list[ip])) {
			services = append(services, name)
		}
		out = append(out, arm.Doc{"address": ip.String(), "services": services})
	}
	return arm.Doc{"properties": arm.Doc{"addressLocation": at.String(), "addresses": out}}
}
