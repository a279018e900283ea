package network

import (
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
		Type: LoadBalancers, Service: "network", Client: "LoadBalancers", ReadOnly: []string{"resourceGuid"},
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
		return nil, badRequest("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", id, arm.Text(from, "id"))
	}
	return d, nil
}

func (b *balancer) old(collection, name string) arm.Doc {
	return arm.Collection{Property: collection}.Part(b.OldDoc(), name)
}

func (a *API) prepareLoadBalancer(w *arm.Write) *arm.Error {
	arm.Default(w.Doc, arm.Doc{}, "properties")
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
			return badRequest("LoadBalancerCountLimitReached", "Cannot create more than %d load balancers for this subscription in this region.", a.Limits.LoadBalancers)
		}
	}
	assignGUID(w, "loadbalancer")
	for _, step := range []func() *arm.Error{
		b.counts, b.container, b.frontends, b.mixture, b.pools, b.probes, b.rules, b.nat, b.frontendPorts, b.backendPorts, b.outbound,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (b *balancer) counts() *arm.Error {
	fronts, all := len(b.list(frontends)), 0
	for _, c := range []string{rules, natRules, outboundRules} {
		all += len(b.list(c))
	}
	switch {
	case fronts == 0 && len(arm.List(b.OldDoc(), "properties", frontends)) > 0:
		return badRequest("DeletingAllIpConfigsInLoadbalancerNotSupported", "Deleting all frontendIPConfigs from load balancer %s is not supported. Delete the load balancer instead.", b.ID)
	case fronts == 0 && all+len(b.list(natPools))+len(b.list(probes)) > 0:
		return badRequest("LoadBalancerWithoutFrontendIPCantHaveChildResources", "Load balancer %s without frontend IP configurations cannot have child resources.", b.ID)
	case fronts > b.api.Limits.Frontends:
		return badRequest("LoadBalancerFrontendIPConfigurationCountLimitReached", "Load balancer %s has %d frontend IP configurations. The limit is %d.", b.ID, fronts, b.api.Limits.Frontends)
	case all > b.api.Limits.Rules:
		return badRequest("LoadBalancerRuleCountLimitReached", "Load balancer %s has %d rules. The limit is %d.", b.ID, all, b.api.Limits.Rules)
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
		return badRequest("ProbesNotSupportedForServiceSku", "Probe %s is not supported: load balancer %s is of the SKU %s.", arm.Text(p[0], "id"), b.ID, skuService)
	}
	for _, r := range b.list(rules) {
		if arm.Flag(r, "properties", "enableFloatingIP") {
			return badRequest("FloatingIPNotSupportedForServiceSku", "Load balancing rule %s cannot have floating IP: load balancer %s is of the SKU %s.", arm.Text(r, "id"), b.ID, skuService)
		}
	}
	for _, p := range b.list(pools) {
		if len(arm.List(p, "properties", backendAddresses)) > 0 {
			return badRequest("BackendAddressesNotSupportedForServiceSku", "Backend address pool %s cannot be given addresses: load balancer %s is of the SKU %s.", arm.Text(p, "id"), b.ID, skuService)
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
			return badRequest("LoadBalancerInUseByVirtualMachineScaleSet", "Cannot delete load balancer %s since its child resources %s are in use by virtual machine scale set %s.", w.ID, arm.LastName(ref.To), set)
		}
		if id.Type() == gatewayServices {
			return badRequest("LoadBalancerInUseByServiceGateway", "Cannot delete load balancer or backend address pool %s since service %s of a service gateway references it.", ref.To, ref.From)
		}
		if id.Types[0] == "privateLinkServices" {
			return badRequest("CannotDeleteLoadBalancerWithPrivateLinkService", "Cannot delete load balancer or frontend IP configuration %s since it is referenced by private link service %s.", ref.To, ref.From)
		}
		if w.Doc != nil {
			return badRequest("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", ref.To, ref.From)
		}
	}
	return nil
}

// storedLoadBalancer gives new etags to addresses that were attached or
// detached, and takes a deleted load balancer out of interfaces.
func (a *API) storedLoadBalancer(w *arm.Write) {
	a.detached(w)
	before, after := attachedRules(w.OldDoc()), attachedRules(w.Doc)
	for id := range before {
		if !after[id] {
			touchID(w, id)
		}
	}
	for id := range after {
		if !before[id] {
			touchID(w, id)
		}
	}
	if w.Doc == nil {
		detachInterfaces(w)
	}
}

func touchID(w *arm.Write, id string) {
	if parsed, ok := arm.ParseID(id); ok {
		w.Touch(parsed)
	}
}

func attachedRules(d arm.Doc) map[string]bool {
	out := map[string]bool{}
	for _, f := range arm.List(d, "properties", frontends) {
		for _, link := range []string{"publicIPAddress", "publicIPPrefix"} {
			if id := arm.Text(f, "properties", link, "id"); id != "" {
				out[arm.Key(id)] = true
			}
		}
	}
	return out
}

// detachInterfaces removes the pools and NAT rules of a deleted load balancer from
// interfaces.
func detachInterfaces(w *arm.Write) {
	for _, id := range arm.Parts(w.ID.String(), w.OldDoc()) {
		for _, ref := range w.State.ReferredBy(id) {
			from, ok := arm.ParseID(ref.From)
			if !ok || len(from.Types) < 2 {
				continue
			}
			r := w.State.Get(from.Parent())
			if r == nil {
				continue
			}
			d := arm.Clone(r.Doc)
			for _, c := range arm.List(d, "properties", "ipConfigurations") {
				for _, name := range []string{"loadBalancerBackendAddressPools", "loadBalancerInboundNatRules"} {
					dropLinks(arm.Object(c, "properties"), name, w.ID.String())
				}
			}
			w.Replace(r.ID, d)
		}
	}
}

func dropLinks(props arm.Doc, name, under string) {
	var keep []string
	for _, l := range arm.List(props, name) {
		if id := arm.Text(l, "id"); !arm.Within(id, under) {
			keep = append(keep, id)
		}
	}
	if len(keep) == 0 {
		delete(props, name)
		return
	}
	props[name] = arm.Refs(keep)
}
