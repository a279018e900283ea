package network

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// viewService writes the NAT gateway as the API does: an id without an object.
func viewService(_ *arm.State, _ *arm.Resource, d arm.Doc) {
	props := arm.Object(d, "properties")
	if id := arm.Text(props, "publicNatGateway", "id"); id != "" {
		props["publicNatGatewayId"] = id
	}
	delete(props, "publicNatGateway")
	arm.Default(props, []any{}, "loadBalancerBackendPools")
	arm.Default(props, false, "isDefault")
}

// serviceUpdate is a change of the Services of one gateway while it is checked.
type serviceUpdate struct {
	*arm.Write
	api *API
	// old and next are the Services by name in key form.
	old, next map[string]arm.Doc
	written   map[string]arm.ID
	full      bool
}

// updateServices plans a change of Services. A partial update leaves the others
// alone, and of a named one what the body does not name; null takes a property
// away. Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/azure_operations.go.
func (a *API) updateServices(w *arm.Write, body arm.Doc) (func(), *arm.Error) {
	if err := a.members.Rule(ServiceGateways + "/updateServices")(body); err != nil {
		return nil, err
	}
	body = arm.Clone(body)
	full, err := updateAction(body, w.ID, "action")
	if err != nil {
		return nil, err
	}
	u := &serviceUpdate{Write: w, api: a, old: map[string]arm.Doc{}, next: map[string]arm.Doc{}, written: map[string]arm.ID{}, full: full}
	for _, r := range w.State.Under(gatewayServices, w.ID) {
		u.old[arm.Key(r.ID.Name())] = r.Doc
	}
	if !full {
		maps.Copy(u.next, u.old)
	}
	seen := map[string]bool{}
	requests := func() *arm.Error {
		return arm.Each(arm.List(body, "serviceRequests"), func(request arm.Doc) *arm.Error {
			name := arm.Text(request, "service", "name")
			switch {
			case !arm.ValidName(name):
				return arm.Badf("InvalidResourceName", "Resource name %s is invalid. The name can be up to 80 characters long.", name)
			case seen[arm.Key(name)]:
				return arm.Badf("DuplicateServicesInRequest", "Service %s is in the request more than once.", name)
			}
			seen[arm.Key(name)] = true
			return u.request(name, request)
		})
	}
	return u.commit, arm.First(requests, u.removed, u.pools, u.count)
}

// request takes one Service of the body.
func (u *serviceUpdate) request(name string, request arm.Doc) *arm.Error {
	key, props := arm.Key(name), arm.Object(request, "service", "properties")
	old := arm.Object(u.old[key], "properties")
	if arm.Flag(request, "isDelete") {
		if old == nil {
			// The official controller takes 404 for done. Source:
			// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/service_updater.go.
			return arm.Failf(http.StatusNotFound, "NotFound", "Service %s of service gateway %s not found.", name, u.ID)
		}
		delete(u.next, key)
		return nil
	}
	if props == nil {
		props = arm.Doc{}
	}
	if err := u.onlyDefault(name, props); err != nil {
		return err
	}
	// The id becomes an object here, so that it is found as a reference.
	if id, named := props["publicNatGatewayId"]; named {
		delete(props, "publicNatGatewayId")
		props["publicNatGateway"] = nil
		if text, ok := id.(string); ok && text != "" {
			props["publicNatGateway"] = arm.Doc{"id": text}
		}
	}
	if old != nil && !u.full {
		props = arm.Merge(old, props)
	}
	arm.Bare(props)
	arm.Drop(props, "provisioningState")
	if err := u.properties(name, props, old); err != nil {
		return err
	}
	u.next[key] = arm.Doc{"properties": props}
	u.written[key] = u.ID.Child("services", name)
	return nil
}

// onlyDefault lets one Service be the default. A partial update that says so
// again, of the same one too, is refused. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/initialization.go.
func (u *serviceUpdate) onlyDefault(name string, props arm.Doc) *arm.Error {
	if !arm.Flag(props, "isDefault") {
		return nil
	}
	for other, d := range u.next {
		if arm.Flag(d, "properties", "isDefault") {
			return arm.Badf("MultipleDefaultServicesNotAllowedInServiceGateway", "Service %s cannot be a default of service gateway %s: %s is one already.", name, u.ID, other)
		}
	}
	return nil
}

func (u *serviceUpdate) properties(name string, props, old arm.Doc) *arm.Error {
	what := "service " + name + " of " + u.ID.String()
	if err := checkFields(what, props, choiceField("serviceType", "", "Inbound", "Outbound", "InboundOutbound")); err != nil {
		return err
	}
	if was, is := arm.Text(old, "serviceType"), arm.Text(props, "serviceType"); was != "" && was != is {
		return arm.Badf("ServiceTypeCannotBeChanged", "The type of %s cannot be changed from %s to %s.", what, was, is)
	}
	if err := arm.Each(arm.List(props, "loadBalancerBackendPools"), func(p arm.Doc) *arm.Error { return u.pool(what, p) }); err != nil {
		return err
	}
	arm.OnlyIDs(props, "loadBalancerBackendPools")
	return u.natGateway(what, arm.Text(props, "publicNatGateway", "id"))
}

// pool wants a pool of a load balancer for containers, in the gateway's network.
func (u *serviceUpdate) pool(what string, p arm.Doc) *arm.Error {
	id := arm.Text(p, "id")
	parsed, ok := arm.ParseID(id)
	part, lb := u.State.Part(id)
	network := arm.Text(u.Old.Doc, "properties", "virtualNetwork", "id")
	switch named := arm.Text(p, "properties", "virtualNetwork", "id"); {
	case !ok || part == nil || !strings.EqualFold(parsed.Type(), LoadBalancers+"/"+pools) || arm.Text(lb.Doc, "location") != arm.Text(u.Old.Doc, "location"):
		return unknownReference(id, what)
	case arm.Text(lb.Doc, "sku", "name") != skuService:
		return arm.Badf("ServiceGatewayBackendPoolMustBeOfServiceSku", "Backend address pool %s of %s is of a load balancer of another SKU than %s.", id, what, skuService)
	case named != "" && arm.Key(named) != arm.Key(network):
		return arm.Badf("BackendAddressVirtualNetworkMismatch", "Backend address pool %s of %s references another virtual network than the service gateway.", id, what)
	}
	return nil
}

func (u *serviceUpdate) natGateway(what, id string) *arm.Error {
	if id == "" {
		return nil
	}
	r := u.State.Lookup(id)
	switch {
	case r == nil || r.ID.Type() != NatGateways:
		return unknownReference(id, what)
	case arm.Text(r.Doc, "sku", "name") != skuStandardV2:
		return arm.Badf("ServiceGatewayNatGatewayMustBeStandardV2", "NAT gateway %s of %s is not of the SKU %s.", id, what, skuStandardV2)
	case arm.Key(arm.Text(r.Doc, "properties", "serviceGateway", "id")) != u.ID.Key():
		return arm.Badf("NatGatewayNotOfServiceGateway", "NAT gateway %s of %s does not reference the service gateway.", id, what)
	}
	return nil
}

// removed refuses to let a Service go that addresses still name. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/util.go.
func (u *serviceUpdate) removed() *arm.Error {
	gone := map[string]bool{}
	for name := range u.old {
		if u.next[name] == nil {
			gone[name] = true
		}
	}
	if len(gone) == 0 {
		return nil
	}
	for _, r := range u.State.Under(gatewayLocations, u.ID) {
		for _, addr := range arm.List(r.Doc, "properties", "addresses") {
			for _, name := range arm.Texts(addr, "services") {
				if gone[arm.Key(name)] {
					return arm.Badf("ServiceWithOverlayMappingsCannotBeDeleted", "Service %s of service gateway %s cannot be deleted: address %s at %s is mapped to it.", name, u.ID, arm.Text(addr, "address"), r.ID.Name())
				}
			}
		}
	}
	return nil
}

// pools lets a pool be filled by one Service only, here and in other gateways.
func (u *serviceUpdate) pools() *arm.Error {
	used := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(u.next)) {
		for _, p := range arm.List(u.next[name], "properties", "loadBalancerBackendPools") {
			key := arm.Key(arm.Text(p, "id"))
			if other := used[key]; other != "" {
				return arm.Badf("BackendPoolInUseByAnotherService", "Backend address pool %s is used by services %s and %s.", key, other, name)
			}
			used[key] = name
			for _, ref := range u.State.ReferredBy(key) {
				if id, ok := arm.ParseID(ref.From); ok && id.Type() == gatewayServices && !arm.Within(ref.From, u.ID.String()) {
					return arm.Badf("BackendPoolInUseByAnotherService", "Backend address pool %s is used by services %s and %s.", key, ref.From, name)
				}
			}
		}
	}
	return nil
}

func (u *serviceUpdate) count() *arm.Error {
	if limit := u.api.Limits.GatewayServices; exceedsLimit(len(u.next), limit) {
		return arm.Badf("ServiceGatewayServiceCountLimitReached", "Service gateway %s would have %d services. The limit is %d.", u.ID, len(u.next), limit)
	}
	return nil
}

func (u *serviceUpdate) commit() {
	for name := range u.old {
		if u.next[name] == nil {
			u.Remove(u.ID.Child("services", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.written)) {
		u.Replace(u.written[name], u.next[name])
	}
}
