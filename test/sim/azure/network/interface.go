package network

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

const ipConfigurations = "ipConfigurations"

func (a *API) interfaces() *arm.Kind {
	return &arm.Kind{
		Type: Interfaces, Service: "network", Client: "Interfaces",
		ReadOnly: []string{"resourceGuid", "macAddress", "virtualMachine", "primary", "hostedWorkloads", "privateEndpoint"}, Links: []string{"networkSecurityGroup"},
		Collections: []arm.Collection{{Property: ipConfigurations, Client: "InterfaceIPConfigurations", Links: []string{"subnet", "publicIPAddress"}, LinkLists: memberLists()}},
		Prepare:     PrepareInterface, Stored: StoredInterface, View: viewInterface,
		Vacate: func(w *arm.Write, refs []arm.Ref) *arm.Error {
			return badRequest("NicInUse", "Network Interface %s is used by existing resource %s. In order to delete the network interface, it must be dissociated from the resource.", w.ID, refs[0].From)
		},
	}
}

func memberLists() []string {
	return []string{"loadBalancerBackendAddressPools", "loadBalancerInboundNatRules", "applicationSecurityGroups", "applicationGatewayBackendAddressPools"}
}

// PrepareInterface checks an interface of a machine or of a scale set's instance.
func PrepareInterface(w *arm.Write) *arm.Error {
	list := arm.List(w.Doc, "properties", ipConfigurations)
	if len(list) == 0 {
		return badRequest("NetworkInterfaceMustHaveIPConfiguration", "Network interface %s must have one or more IP configurations.", w.ID)
	}
	old := arm.Object(w.OldDoc(), "properties")
	props := w.Props()
	if w.Old == nil {
		props["resourceGuid"], props["macAddress"] = w.GUID("nic"), macAddress(w.GUID("mac"))
	} else {
		props["resourceGuid"], props["macAddress"] = arm.Text(old, "resourceGuid"), arm.Text(old, "macAddress")
	}
	primary := 0
	taken := map[string]bool{}
	for i, c := range list {
		p := arm.Object(c, "properties")
		if len(list) == 1 && i == 0 {
			p["primary"] = true
		}
		if arm.Flag(p, "primary") {
			primary++
		}
		if err := interfaceAddress(w, c, taken); err != nil {
			return err
		}
	}
	if primary != 1 {
		return badRequest("NetworkInterfaceMustHaveOnePrimaryIPConfiguration", "Network interface %s must have exactly one primary IP configuration.", w.ID)
	}
	return checkMembership(w, list)
}

func interfaceAddress(w *arm.Write, c arm.Doc, taken map[string]bool) *arm.Error {
	id, p := arm.Text(c, "id"), arm.Object(c, "properties")
	if err := normalizeChoice(p, id, "privateIPAddressVersion", ipv4, ipv4, ipv6); err != nil {
		return err
	}
	if arm.Text(p, "subnet", "id") == "" {
		return badRequest("SubnetMissing", "IP configuration %s must reference a subnet.", id)
	}
	for _, ref := range w.State.ReferredBy(arm.Text(p, "publicIPAddress", "id")) {
		if ref.Property == "publicIPAddress" && !arm.Within(ref.From, w.ID.String()) {
			return badRequest("PublicIPAddressInUse", "Resource %s is referencing public IP address %s that is already allocated to resource %s.", id, ref.To, ref.From)
		}
	}
	had := arm.Collection{Property: ipConfigurations}.Part(w.OldDoc(), arm.Text(c, "name"))
	return assignPrivateIP(w, id, p, arm.Object(had, "properties"), taken)
}

func macAddress(guid string) string {
	hex := strings.ToUpper(strings.ReplaceAll(guid, "-", ""))
	return "00-0D-3A-" + hex[:2] + "-" + hex[2:4] + "-" + hex[4:6]
}

// checkMembership validates the pools that an interface joins: one load balancer of
// each type, and none whose members are addresses.
func checkMembership(w *arm.Write, list []arm.Doc) *arm.Error {
	seen := map[string]string{}
	for _, c := range list {
		for _, l := range arm.List(c, "properties", "loadBalancerBackendAddressPools") {
			id := arm.Text(l, "id")
			pool, lb := w.State.Part(id)
			if pool == nil {
				return badRequest("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", id, arm.Text(c, "id"))
			}
			if len(arm.List(pool, "properties", backendAddresses)) > 0 {
				return badRequest("CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool", "Load balancer backend address pool %s has IP based addresses; network interface IP configuration %s cannot be added.", id, arm.Text(c, "id"))
			}
			if arm.Text(lb.Doc, "sku", "name") == skuService {
				return badRequest("IPConfigurationsNotSupportedForServiceSku", "Network interface IP configuration %s cannot be in backend address pool %s: load balancer %s is of the SKU %s.", arm.Text(c, "id"), id, lb.ID, skuService)
			}
			kind := BalancerType(lb.Doc)
			if other := seen[kind]; other != "" && other != lb.ID.Key() {
				return badRequest("Another"+kind+"LoadBalancerExists", "Network interface %s cannot be in the backend pools of more than one load balancer of type %s: %s and %s.", w.ID, kind, other, lb.ID)
			}
			seen[kind] = lb.ID.Key()
		}
	}
	return nil
}

// BalancerType is Internal or Public; one without frontends counts as public.
func BalancerType(d arm.Doc) string {
	fronts := arm.List(d, "properties", frontends)
	if len(fronts) > 0 && !slices.ContainsFunc(fronts, isPublic) {
		return "Internal"
	}
	return "Public"
}

// StoredInterface updates the etags of the load balancers whose pools have changed, and of
// public addresses that were added or removed.
func StoredInterface(w *arm.Write) {
	before, after := linkedPools(w.OldDoc()), linkedPools(w.Doc)
	touched := map[string]bool{}
	for _, pair := range [][2]map[string]bool{{before, after}, {after, before}} {
		for id := range pair[0] {
			target, ok := arm.ParseID(id)
			if pair[1][id] || !ok {
				continue
			}
			for len(target.Types) > 1 {
				target = target.Parent()
			}
			if !touched[target.Key()] {
				touched[target.Key()] = true
				w.Touch(target)
			}
		}
	}
}

func linkedPools(d arm.Doc) map[string]bool {
	out := map[string]bool{}
	for _, c := range arm.List(d, "properties", ipConfigurations) {
		for _, l := range arm.List(c, "properties", "loadBalancerBackendAddressPools") {
			out[arm.Key(arm.Text(l, "id"))] = true
		}
		if id := arm.Text(c, "properties", "publicIPAddress", "id"); id != "" {
			out[arm.Key(id)] = true
		}
	}
	return out
}

func viewInterface(s *arm.State, r *arm.Resource, d arm.Doc) {
	for _, ref := range s.ReferredBy(r.ID.String()) {
		if ref.Property == "networkInterfaces" {
			arm.Put(d, arm.Doc{"id": ref.From}, "properties", "virtualMachine")
			arm.Put(d, true, "properties", "primary")
		}
	}
}
