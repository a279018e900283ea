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
		ReadOnly: []string{"macAddress", "primary", "hostedWorkloads", "privateEndpoint"}, GUIDs: resourceGUID("nic"), Links: []string{"networkSecurityGroup"},
		Shows: []arm.Show{{Property: "virtualMachine", By: []string{"networkInterfaces"}, One: true}}, Touches: InterfaceTouches(),
		Collections: []arm.Collection{{Property: ipConfigurations, Client: "InterfaceIPConfigurations", Links: []string{"subnet", "publicIPAddress"}, LinkLists: memberLists()}},
		Prepare:     PrepareInterface,
		Vacate:      inUse("NicInUse", "Network Interface %s is used by existing resource %s. In order to delete the network interface, it must be dissociated from the resource."),
		View: func(_ *arm.State, _ *arm.Resource, d arm.Doc) {
			if arm.Value(d, "properties", "virtualMachine") != nil {
				arm.Put(d, true, "properties", "primary")
			}
		},
	}
}

// InterfaceTouches are the references of an interface that its pools and addresses show.
func InterfaceTouches() []string {
	return []string{"loadBalancerBackendAddressPools", "publicIPAddress"}
}

func memberLists() []string {
	return []string{"loadBalancerBackendAddressPools", "loadBalancerInboundNatRules", "applicationSecurityGroups", "applicationGatewayBackendAddressPools"}
}

// PrepareInterface checks an interface of a machine or of a scale set's instance.
func PrepareInterface(w *arm.Write) *arm.Error {
	list := arm.List(w.Doc, "properties", ipConfigurations)
	if len(list) == 0 {
		return arm.Badf("NetworkInterfaceMustHaveIPConfiguration", "Network interface %s must have one or more IP configurations.", w.ID)
	}
	w.Props()["macAddress"] = arm.Text(w.OldDoc(), "properties", "macAddress")
	if w.Old == nil {
		w.Props()["macAddress"] = macAddress(w.GUID("mac"))
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
		return arm.Badf("NetworkInterfaceMustHaveOnePrimaryIPConfiguration", "Network interface %s must have exactly one primary IP configuration.", w.ID)
	}
	return checkMembership(w, list)
}

func interfaceAddress(w *arm.Write, c arm.Doc, taken map[string]bool) *arm.Error {
	id, p := arm.Text(c, "id"), arm.Object(c, "properties")
	if err := checkFields(id, p, choiceField("privateIPAddressVersion", ipv4, ipv4, ipv6)); err != nil {
		return err
	}
	if arm.Text(p, "subnet", "id") == "" {
		return arm.Badf("SubnetMissing", "IP configuration %s must reference a subnet.", id)
	}
	for _, ref := range w.State.ReferredBy(arm.Text(p, "publicIPAddress", "id")) {
		if ref.Property == "publicIPAddress" && !arm.Within(ref.From, w.ID.String()) {
			return arm.Badf("PublicIPAddressInUse", "Resource %s is referencing public IP address %s that is already allocated to resource %s.", id, ref.To, ref.From)
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
				return unknownReference(id, arm.Text(c, "id"))
			}
			if len(arm.List(pool, "properties", backendAddresses)) > 0 {
				return arm.Badf("CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool", "Load balancer backend address pool %s has IP based addresses; network interface IP configuration %s cannot be added.", id, arm.Text(c, "id"))
			}
			if arm.Text(lb.Doc, "sku", "name") == skuService {
				return arm.Badf("IPConfigurationsNotSupportedForServiceSku", "Network interface IP configuration %s cannot be in backend address pool %s: load balancer %s is of the SKU %s.", arm.Text(c, "id"), id, lb.ID, skuService)
			}
			kind := BalancerType(lb.Doc)
			if other := seen[kind]; other != "" && other != lb.ID.Key() {
				return arm.Badf("Another"+kind+"LoadBalancerExists", "Network interface %s cannot be in the backend pools of more than one load balancer of type %s: %s and %s.", w.ID, kind, other, lb.ID)
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
