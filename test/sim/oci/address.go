package oci

import (
	"net/netip"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// readdress gives a load balancer an address of each version, and of each its private one
// too where its service shows that; those it has stay. Its subnet's addresses are its own
// from now on. Sources: API reference, LoadBalancer.ipAddresses: a public load balancer has
// addresses of Oracle's pool or reserved ones; NetworkLoadBalancer.ipAddresses.
func (v *visit) readdress(lb rest.Object, versions []string, reserved []rest.Object) (rest.Object, error) {
	ids := append(lb.Texts("subnetIds"), lb.Text("subnetId"))
	subnet, _ := v.State.Get(subnets, ids[0])
	held, err := v.reserve(lb, subnet, reserved)
	if err != nil {
		return nil, err
	}
	have := map[string][]any{}
	for _, a := range lb.Objects("ipAddresses") {
		version := versionOf(a.Text("ipAddress"))
		have[version] = append(have[version], a)
	}
	addresses := []any{}
	for _, version := range versions {
		of := have[version]
		if of == nil {
			if of, err = v.addresses(lb, subnet, version, held); err != nil {
				return nil, err
			}
		}
		addresses = append(addresses, of...)
	}
	return lb.With(rest.Object{"ipAddresses": addresses}), nil
}

func versionOf(address string) string {
	if strings.Contains(address, ":") {
		return "IPV6"
	}
	return "IPV4"
}

// addresses are those of one version. That of IPv6 is of the subnet, and public unless the
// load balancer is private.
func (v *visit) addresses(lb, subnet rest.Object, version string, held map[string]rest.Object) ([]any, error) {
	private, isNetwork := lb.Truth("isPrivate"), lb["subnetId"] != nil
	var out []any
	add := func(address string, public bool, of rest.Object) {
		one := rest.Object{"ipAddress": address, "isPublic": public, "reservedIp": nil}
		if of != nil {
			one["reservedIp"] = rest.Object{"id": of.Text("id")}
		}
		if isNetwork {
			one["ipVersion"] = version
		}
		out = append(out, one)
	}
	if version == "IPV4" && !private {
		if of := held[publicIPs]; of != nil {
			add(of.Text("ipAddress"), true, of)
		} else {
			add(v.State.public().String(), true, nil)
		}
	}
	if version == "IPV4" && !private && !isNetwork {
		return out, nil
	}
	table, block, wish := privateIPs, "cidrBlock", "assignedPrivateIpv4"
	if version == "IPV6" {
		table, block, wish = ipv6s, "ipv6CidrBlock", "assignedIpv6"
	}
	if of := held[table]; of != nil {
		add(of.Text("ipAddress"), version == "IPV6" && !private, of)
		return out, nil
	}
	a, err := v.choose(subnet, block, lb.Text(wish))
	if err != nil {
		return nil, err
	}
	v.State.lend(lb.Text("id"), subnet, a, lb.Text("compartmentId"))
	add(a.String(), version == "IPV6" && !private, nil)
	return out, nil
}

// choose is an address of a subnet: the one that is wished for, or a free one.
// Source: API reference, CreateNetworkLoadBalancerDetails.assignedPrivateIpv4.
func (v *visit) choose(subnet rest.Object, block, wish string) (netip.Addr, error) {
	if wish == "" {
		return v.State.private(subnet, subnet.Text(block))
	}
	a, err := netip.ParseAddr(wish)
	prefix, _ := netip.ParsePrefix(subnet.Text(block))
	if err != nil || !prefix.Contains(a) {
		return a, invalidParam("%q must be an address of the subnet's block %s", wish, subnet.Text(block))
	}
	if v.State.inUse(subnet.Text("id"), a) {
		return a, invalidParam("the address %s is in use", wish)
	}
	return a, nil
}

// reserve takes reserved addresses for a load balancer, one of a sort.
// Source: API reference, CreateNetworkLoadBalancerDetails.reservedIps: one of a public
// address, a private address and an IPv6 address at most, and none that is in use.
func (v *visit) reserve(lb, subnet rest.Object, reserved []rest.Object) (map[string]rest.Object, error) {
	out := map[string]rest.Object{}
	for _, r := range reserved {
		id := r.Text("id")
		parts := strings.SplitN(id, ".", 3)
		if len(parts) < 3 {
			return nil, invalidParam("reservedIps: %q is no identifier", id)
		}
		table := parts[1]
		o, ok := v.State.Get(table, id)
		switch {
		case !ok || table != publicIPs && table != privateIPs && table != ipv6s:
			return nil, relatedNotFound("reserved IP", id)
		case out[table] != nil:
			return nil, invalidParam("reservedIps: there may be one of a sort")
		case table == publicIPs && lb.Truth("isPrivate"):
			return nil, invalidParam("reservedIps: %s is public, and the load balancer is private", id)
		case table == privateIPs && !lb.Truth("isPrivate") && lb["subnetIds"] != nil:
			return nil, invalidParam("reservedIps: %s is private, and the load balancer is public", id)
		case table != publicIPs && o.Text("subnetId") != subnet.Text("id"):
			return nil, invalidParam("reservedIps: %s is not of the subnet of the load balancer", id)
		case o.Text("lifetime") != "RESERVED" || o.Text(holder) != "" || o.Text("vnicId") != "":
			return nil, rest.Refuse(409, "Conflict", "The reserved IP %s is in use", id)
		}
		changes := rest.Object{holder: lb.Text("id"), "ipState": "ASSIGNED"}
		if table == publicIPs {
			delete(changes, "ipState")
			changes = changes.With(rest.Object{lifecycle: "ASSIGNED", "assignedEntityType": "PRIVATE_IP", "assignedEntityId": v.State.idOf(privateIPs, lb.Text("id"))})
		}
		out[table] = v.State.store(table, o.With(changes))
	}
	return out, nil
}
