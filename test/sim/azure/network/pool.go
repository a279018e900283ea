package network

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

const backendAddresses = "loadBalancerBackendAddresses"

func (b *balancer) pools() *arm.Error { return arm.Each(b.list(pools), b.pool) }

// pool checks one pool. Entries that the service itself derives from interfaces
// come back without an address and are left out.
func (b *balancer) pool(p arm.Doc) *arm.Error {
	id, props := arm.Text(p, "id"), arm.Object(p, "properties")
	var addresses []arm.Doc
	for _, e := range arm.List(props, backendAddresses) {
		if arm.Text(e, "properties", "ipAddress") != "" || arm.Text(e, "properties", "loadBalancerFrontendIPConfiguration", "id") != "" {
			addresses = append(addresses, e)
		}
	}
	if len(addresses) == 0 {
		delete(props, backendAddresses)
		return nil
	}
	if members := nicMembers(b.State, id); len(members) > 0 {
		return arm.Badf("CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool", "Load balancer backend address pool %s cannot have IP based addresses and network interface IP configurations (%s) at the same time.", id, members[0])
	}
	if len(addresses) > b.api.Limits.PoolAddresses {
		return arm.Badf("LoadBalancerBackendAddressPoolAddressCountLimitReached", "Backend address pool %s has %d addresses. The limit is %d.", id, len(addresses), b.api.Limits.PoolAddresses)
	}
	names, ips := map[string]bool{}, map[string]bool{}
	props[backendAddresses] = arm.Any(addresses)
	return arm.Each(addresses, func(e arm.Doc) *arm.Error { return b.poolAddress(id, props, e, names, ips) })
}

func (b *balancer) poolAddress(id string, pool, e arm.Doc, names, ips map[string]bool) *arm.Error {
	name, props := arm.Text(e, "name"), arm.Object(e, "properties")
	arm.Drop(props, "networkInterfaceIPConfiguration", "inboundNatRulesPortMapping", "provisioningState")
	arm.OnlyID(props, "virtualNetwork")
	arm.OnlyID(props, "subnet")
	switch {
	case name == "" || names[strings.ToLower(name)]:
		return arm.Badf("InvalidRequestFormat", "Cannot parse the request: backend address name %q in pool %s is missing or used twice.", name, id)
	case arm.Text(props, "ipAddress") == "":
		return nil
	}
	names[strings.ToLower(name)] = true
	ip, err := netip.ParseAddr(arm.Text(props, "ipAddress"))
	if err != nil {
		return arm.Badf("InvalidIPAddressFormat", "The address '%s' of backend address %s in pool %s is invalid.", arm.Text(props, "ipAddress"), name, id)
	}
	if ips[ip.String()] {
		return arm.Badf("DuplicateBackendAddressInPool", "The address %s is used more than once in pool %s.", ip, id)
	}
	ips[ip.String()] = true
	network := arm.Text(props, "virtualNetwork", "id")
	own := arm.Text(pool, "virtualNetwork", "id")
	switch {
	case network == "" && own == "" && arm.Text(props, "subnet", "id") == "":
		return arm.Badf("LoadBalancerBackendAddressPoolMustHaveVirtualNetwork", "Backend address %s in pool %s must reference a virtual network, or the pool must.", name, id)
	case network != "" && own != "" && arm.Key(network) != arm.Key(own):
		return arm.Badf("BackendAddressVirtualNetworkMismatch", "Backend address %s in pool %s references another virtual network than the pool.", name, id)
	}
	if own != "" {
		network = own
	}
	if r := b.State.Lookup(network); r != nil && !slices.ContainsFunc(networkRanges(r), func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return arm.Badf("BackendAddressNotInVirtualNetwork", "Backend address %s (%s) in pool %s is not within the address space of virtual network %s.", name, ip, id, r.ID)
	}
	return nil
}

func networkRanges(r *arm.Resource) []netip.Prefix {
	return parsePrefixes(arm.Texts(r.Doc, "properties", "addressSpace", "addressPrefixes"))
}

// nicMembers gives the ip configurations that are in a pool.
func nicMembers(s *arm.State, pool string) []string {
	var out []string
	for _, ref := range s.ReferredBy(pool) {
		if ref.Property == "loadBalancerBackendAddressPools" && strings.Contains(arm.Key(ref.From), "/ipconfigurations/") {
			out = append(out, ref.From)
		}
	}
	return out
}

// migrateAction returns the call that turns pools by interface into pools by address.
func migrateAction() arm.Extra {
	return arm.Extra{
		Method: http.MethodPost, Pattern: "/subscriptions/{s}/resourcegroups/{g}/providers/microsoft.network/loadbalancers/{n}/migratetoipbased",
		Service: "network", Name: "LoadBalancers.MigrateToIPBased", Write: true, Run: migratePool,
	}
}

func migratePool(c *arm.Call) *arm.Response {
	id, _ := arm.ParseID(strings.TrimSuffix(strings.TrimRight(c.Path, "/"), "/"+c.Segment(8)))
	r := c.Svc.State.Get(id)
	if r == nil {
		return arm.Refuse(arm.Failf(http.StatusNotFound, "ResourceNotFound", "The Resource '%s/%s' under resource group '%s' was not found.", LoadBalancers, id.Name(), id.Group))
	}
	d := arm.Clone(r.Doc)
	for _, name := range arm.Texts(c.Body, "pools") {
		p := arm.Collection{Property: pools}.Part(d, name)
		if p == nil {
			return arm.Refuse(arm.Badf("InvalidResourceReference", "Backend address pool %s of load balancer %s was not found.", name, r.ID))
		}
		var addresses []any
		for _, member := range nicMembers(c.Svc.State, arm.Text(p, "id")) {
			if e, network := migratedMember(c.Svc.State, member); e != nil {
				addresses = append(addresses, e)
				arm.Put(p, arm.Doc{"id": network}, "properties", "virtualNetwork")
			}
		}
		arm.Put(p, addresses, "properties", backendAddresses)
	}
	c.Svc.Change(func(w *arm.Write) {
		for _, name := range arm.Texts(c.Body, "pools") {
			unlinkPart(w, r.ID.Child(pools, name).String())
		}
		w.Replace(r.ID, d)
	})
	return arm.Reply(http.StatusOK, arm.Doc{"migratedPools": arm.Value(c.Body, "pools")})
}

// migratedMember returns the pool entry by address for an ip configuration, with its
// network.
func migratedMember(s *arm.State, member string) (arm.Doc, string) {
	part, r := s.Part(member)
	if part == nil {
		return nil, ""
	}
	subnet, ok := arm.ParseID(arm.Text(part, "properties", "subnet", "id"))
	if !ok {
		return nil, ""
	}
	return arm.Doc{"name": r.ID.Name(), "properties": arm.Doc{"ipAddress": arm.Text(part, "properties", "privateIPAddress")}}, subnet.Parent().String()
}
