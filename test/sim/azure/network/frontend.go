package network

import (
	"cmp"
	"slices"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

func (b *balancer) frontends() *arm.Error {
	seen := map[string]string{}
	// Those with a wanted address go first, so that no dynamic one takes it.
	order := slices.SortedStableFunc(slices.Values(b.list(frontends)), func(x, y arm.Doc) int {
		return cmp.Compare(arm.Text(y, "properties", "privateIPAllocationMethod"), arm.Text(x, "properties", "privateIPAllocationMethod"))
	})
	return arm.Each(order, func(f arm.Doc) *arm.Error {
		if err := b.frontend(f); err != nil {
			return err
		}
		pip := arm.Key(arm.Text(f, "properties", "publicIPAddress", "id"))
		if other := seen[pip]; pip != "" && other != "" {
			return arm.Badf("PublicIPReferencedByMultipleIPConfigs", "Public IP address %s is referenced by multiple ipconfigs in resource %s: %s and %s.", pip, b.ID, other, arm.Text(f, "id"))
		}
		seen[pip] = arm.Text(f, "id")
		return nil
	})
}

func (b *balancer) frontend(f arm.Doc) *arm.Error {
	id, props := arm.Text(f, "id"), arm.Object(f, "properties")
	public, subnet := arm.Text(props, "publicIPAddress", "id"), arm.Text(props, "subnet", "id")
	prefix := arm.Text(props, "publicIPPrefix", "id")
	old := b.old(frontends, arm.Text(f, "name"))
	switch {
	case public != "" && subnet != "":
		return arm.Badf("FrontendIPConfigHasBothSubnetAndPublicIP", "Frontend IP Configuration %s must not reference both a Subnet and a Public IP Address.", id)
	case public == "" && subnet == "" && prefix == "":
		return arm.Badf("InvalidFrontendIPConfiguration", "Frontend IP configuration %s must reference either a Subnet, Public IP Address or Public IP Prefix.", id)
	case public != "":
		arm.Drop(props, "privateIPAddress", "privateIPAddressVersion")
		arm.Default(props, "Dynamic", "privateIPAllocationMethod")
		if len(arm.Texts(f, "zones")) > 0 {
			return arm.Badf("LoadBalancerFrontendIPConfigCannotHaveZoneWhenReferencingPublicIPAddress", "Networking supports zones only for frontendIpconfigs which reference a subnet. LoadBalancer frontendIPConfig %s has zones specified and is referencing a publicIPAddress.", id)
		}
		return b.publicFrontend(id, public)
	case prefix != "":
		return nil
	}
	if err := checkFields(id, props, choiceField("privateIPAddressVersion", ipv4, ipv4, ipv6)); err != nil {
		return err
	}
	key := arm.Key(subnet)
	if arm.Key(arm.Text(old, "properties", "subnet", "id")) != key {
		old = nil // A name may come back with another address: it keeps neither zones nor address.
	}
	if err := b.api.zones(id, f, old); err != nil {
		return err
	}
	if b.taken[key] == nil {
		b.taken[key] = map[string]bool{}
	}
	return assignPrivateIP(b.Write, id, props, arm.Object(old, "properties"), b.taken[key])
}

func (b *balancer) publicFrontend(id, public string) *arm.Error {
	pip := b.State.Lookup(public)
	if pip == nil {
		return unknownReference(public, id)
	}
	if pip.Provisioning != arm.Succeeded {
		return arm.Badf("ReferencedResourceNotProvisioned", "Cannot proceed with operation because resource %s used by resource %s is not in Succeeded state. Resource is in %s state and the last operation that updated/is updating the resource is PutPublicIpAddressOperation.", pip.ID, id, pip.Provisioning)
	}
	have, own := arm.Text(pip.Doc, "sku", "name"), arm.Text(b.Doc, "sku", "name")
	want := own
	if own == skuService {
		want = skuStandardV2
	}
	if have != want {
		return arm.Badf("DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed", "Different sku load balancer and public IP address are not allowed: load balancer %s is %s, public IP address %s is %s.", b.ID, own, pip.ID, have)
	}
	if arm.Text(pip.Doc, "location") != arm.Text(b.Doc, "location") {
		return arm.Badf("InvalidResourceReference", "Resource %s referenced by resource %s is in another region. Please make sure that both resources are in the same region.", pip.ID, id)
	}
	for _, ref := range b.State.ReferredBy(public) {
		if arm.Within(ref.From, b.ID.String()) {
			continue
		}
		from, _ := arm.ParseID(ref.From)
		if len(from.Types) > 0 && from.Types[0] == "loadBalancers" {
			return arm.Badf("PublicIPReferencedByMultipleIPConfigs", "Public IP address %s is referenced by multiple ipconfigs in resources %s and %s.", pip.ID, ref.From, id)
		}
		return arm.Badf("PublicIPAddressInUse", "Resource %s is referencing public IP address %s that is already allocated to resource %s.", id, pip.ID, ref.From)
	}
	return nil
}

// family is the IP version of a frontend.
func (b *balancer) family(f arm.Doc) string {
	for _, link := range []string{"publicIPAddress", "publicIPPrefix"} {
		if r := b.State.Lookup(arm.Text(f, "properties", link, "id")); r != nil {
			return arm.Text(r.Doc, "properties", "publicIPAddressVersion")
		}
	}
	return arm.Text(f, "properties", "privateIPAddressVersion")
}

func isPublic(f arm.Doc) bool { return arm.Text(f, "properties", "subnet", "id") == "" }

// mixture checks what frontends of one load balancer may be together.
func (b *balancer) mixture() *arm.Error {
	kinds, families := map[bool]bool{}, map[string]bool{}
	for _, f := range b.list(frontends) {
		kinds[isPublic(f)] = true
		families[b.family(f)] = true
	}
	if len(kinds) > 1 {
		return arm.Badf("LoadBalancerCannotHaveBothPublicAndInternalFrontends", "Load balancer %s must not have frontend IP configurations with public IP addresses and with subnets at the same time.", b.ID)
	}
	if scope := arm.Text(b.Doc, "properties", "scope"); scope != "" {
		if err := checkFields(b.ID, b.Props(), choiceField("scope", "", "Public", "Private")); err != nil {
			return err
		}
		if kinds[arm.Text(b.Props(), "scope") == "Private"] {
			return arm.Badf("LoadBalancerScopeMismatch", "The frontend IP configurations of load balancer %s do not fit its scope %s.", b.ID, scope)
		}
	}
	// Those for containers are of one family, whichever it is. Source:
	// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/resource_helpers.go.
	if families[ipv6] && !families[ipv4] && arm.Text(b.Doc, "sku", "name") != skuService {
		return arm.Badf("AtleastOneIpV4RequiredForIpV6LbFrontendIpConfiguration", "At least one IPv4 frontend IP configuration is required for a load balancer with IPv6 frontend IP configurations: %s.", b.ID)
	}
	return nil
}
