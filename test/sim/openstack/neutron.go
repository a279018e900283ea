package openstack

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

const neutronPath = "/network/v2.0/"

func networkRoutes() []route {
	path := func(c collection) string { return neutronPath + string(c) }
	return []route{
		rest.Reads(apiNeutron, "ListNetworks", path(networks), listOf(networks, showNetwork)),
		rest.Reads(apiNeutron, "ShowNetwork", path(networks)+"/{id}", readObject(networks, "network", "Network", showNetwork)),
		rest.Reads(apiNeutron, "ListSubnets", path(subnets), listOf(subnets, asIs)),
		rest.Reads(apiNeutron, "ShowSubnet", path(subnets)+"/{id}", readObject(subnets, "subnet", "Subnet", asIs)),
		rest.Reads(apiNeutron, "ListPorts", path(ports), listOf(ports, asIs)),
		rest.Reads(apiNeutron, "ShowPort", path(ports)+"/{id}", readObject(ports, "port", "Port", asIs)),
		rest.Writes(apiNeutron, "UpdatePort", http.MethodPut, path(ports)+"/{id}", http.StatusOK, updatePort),
		rest.Writes(apiNeutron, "DeletePortTag", http.MethodDelete, path(ports)+"/{id}/tags/{tag}", http.StatusNoContent, deletePortTag),
		rest.Reads(apiNeutron, "ListFloatingIPs", path(floating), listOf(floating, asFloating)),
		rest.Reads(apiNeutron, "ShowFloatingIP", path(floating)+"/{id}", showFloating),
		rest.Writes(apiNeutron, "CreateFloatingIP", http.MethodPost, path(floating), http.StatusCreated, createFloating),
		rest.Writes(apiNeutron, "UpdateFloatingIP", http.MethodPut, path(floating)+"/{id}", http.StatusOK, updateFloating),
		rest.Writes(apiNeutron, "DeleteFloatingIP", http.MethodDelete, path(floating)+"/{id}", http.StatusNoContent, deleteFloating),
		rest.Reads(apiNeutron, "ListSecurityGroups", path(groups), listOf(groups, showGroup)),
		rest.Writes(apiNeutron, "CreateSecurityGroup", http.MethodPost, path(groups), http.StatusCreated, createGroup),
		rest.Writes(apiNeutron, "DeleteSecurityGroup", http.MethodDelete, path(groups)+"/{id}", http.StatusNoContent, deleteGroup),
		rest.Reads(apiNeutron, "ListSecurityGroupRules", path(rules), listOf(rules, asIs)),
		rest.Writes(apiNeutron, "CreateSecurityGroupRule", http.MethodPost, path(rules), http.StatusCreated, createRules),
		rest.Writes(apiNeutron, "DeleteSecurityGroupRule", http.MethodDelete, path(rules)+"/{id}", http.StatusNoContent, deleteRule),
	}
}

func showNetwork(s *state, n Object) Object {
	var inside []string
	for _, sub := range s.Having(subnets, "network_id", n.Text("id")) {
		inside = append(inside, sub.Text("id"))
	}
	return n.With(Object{"subnets": rest.Anys(inside)})
}

// freeAddress is the first address of a subnet's pool that no port has.
func (v *visit) freeAddress(subnet Object) (string, error) {
	pool := subnet.Objects("allocation_pools")[0]
	last := netip.MustParseAddr(pool.Text("end"))
	taken := v.State.taken(subnet.Text("id"))
	for a := netip.MustParseAddr(pool.Text("start")); a.Compare(last) <= 0; a = a.Next() {
		if !taken[a.String()] {
			return a.String(), nil
		}
	}
	return "", rest.Refuse(http.StatusConflict, "IpAddressGenerationFailure", "No more IP addresses available on network %s.", subnet.Text("network_id"))
}

// taken are the addresses of a subnet that are in use.
func (s *state) taken(subnet string) map[string]bool {
	out := map[string]bool{}
	for _, p := range s.All(ports, nil) {
		for _, f := range p.Objects("fixed_ips") {
			if f.Text("subnet_id") == subnet {
				out[f.Text("ip_address")] = true
			}
		}
	}
	for _, f := range s.All(floating, nil) {
		if f.Text("subnet") == subnet {
			out[f.Text("floating_ip_address")] = true
		}
	}
	return out
}

// takes checks that an address is a free one of a subnet.
func (v *visit) takes(subnet Object, address string) *rest.Error {
	a, err := netip.ParseAddr(address)
	prefix := netip.MustParsePrefix(subnet.Text("cidr"))
	switch {
	case err != nil || !prefix.Contains(a):
		return rest.Refuse(http.StatusBadRequest, "InvalidIpForSubnet", "IP address %s is not a valid IP for the specified subnet.", address)
	case v.State.taken(subnet.Text("id"))[a.String()]:
		return rest.Refuse(http.StatusConflict, "IpAddressAlreadyAllocated", "IP address %s already allocated in subnet %s", address, subnet.Text("id"))
	}
	return nil
}

func (v *visit) makePort(subnet Object, address string, more Object) Object {
	return v.State.Put(ports, Object{
		"id": v.State.id(ports), "name": "", "network_id": subnet.Text("network_id"), "project_id": v.cloud.projectID(), "tenant_id": v.cloud.projectID(),
		"admin_state_up": true, "status": "DOWN", "device_id": "", "device_owner": "", "security_groups": []any{}, "tags": []any{}, "revision_number": float64(1),
		"created_at": formatTime(v.Time) + "Z", "updated_at": formatTime(v.Time) + "Z",
		"port_security_enabled": true, "fixed_ips": []any{Object{"subnet_id": subnet.Text("id"), "ip_address": address}},
		"mac_address": fmt.Sprintf("fa:16:3e:%02x:%02x:%02x", v.State.made>>16&255, v.State.made>>8&255, v.State.made&255), "description": "",
	}.With(more))
}

// removePort takes a port away; floating IPs that were bound to it stay, unbound.
func (s *state) removePort(id string) {
	for _, f := range s.Having(floating, "port_id", id) {
		s.Change(floating, f.Text("id"), unboundFields())
	}
	s.Drop(ports, id)
}

func updatePort(v *visit) (any, error) {
	p, ok := v.State.Get(ports, v.Params["id"])
	if !ok {
		return nil, v.missing("Port", v.Params["id"])
	}
	if err := v.revision(p); err != nil {
		return nil, err
	}
	changes := v.Body.Object("port").Only("security_groups", "name", "description", "admin_state_up")
	for _, g := range changes.Texts("security_groups") {
		if _, ok := v.State.Get(groups, g); !ok {
			return nil, rest.Refuse(http.StatusNotFound, "SecurityGroupNotFound", "Security group %s does not exist", g)
		}
	}
	return Object{"port": v.revise(ports, p, changes)}, nil
}

// revision refuses a change that was made for an earlier revision of an object.
// Source: Neutron API reference, revisions, If-Match.
func (v *visit) revision(o Object) error {
	wanted, given := strings.CutPrefix(v.HTTP.Header.Get("If-Match"), "revision_number=")
	if now, _ := o.Number("revision_number"); given && fmt.Sprint(now) != wanted {
		return rest.Refuse(http.StatusPreconditionFailed, "RevisionNumberConstraintFailed", "Constrained to %s, but current revision is %d", wanted, now)
	}
	return nil
}

// revise replaces values of an object, which gets another revision.
func (v *visit) revise(c collection, o, changes Object) Object {
	n, _ := o.Number("revision_number")
	return v.State.Put(c, o.With(changes).With(Object{"revision_number": float64(n + 1), "updated_at": formatTime(v.Time) + "Z"}))
}

func deletePortTag(v *visit) (any, error) {
	p, ok := v.State.Get(ports, v.Params["id"])
	if !ok {
		return nil, v.missing("Port", v.Params["id"])
	}
	tags := p.Texts("tags")
	if !slices.Contains(tags, v.Params["tag"]) {
		return nil, rest.Refuse(http.StatusNotFound, "TagNotFound", "Tag %s could not be found.", v.Params["tag"])
	}
	v.revise(ports, p, Object{"tags": rest.Anys(slices.DeleteFunc(tags, func(t string) bool { return t == v.Params["tag"] }))})
	return nil, nil
}

func showFloating(v *visit) (any, error) {
	f, ok := v.State.Get(floating, v.Params["id"])
	if !ok {
		return nil, noFloating(v.Params["id"])
	}
	return Object{"floatingip": asFloating(v.State, f)}, nil
}

// asFloating leaves out what the store keeps for itself, and tells of the port.
func asFloating(s *state, f Object) Object {
	out := publicFields(f, "subnet")
	if port, ok := s.Get(ports, f.Text("port_id")); ok {
		out["port_details"] = port.Only("name", "network_id", "mac_address", "admin_state_up", "status", "device_id", "device_owner")
	}
	return out
}

func noFloating(id string) *rest.Error {
	return rest.Refuse(http.StatusNotFound, "FloatingIPNotFound", "Floating IP %s could not be found", id)
}

// unboundFields returns the fields of a floating IP without a port.
func unboundFields() Object {
	return Object{"port_id": nil, "fixed_ip_address": nil, "router_id": nil, "status": "DOWN", "port_details": nil}
}

func createFloating(v *visit) (any, error) {
	wish := v.Body.Object("floatingip")
	network, ok := v.State.Get(networks, wish.Text("floating_network_id"))
	if !ok {
		return nil, rest.Refuse(http.StatusNotFound, "NetworkNotFound", "Network %s could not be found.", wish.Text("floating_network_id"))
	}
	if !network.Truth("router:external") {
		return nil, rest.Refuse(http.StatusBadRequest, "BadRequest", "Bad floatingip request: Network %s is not a valid external network.", network.Text("id"))
	}
	if n := v.cloud.opt.Limits.FloatingIPs; n > 0 && len(v.State.All(floating, nil)) >= n {
		return nil, rest.Refuse(http.StatusConflict, "OverQuota", "Quota exceeded for resources: ['floatingip'].")
	}
	address, subnet, err := v.floatingAddress(network, wish)
	if err != nil {
		return nil, err
	}
	f := Object{
		"id": v.State.id(floating), "floating_ip_address": address, "floating_network_id": network.Text("id"), "subnet": subnet, "description": wish.Text("description"),
		"project_id": v.cloud.projectID(), "tenant_id": v.cloud.projectID(), "tags": []any{}, "revision_number": float64(0), "created_at": formatTime(v.Time) + "Z", "updated_at": formatTime(v.Time) + "Z",
	}.With(unboundFields())
	if f, err = v.bind(f, wish); err != nil {
		return nil, err
	}
	return Object{"floatingip": asFloating(v.State, v.State.Put(floating, f))}, nil
}

// floatingAddress finds an address on the network, or on the subnet or of the number
// that is asked for.
func (v *visit) floatingAddress(network, wish Object) (address, subnet string, err error) {
	if a := wish.Text("floating_ip_address"); a != "" {
		if !v.cloud.opt.AnyAddress {
			return "", "", rest.Refuse(http.StatusForbidden, "PolicyNotAuthorized", "(rule:create_floatingip and rule:create_floatingip:floating_ip_address) is disallowed by policy")
		}
		for _, s := range v.State.Having(subnets, "network_id", network.Text("id")) {
			refused := v.takes(s, a)
			if refused == nil {
				return a, s.Text("id"), nil
			}
			err = refused
		}
		return "", "", err
	}
	for _, s := range v.State.Having(subnets, "network_id", network.Text("id")) {
		wanted := wish.Text("subnet_id")
		if version, _ := s.Number("ip_version"); version != 4 || wanted != "" && wanted != s.Text("id") {
			continue
		}
		if address, err = v.freeAddress(s); err == nil {
			return address, s.Text("id"), nil
		}
	}
	if err == nil {
		err = rest.Refuse(http.StatusBadRequest, "InvalidInput", "Invalid input for operation: Failed to create port on network %s, because fixed_ips included invalid subnet %s.", network.Text("id"), wish.Text("subnet_id"))
	}
	return "", "", err
}

// bind binds a floating IP to the port of a request.
func (v *visit) bind(f, wish Object) (Object, error) {
	id := wish.Text("port_id")
	if id == "" {
		return f, nil
	}
	port, ok := v.State.Get(ports, id)
	if !ok {
		return nil, rest.Refuse(http.StatusNotFound, "PortNotFound", "Port %s could not be found.", id)
	}
	for _, other := range v.State.Having(floating, "port_id", id) {
		if other.Text("id") != f.Text("id") {
			return nil, rest.Refuse(http.StatusConflict, "FloatingIPPortAlreadyAssociated", "Cannot associate floating IP %s (%s) with port %s using fixed IP %s, as that fixed IP already has a floating IP on external network %s.",
				f.Text("floating_ip_address"), f.Text("id"), id, other.Text("fixed_ip_address"), f.Text("floating_network_id"))
		}
	}
	for _, fixed := range port.Objects("fixed_ips") {
		if ipFamily(fixed.Text("ip_address")) == 4 {
			return f.With(Object{"port_id": id, "fixed_ip_address": fixed["ip_address"], "router_id": idOf("router"), "status": "ACTIVE"}), nil
		}
	}
	return nil, rest.Refuse(http.StatusBadRequest, "BadRequest", "Bad floatingip request: Port %s does not have any IPv4 address.", id)
}

// updateFloating binds or unbinds; a body without a port unbinds. Source: a real Neutron.
func updateFloating(v *visit) (any, error) {
	f, ok := v.State.Get(floating, v.Params["id"])
	if !ok {
		return nil, noFloating(v.Params["id"])
	}
	if err := v.revision(f); err != nil {
		return nil, err
	}
	wish := v.Body.Object("floatingip")
	changed := f.With(wish.Only("description"))
	if len(wish) == 0 || wish["port_id"] != nil || hasKey(wish, "port_id") {
		var err error
		if changed, err = v.bind(changed.With(unboundFields()), wish); err != nil {
			return nil, err
		}
	}
	return Object{"floatingip": asFloating(v.State, v.revise(floating, f, changed.Only("description", "port_id", "fixed_ip_address", "router_id", "status", "port_details")))}, nil
}

func hasKey(o Object, key string) bool {
	_, ok := o[key]
	return ok
}

func deleteFloating(v *visit) (any, error) {
	if _, ok := v.State.Get(floating, v.Params["id"]); !ok {
		return nil, noFloating(v.Params["id"])
	}
	v.State.Drop(floating, v.Params["id"])
	return nil, nil
}
