package network

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// collections of a load balancer.
const (
	frontends     = "frontendIPConfigurations"
	pools         = "backendAddressPools"
	probes        = "probes"
	rules         = "loadBalancingRules"
	natRules      = "inboundNatRules"
	natPools      = "inboundNatPools"
	outboundRules = "outboundRules"
)

func (a *API) loadBalancers() *arm.Kind {
	return &arm.Kind{
		Type: LoadBalancers, Service: "network", Client: "LoadBalancers", GUIDs: resourceGUID("loadbalancer"), Touches: []string{"publicIPAddress", "publicIPPrefix"},
		Collections: []arm.Collection{
			{
				Property: frontends, Client: "LoadBalancerFrontendIPConfigurations", ReadOnly: []string{rules, outboundRules, natRules, natPools},
				Links: []string{"publicIPAddress", "subnet", "publicIPPrefix", "gatewayLoadBalancer"},
			},
			{
				Property: pools, Client: "LoadBalancerBackendAddressPools", Writable: true,
				ReadOnly: []string{rules, outboundRules, "outboundRule", natRules, "backendIPConfigurations"}, Links: []string{"virtualNetwork"},
			},
			{Property: probes, Client: "LoadBalancerProbes", ReadOnly: []string{rules}},
			{
				Property: rules, Client: "LoadBalancerLoadBalancingRules",
				Links: []string{"frontendIPConfiguration", "backendAddressPool", "probe"}, LinkLists: []string{pools},
			},
			{
				Property: natRules, Client: "InboundNatRules", Writable: true, ReadOnly: []string{"backendIPConfiguration"},
				Links: []string{"frontendIPConfiguration", "backendAddressPool"},
			},
			{Property: natPools, Client: "InboundNatPools", Links: []string{"frontendIPConfiguration"}},
			{Property: outboundRules, Client: "LoadBalancerOutboundRules", Links: []string{"backendAddressPool"}, LinkLists: []string{frontends}},
		},
		Prepare: a.prepareLoadBalancer, Vacate: vacateLoadBalancer, Stored: a.storedLoadBalancer, View: viewLoadBalancer,
	}
}

// balancer is a load balancer while it is checked.
type balancer struct {
	*arm.Write
	api *API
	// byID are the parts by their id in key form.
	byID map[string]arm.Doc
	// private addresses that frontends of the same body have taken, by subnet.
	taken map[string]map[string]bool
}

func (b *balancer) list(collection string) []arm.Doc {
	return arm.List(b.Doc, "properties", collection)
}

// find resolves a reference to a part of this load balancer.
func (b *balancer) find(from arm.Doc, id string) (arm.Doc, *arm.Error) {
	d := b.byID[arm.Key(id)]
	if d == nil {
		return nil, unknownReference(id, arm.Text(from, "id"))
	}
	return d, nil
}

func (b *balancer) old(collection, name string) arm.Doc {
	return arm.Collection{Property: collection}.Part(b.OldDoc(), name)
}

func (a *API) prepareLoadBalancer(w *arm.Write) *arm.Error {
	b := &balancer{Write: w, api: a, byID: map[string]arm.Doc{}, taken: map[string]map[string]bool{}}
	for _, c := range w.Kind.Collections {
		arm.Default(w.Doc, []any{}, "properties", c.Property)
		for _, part := range b.list(c.Property) {
			b.byID[arm.Key(arm.Text(part, "id"))] = part
		}
	}
	if err := a.sku(w, "BasicSkuLoadBalancerCountLimitReached"); err != nil {
		return err
	}
	if w.Old == nil {
		if n := len(w.State.All(LoadBalancers)); n >= a.Limits.LoadBalancers {
			return arm.Badf("LoadBalancerCountLimitReached", "Cannot create more than %d load balancers for this subscription in this region.", a.Limits.LoadBalancers)
		}
	}
	return arm.First(b.counts, b.container, b.frontends, b.mixture, b.pools, b.probes, b.rules, b.nat, b.frontendPorts, b.backendPorts, b.outbound)
}

func (b *balancer) counts() *arm.Error {
	fronts, all := len(b.list(frontends)), 0
	for _, c := range []string{rules, natRules, outboundRules} {
		all += len(b.list(c))
	}
	switch {
	case fronts == 0 && len(arm.List(b.OldDoc(), "properties", frontends)) > 0:
		return arm.Badf("DeletingAllIpConfigsInLoadbalancerNotSupported", "Deleting all frontendIPConfigs from load balancer %s is not supported. Delete the load balancer instead.", b.ID)
	case fronts == 0 && all+len(b.list(natPools))+len(b.list(probes)) > 0:
		return arm.Badf("LoadBalancerWithoutFrontendIPCantHaveChildResources", "Load balancer %s without frontend IP configurations cannot have child resources.", b.ID)
	case fronts > b.api.Limits.Frontends:
		return arm.Badf("LoadBalancerFrontendIPConfigurationCountLimitReached", "Load balancer %s has %d frontend IP configurations. The limit is %d.", b.ID, fronts, b.api.Limits.Frontends)
	case all > b.api.Limits.Rules:
		return arm.Badf("LoadBalancerRuleCountLimitReached", "Load balancer %s has %d rules. The limit is %d.", b.ID, all, b.api.Limits.Rules)
	}
	return nil
}

// container checks what only load balancers for containers may not have: their
// pools are filled by a service gateway with pods, which are neither probed nor
// reached with floating IP. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/resource_helpers.go.
func (b *balancer) container() *arm.Error {
	if arm.Text(b.Doc, "sku", "name") != skuService {
		return nil
	}
	if p := b.list(probes); len(p) > 0 {
		return arm.Badf("ProbesNotSupportedForServiceSku", "Probe %s is not supported: load balancer %s is of the SKU %s.", arm.Text(p[0], "id"), b.ID, skuService)
	}
	for _, r := range b.list(rules) {
		if arm.Flag(r, "properties", "enableFloatingIP") {
			return arm.Badf("FloatingIPNotSupportedForServiceSku", "Load balancing rule %s cannot have floating IP: load balancer %s is of the SKU %s.", arm.Text(r, "id"), b.ID, skuService)
		}
	}
	for _, p := range b.list(pools) {
		if len(arm.List(p, "properties", backendAddresses)) > 0 {
			return arm.Badf("BackendAddressesNotSupportedForServiceSku", "Backend address pool %s cannot be given addresses: load balancer %s is of the SKU %s.", arm.Text(p, "id"), b.ID, skuService)
		}
	}
	return nil
}

// vacateLoadBalancer decides about parts that go while others refer to them.
// Interfaces of single machines are let go with the whole load balancer only;
// scale sets, private link services and service gateways never.
func vacateLoadBalancer(w *arm.Write, refs []arm.Ref) *arm.Error {
	for _, ref := range refs {
		id, _ := arm.ParseID(ref.From)
		if id.Types[0] == "virtualMachineScaleSets" {
			set := id
			set.Types, set.Names = id.Types[:1], id.Names[:1]
			return arm.Badf("LoadBalancerInUseByVirtualMachineScaleSet", "Cannot delete load balancer %s since its child resources %s are in use by virtual machine scale set %s.", w.ID, arm.LastName(ref.To), set)
		}
		if id.Type() == gatewayServices {
			return arm.Badf("LoadBalancerInUseByServiceGateway", "Cannot delete load balancer or backend address pool %s since service %s of a service gateway references it.", ref.To, ref.From)
		}
		if id.Types[0] == "privateLinkServices" {
			return arm.Badf("CannotDeleteLoadBalancerWithPrivateLinkService", "Cannot delete load balancer or frontend IP configuration %s since it is referenced by private link service %s.", ref.To, ref.From)
		}
		if w.Doc != nil {
			return unknownReference(ref.To, ref.From)
		}
	}
	return nil
}

// storedLoadBalancer takes a deleted load balancer out of interfaces.
func (a *API) storedLoadBalancer(w *arm.Write) {
	a.detached(w)
	if w.Doc == nil {
		for _, part := range arm.Parts(w.ID.String(), w.OldDoc()) {
			unlinkPart(w, part)
		}
	}
}

func touchID(w *arm.Write, id string) {
	if parsed, ok := arm.ParseID(id); ok {
		w.Touch(parsed)
	}
}

// unlinkPart removes every reference to a part of a load balancer from other resources.
func unlinkPart(w *arm.Write, part string) {
	for _, ref := range w.State.ReferredBy(part) {
		for id, ok := arm.ParseID(ref.From); ok && len(id.Types) > 0; id = id.Parent() {
			r := w.State.Get(id)
			if r == nil || r.ID.Types[0] == "loadBalancers" {
				continue
			}
			d := arm.Clone(r.Doc)
			dropLinks(d, arm.Key(part))
			w.Replace(r.ID, d)
			break
		}
	}
}

// dropLinks removes the references to an id from all lists of a document.
func dropLinks(v any, key string) {
	switch x := v.(type) {
	case arm.Doc:
		for name, e := range x {
			if list, ok := e.([]any); ok && len(list) > 0 {
				list = slices.DeleteFunc(list, func(e any) bool {
					d, _ := e.(arm.Doc)
					return arm.Key(arm.Text(d, "id")) == key
				})
				if x[name] = list; len(list) == 0 {
					delete(x, name)
				}
				e = list
			}
			dropLinks(e, key)
		}
	case []any:
		for _, e := range x {
			dropLinks(e, key)
		}
	}
}
