package network

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// What is in a gateway are resources of their own here, so that a change of one
// does not copy all. They have no calls but those of the gateway.
const (
	gatewayServices  = ServiceGateways + "/services"
	gatewayLocations = ServiceGateways + "/addressLocations"
)

// gatewayActions is the path of the calls of one gateway.
const gatewayActions = "/subscriptions/{s}/resourcegroups/{g}/providers/microsoft.network/servicegateways/{n}/"

// serviceGateways is the front door of container load balancers: which Services
// there are, with the pools they fill, and at which node which pod serves which.
// Source for form and answers: armnetwork v9, and the recorded calls in
// kubernetes-sigs/cloud-provider-azure:pkg/azclient/servicegatewayclient/testdata.
// Refusals are not documented; where a code is not known from
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway, it is formed
// like those of the other types of Microsoft.Network.
func (a *API) serviceGateways() []*arm.Kind {
	return []*arm.Kind{
		{
			Type: ServiceGateways, Service: "network", Client: "ServiceGateways", ReadOnly: []string{"resourceGuid", "services"}, Links: []string{"virtualNetwork"},
			Prepare: a.prepareGateway, Stored: storedGateway,
			Vacate: inUse("InUseServiceGatewayCannotBeDeleted", "Service gateway %s is in use by %s and cannot be deleted."),
		},
		{Type: gatewayServices, View: viewService},
		{Type: gatewayLocations},
	}
}

func (a *API) gatewayCalls() []arm.Extra {
	extra := func(method, path, name string, run func(*arm.Call) *arm.Response) arm.Extra {
		return arm.Extra{Method: method, Pattern: gatewayActions + path, Service: "network", Name: "ServiceGateways." + name, Write: method == http.MethodPost, Run: run}
	}
	// Both updates are finished within the answer, 200, with the headers of an
	// operation nonetheless, although the API is declared to answer 202 and SDKs up
	// to this version take 200 for an error. Source:
	// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/azure_operations.go.
	return []arm.Extra{
		extra(http.MethodGet, "services", "GetServices", listIn(gatewayServices, (*arm.Service).Render)),
		extra(http.MethodGet, "addresslocations", "GetAddressLocations", listIn(gatewayLocations, func(_ *arm.Service, r *arm.Resource) arm.Doc {
			return arm.Clone(arm.Object(r.Doc, "properties"))
		})),
		extra(http.MethodPost, "updateservices", "UpdateServices", func(c *arm.Call) *arm.Response {
			return c.Act(a.LateGateways, func(w *arm.Write) (func(), *arm.Error) { return a.updateServices(w, c.Body) })
		}),
		extra(http.MethodPost, "updateaddresslocations", "UpdateAddressLocations", func(c *arm.Call) *arm.Response {
			return c.Act(a.LateGateways, func(w *arm.Write) (func(), *arm.Error) { return a.updateLocations(w, c.Body) })
		}),
	}
}

// listIn answers a list of what is in a gateway.
func listIn(kind string, show func(*arm.Service, *arm.Resource) arm.Doc) func(*arm.Call) *arm.Response {
	return func(c *arm.Call) *arm.Response {
		r, err := c.Holder()
		if err != nil {
			return arm.Refuse(err)
		}
		list := c.Svc.State.Under(kind, r.ID)
		return c.Page(len(list), func(n int) arm.Doc { return show(c.Svc, list[n]) })
	}
}

func (a *API) prepareGateway(w *arm.Write) *arm.Error {
	arm.Default(w.Doc, arm.Doc{}, "sku")
	if err := checkFields(w.ID, arm.Object(w.Doc, "sku"), choiceField("name", "Standard", "Standard"), choiceField("tier", "Regional", "Regional")); err != nil {
		return err
	}
	if err := a.zonesOfResource(w); err != nil {
		return err
	}
	if n := len(w.State.All(ServiceGateways)); w.Old == nil && exceedsLimit(n+1, a.Limits.ServiceGateways) {
		return arm.Badf("ServiceGatewayCountLimitReached", "Cannot create more than %d service gateways for this subscription in this region.", a.Limits.ServiceGateways)
	}
	if err := gatewayNetwork(w); err != nil {
		return err
	}
	taken := map[string]bool{}
	if err := routeTarget(w, "routeTargetAddress", ipv4, taken); err != nil {
		return err
	}
	return routeTarget(w, "routeTargetAddressV6", ipv6, taken)
}

// exceedsLimit reports whether a number is beyond a limit; zero is no limit.
func exceedsLimit(n, limit int) bool { return limit > 0 && n > limit }

// gatewayNetwork wants the network to exist in the same region, and to stay.
func gatewayNetwork(w *arm.Write) *arm.Error {
	id := arm.Text(w.Props(), "virtualNetwork", "id")
	r := w.State.Lookup(id)
	switch was := arm.Text(w.OldDoc(), "properties", "virtualNetwork", "id"); {
	case id == "":
		return arm.Badf("ServiceGatewayMustHaveVirtualNetwork", "Service gateway %s must reference a virtual network.", w.ID)
	case r == nil || r.ID.Type() != VirtualNetworks || arm.Text(r.Doc, "location") != arm.Text(w.Doc, "location"):
		return unknownReference(id, w.ID)
	case was != "" && arm.Key(was) != arm.Key(id):
		return arm.Badf("VirtualNetworkOfServiceGatewayCannotBeChanged", "The virtual network of service gateway %s cannot be changed.", w.ID)
	}
	return nil
}

// routeTarget gives the gateway its address in a subnet of its network.
func routeTarget(w *arm.Write, name, version string, taken map[string]bool) *arm.Error {
	target := arm.Object(w.Props(), name)
	if target == nil {
		delete(w.Props(), name)
		return nil
	}
	arm.OnlyID(target, "subnet")
	subnet := arm.Text(target, "subnet", "id")
	if !arm.Within(subnet, arm.Text(w.Props(), "virtualNetwork", "id")) {
		return arm.Badf("SubnetNotInVirtualNetworkOfServiceGateway", "The subnet %s of %s is not in the virtual network of service gateway %s.", subnet, name, w.ID)
	}
	target["privateIPAddressVersion"] = version
	defer arm.Drop(target, "privateIPAddressVersion")
	return assignPrivateIP(w, w.ID.String(), target, arm.Object(w.OldDoc(), "properties", name), taken)
}

// storedGateway takes what is in a gateway away with it.
func storedGateway(w *arm.Write) {
	if w.Doc != nil {
		return
	}
	for _, kind := range []string{gatewayServices, gatewayLocations} {
		for _, r := range w.State.Under(kind, w.ID) {
			w.Remove(r.ID)
		}
	}
}

// gatewayOf checks that a subnet names a gateway of its own network.
func gatewayOf(w *arm.Write, subnet arm.Doc) *arm.Error {
	id := arm.Text(subnet, "properties", "serviceGateway", "id")
	r := w.State.Lookup(id)
	if r == nil {
		return nil // None, or one that does not exist, which the check of references tells.
	}
	if arm.Key(arm.Text(r.Doc, "properties", "virtualNetwork", "id")) != w.ID.Key() {
		return arm.Badf("ServiceGatewayNotInVirtualNetwork", "Subnet %s references service gateway %s, which is of another virtual network.", arm.Text(subnet, "id"), r.ID)
	}
	return nil
}

// updateAction reads what an update does with what it does not name. The service
// is always told, and what it would do untold is not documented.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/azure_operations.go.
func updateAction(d arm.Doc, object any, name string) (full bool, err *arm.Error) {
	err = checkFields(object, d, choiceField(name, "", "FullUpdate", "PartialUpdate"))
	return d[name] == "FullUpdate", err
}
