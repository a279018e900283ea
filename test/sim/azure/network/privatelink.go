package network

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// Limits of private link services. Source: Azure limits, private link.
const (
	maxLinkAddresses = 8
	maxLinkServices  = 8
)

const connections = "privateEndpointConnections"

func privateLinks() *arm.Kind {
	return &arm.Kind{
		Type: PrivateLinks, Service: "network", Client: "PrivateLinkServices", ReadOnly: []string{"alias", "networkInterfaces"},
		Collections: []arm.Collection{
			{Property: ipConfigurations, Client: "PrivateLinkServiceIPConfigurations", Links: []string{"subnet"}},
			{Property: connections, Client: "PrivateLinkServicesPrivateEndpointConnections", Derived: true, Delete: deleteConnection},
		},
		Prepare: preparePrivateLink, Stored: storedPrivateLink, View: viewPrivateLink,
		Vacate: func(w *arm.Write, refs []arm.Ref) *arm.Error {
			if w.Doc != nil {
				return nil
			}
			return arm.Badf("PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted", "Private link service %s with private endpoint connections cannot be deleted. Please delete all private endpoint connections first: %s.", w.ID, refs[0].From)
		},
	}
}

func preparePrivateLink(w *arm.Write) *arm.Error {
	props := w.Props()
	arm.OnlyIDs(props, "loadBalancerFrontendIpConfigurations")
	arm.Default(props, false, "enableProxyProtocol")
	for _, name := range []string{"visibility", "autoApproval"} {
		arm.Default(props, []any{}, name, "subscriptions")
	}
	if w.Old == nil {
		props["alias"] = strings.ToLower(w.ID.Name()) + "." + w.GUID("alias") + "." + arm.Text(w.Doc, "location") + ".azure.privatelinkservice"
	} else {
		props["alias"] = arm.Text(w.OldDoc(), "properties", "alias")
	}
	if err := linkFrontends(w); err != nil {
		return err
	}
	return linkAddresses(w)
}

func linkFrontends(w *arm.Write) *arm.Error {
	list := arm.List(w.Doc, "properties", "loadBalancerFrontendIpConfigurations")
	if len(list) == 0 {
		return arm.Badf("PrivateLinkServiceMustHaveLoadBalancerFrontend", "Private link service %s must reference a load balancer frontend IP configuration.", w.ID)
	}
	for _, l := range list {
		id := arm.Text(l, "id")
		front, lb := w.State.Part(id)
		switch {
		case front == nil:
			return unknownReference(id, w.ID)
		case isPublic(front) || arm.Text(lb.Doc, "sku", "name") != "Standard":
			return arm.Badf("PrivateLinkServiceRequiresStandardInternalLoadBalancer", "Private link service %s requires a frontend of an internal load balancer of the Standard SKU; %s is none.", w.ID, id)
		}
		if byAddress(lb.Doc) {
			// Source: learn.microsoft.com/azure/load-balancer/backend-pool-management, limitations.
			return arm.Badf("PrivateLinkServiceIsNotSupportedForIPBasedLoadBalancer", "Private link service is not supported for load balancer %s with backend addresses set by (virtualNetwork, ipAddress) or (subnet, ipAddress).", lb.ID)
		}
		others := map[string]bool{}
		for _, part := range arm.Parts(lb.ID.String(), lb.Doc) {
			for _, ref := range w.State.ReferredBy(part) {
				from, _ := arm.ParseID(ref.From)
				if from.Type() != PrivateLinks || from.Key() == w.ID.Key() {
					continue
				}
				others[from.Key()] = true
				if arm.Key(part) == arm.Key(id) {
					return arm.Badf("PrivateLinkServiceFrontendAlreadyInUse", "Load balancer frontend IP configuration %s is already used by private link service %s.", id, from)
				}
			}
		}
		if len(others) >= maxLinkServices {
			return arm.Badf("PrivateLinkServiceCountLimitReachedForLoadBalancer", "Load balancer %s already has %d private link services.", lb.ID, maxLinkServices)
		}
	}
	return nil
}

// byAddress reports whether a load balancer has a pool of addresses.
func byAddress(lb arm.Doc) bool {
	return slices.ContainsFunc(arm.List(lb, "properties", "backendAddressPools"), func(pool arm.Doc) bool {
		return slices.ContainsFunc(arm.List(pool, "properties", "loadBalancerBackendAddresses"), func(a arm.Doc) bool { return arm.Text(a, "properties", "ipAddress") != "" })
	})
}

func linkAddresses(w *arm.Write) *arm.Error {
	list := arm.List(w.Doc, "properties", ipConfigurations)
	if len(list) == 0 || len(list) > maxLinkAddresses {
		return arm.Badf("PrivateLinkServiceIPConfigurationCountInvalid", "Private link service %s must have 1 to %d IP configurations; it has %d.", w.ID, maxLinkAddresses, len(list))
	}
	primary := 0
	taken := map[string]bool{}
	for _, c := range list {
		id, p := arm.Text(c, "id"), arm.Object(c, "properties")
		if arm.Flag(p, "primary") {
			primary++
		}
		if err := checkFields(id, p, choiceField("privateIPAddressVersion", ipv4, ipv4, ipv6)); err != nil {
			return err
		}
		subnet, _ := w.State.Part(arm.Text(p, "subnet", "id"))
		if subnet != nil && arm.Text(subnet, "properties", "privateLinkServiceNetworkPolicies") != "Disabled" {
			return arm.Badf("PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled", "Private link service %s cannot be created in a subnet %s since it has private link service network policies enabled.", w.ID, arm.Text(subnet, "id"))
		}
		old := arm.Collection{Property: ipConfigurations}.Part(w.OldDoc(), arm.Text(c, "name"))
		if err := assignPrivateIP(w, id, p, arm.Object(old, "properties"), taken); err != nil {
			return err
		}
	}
	if primary != 1 {
		return arm.Badf("PrivateLinkServiceMustHaveOnePrimaryIPConfiguration", "Private link service %s must have exactly one primary IP configuration.", w.ID)
	}
	return nil
}

// storedPrivateLink gives the load balancer a new etag.
func storedPrivateLink(w *arm.Write) {
	for _, d := range []arm.Doc{w.OldDoc(), w.Doc} {
		for _, l := range arm.List(d, "properties", "loadBalancerFrontendIpConfigurations") {
			if id, ok := arm.ParseID(arm.Text(l, "id")); ok {
				w.Touch(id.Parent())
			}
		}
	}
}

// viewPrivateLink shows the private endpoints that have asked for a connection.
func viewPrivateLink(s *arm.State, r *arm.Resource, d arm.Doc) {
	var list []any
	for _, ref := range s.ReferredBy(r.ID.String()) {
		endpoint := s.Lookup(ref.From)
		if endpoint == nil || endpoint.ID.Type() != PrivateEndpoints {
			continue
		}
		name := connectionName(endpoint)
		list = append(list, arm.Doc{"name": name, "id": r.ID.Child(connections, name).String(), "properties": arm.Doc{
			"privateEndpoint": arm.Doc{"id": endpoint.ID.String()}, "privateLinkServiceConnectionState": arm.Doc{"status": approvalState(r, endpoint), "description": ""},
		}})
	}
	if list == nil {
		list = []any{}
	}
	arm.Put(d, list, "properties", connections)
}

func connectionName(endpoint *arm.Resource) string {
	return endpoint.ID.Name() + "." + arm.Text(endpoint.Doc, "properties", "resourceGuid")
}

func approvalState(link, endpoint *arm.Resource) string {
	allowed := arm.Texts(link.Doc, "properties", "autoApproval", "subscriptions")
	if slices.Contains(allowed, endpoint.ID.Subscription) || slices.Contains(allowed, "*") {
		return "Approved"
	}
	return "Pending"
}

// deleteConnection cuts an endpoint off; the endpoint itself stays, disconnected.
func deleteConnection(w *arm.Write, name string) *arm.Error {
	for _, ref := range w.State.ReferredBy(w.ID.String()) {
		endpoint := w.State.Lookup(ref.From)
		if endpoint == nil || !strings.EqualFold(connectionName(endpoint), name) {
			continue
		}
		d := arm.Clone(endpoint.Doc)
		arm.Put(d, []any{}, "properties", "privateLinkServiceConnections")
		w.Replace(endpoint.ID, d)
		w.Touch(w.ID)
	}
	return nil
}

func privateEndpoints() *arm.Kind {
	return &arm.Kind{
		Type: PrivateEndpoints, Service: "network", Client: "PrivateEndpoints", ReadOnly: []string{"networkInterfaces"}, GUIDs: resourceGUID("endpoint"), Links: []string{"subnet"},
		Prepare: func(w *arm.Write) *arm.Error {
			props := w.Props()
			if arm.Text(props, "subnet", "id") == "" {
				return arm.Badf("SubnetMissing", "Private endpoint %s must reference a subnet.", w.ID)
			}
			for _, name := range []string{"privateLinkServiceConnections", "manualPrivateLinkServiceConnections"} {
				for _, c := range arm.List(props, name) {
					p := arm.Object(c, "properties")
					// The service is named by a plain text; it is kept as a reference, so that the service knows.
					if id := arm.Text(p, "privateLinkServiceId"); id != "" {
						p["privateLinkService"] = arm.Doc{"id": id}
					}
				}
			}
			return nil
		},
		View: viewEndpoint,
		Stored: func(w *arm.Write) {
			for _, d := range []arm.Doc{w.OldDoc(), w.Doc} {
				for _, c := range arm.List(d, "properties", "privateLinkServiceConnections") {
					touchID(w, arm.Text(c, "properties", "privateLinkServiceId"))
				}
			}
		},
	}
}

// viewEndpoint completes the connections, and hides what is kept for them only.
func viewEndpoint(_ *arm.State, r *arm.Resource, d arm.Doc) {
	props := arm.Object(d, "properties")
	delete(props, "resourceGuid")
	for _, name := range []string{"privateLinkServiceConnections", "manualPrivateLinkServiceConnections"} {
		for _, c := range arm.List(props, name) {
			c["id"], c["type"], c["etag"] = r.ID.Child(name, arm.Text(c, "name")).String(), PrivateEndpoints+"/"+name, r.Etag
			arm.Put(c, r.Provisioning, "properties", "provisioningState")
			delete(arm.Object(c, "properties"), "privateLinkService")
		}
	}
}
