package openstack

import (
	"net/http"
	"net/netip"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/rest"
)

func childRoutes() []route {
	l, p, m := octaviaPath+string(listeners), octaviaPath+string(pools), octaviaPath+string(monitors)
	return []route{
		rest.Reads(apiOctavia, "ListListeners", l, listOf(listeners, showListener)),
		rest.Reads(apiOctavia, "ShowListener", l+"/{id}", readObject(listeners, "listener", "Listener", showListener)),
		rest.Writes(apiOctavia, "CreateListener", http.MethodPost, l, http.StatusCreated, createListener),
		rest.Writes(apiOctavia, "UpdateListener", http.MethodPut, l+"/{id}", http.StatusOK, updateListener),
		rest.Writes(apiOctavia, "DeleteListener", http.MethodDelete, l+"/{id}", http.StatusNoContent, deleteListener),
		rest.Reads(apiOctavia, "ListPools", p, listOf(pools, showPool)),
		rest.Reads(apiOctavia, "ShowPool", p+"/{id}", readObject(pools, "pool", "Pool", showPool)),
		rest.Writes(apiOctavia, "CreatePool", http.MethodPost, p, http.StatusCreated, createPool),
		rest.Writes(apiOctavia, "UpdatePool", http.MethodPut, p+"/{id}", http.StatusOK, updatePool),
		rest.Writes(apiOctavia, "DeletePool", http.MethodDelete, p+"/{id}", http.StatusNoContent, deletePool),
		rest.Reads(apiOctavia, "ListMembers", p+"/{pool}/members", listMembers),
		rest.Writes(apiOctavia, "CreateMember", http.MethodPost, p+"/{pool}/members", http.StatusCreated, createMember),
		rest.Writes(apiOctavia, "BatchUpdateMembers", http.MethodPut, p+"/{pool}/members", http.StatusAccepted, batchMembers),
		rest.Writes(apiOctavia, "DeleteMember", http.MethodDelete, p+"/{pool}/members/{id}", http.StatusNoContent, deleteMember),
		rest.Reads(apiOctavia, "ListHealthMonitors", m, listOf(monitors, showMonitor)),
		rest.Reads(apiOctavia, "ShowHealthMonitor", m+"/{id}", readObject(monitors, "healthmonitor", "Health Monitor", showMonitor)),
		rest.Writes(apiOctavia, "CreateHealthMonitor", http.MethodPost, m, http.StatusCreated, createMonitor),
		rest.Writes(apiOctavia, "UpdateHealthMonitor", http.MethodPut, m+"/{id}", http.StatusOK, updateMonitor),
		rest.Writes(apiOctavia, "DeleteHealthMonitor", http.MethodDelete, m+"/{id}", http.StatusNoContent, deleteMonitor),
	}
}

// publicFields drops what the store keeps for itself, and names the load balancer as
// answers do.
func publicFields(o Object, keys ...string) Object {
	out := o.With(nil)
	delete(out, "loadbalancer")
	for _, k := range keys {
		delete(out, k)
	}
	return out
}

func showListener(_ *state, l Object) Object {
	out := publicFields(l)
	out["loadbalancers"] = idRefs([]string{l.Text("loadbalancer")})
	if len(out.List("allowed_cidrs")) == 0 {
		out["allowed_cidrs"] = nil
	}
	return out
}

func showPool(s *state, p Object) Object {
	out := publicFields(p)
	out["loadbalancers"] = idRefs([]string{p.Text("loadbalancer")})
	var users, inside []string
	for _, l := range s.Having(listeners, "default_pool_id", p.Text("id")) {
		users = append(users, l.Text("id"))
	}
	for _, m := range s.Having(members, "pool", p.Text("id")) {
		inside = append(inside, m.Text("id"))
	}
	out["listeners"], out["members"] = idRefs(users), idRefs(inside)
	if p.Text("healthmonitor_id") == "" {
		delete(out, "healthmonitor_id")
	}
	if session := p.Object("session_persistence"); session != nil {
		out["session_persistence"] = Object{"cookie_name": nil, "persistence_granularity": nil, "persistence_timeout": nil}.With(session)
	}
	return out
}

func (v *visit) fresh(c collection, lb Object) Object {
	return Object{
		"id": v.State.id(c), "project_id": v.cloud.projectID(), "tenant_id": v.cloud.projectID(), "admin_state_up": true, provisioning: pendingCreate,
		operating: offline, "created_at": formatTime(v.Time), "updated_at": nil, "loadbalancer": lb.Text("id"),
	}
}

// listenerDefaults are what a listener has that says nothing else.
// Source: a real Octavia.
func listenerDefaults() Object {
	return Object{
		"name": "", "description": "", "connection_limit": float64(-1), "default_pool_id": nil, "insert_headers": Object{}, "default_tls_container_ref": nil,
		"sni_container_refs": []any{}, "l7policies": []any{}, "allowed_cidrs": []any{}, "tags": []any{}, "timeout_client_data": float64(50000),
		"timeout_member_connect": float64(5000), "timeout_member_data": float64(50000), "timeout_tcp_inspect": float64(0), "client_authentication": "NONE",
		"client_ca_tls_container_ref": nil, "client_crl_container_ref": nil, "tls_ciphers": nil, "tls_versions": nil, "alpn_protocols": nil,
	}
}

func (v *visit) addListener(lb, wish Object) (Object, error) {
	if n := v.cloud.opt.Limits.Listeners; n > 0 && len(v.State.All(listeners, nil)) >= n {
		return nil, quotaMet("Listener")
	}
	l := listenerDefaults().With(v.fresh(listeners, lb)).With(wish.Only("name", "description", "protocol", "protocol_port", "default_pool_id", "sni_container_refs"))
	l = l.With(wish.Only(listenerMutable()...))
	if err := v.checkListener(lb, l); err != nil {
		return nil, err
	}
	return v.State.Put(listeners, l), nil
}

func listenerMutable() []string {
	return []string{
		"name", "description", "connection_limit", "insert_headers", "default_tls_container_ref", "sni_container_refs", "allowed_cidrs", "tags", "default_pool_id",
		"timeout_client_data", "timeout_member_connect", "timeout_member_data", "timeout_tcp_inspect", "admin_state_up",
	}
}

// portLayer returns the layer within which protocols cannot share a port.
func portLayer(protocol string) string {
	if protocol == "UDP" || protocol == "SCTP" {
		return protocol
	}
	return "TCP"
}

func (v *visit) checkListener(lb, l Object) error {
	if err := checkName(l); err != nil {
		return err
	}
	protocol := l.Text("protocol")
	if !slices.Contains([]string{"TCP", "UDP", "SCTP", "HTTP", "HTTPS", "TERMINATED_HTTPS"}, protocol) {
		return rest.Refuse(http.StatusBadRequest, "ClientSideError", "Invalid input for field/attribute protocol. Value: '%s'.", protocol)
	}
	if lb.Text("provider") == "ovn" && !slices.Contains([]string{"TCP", "UDP", "SCTP"}, protocol) {
		return rest.Refuse(http.StatusNotImplemented, "ProviderUnsupportedOptionError", "Provider 'ovn' does not support a requested option: OVN provider does not support %s protocol", protocol)
	}
	if port, _ := l.Number("protocol_port"); port < 1 || port > 65535 {
		return invalidInput("protocol_port", strconv.Itoa(port), "should be greater or equal to 1")
	}
	if err := v.checkRanges(lb, l); err != nil {
		return err
	}
	if len(l.Object("insert_headers")) > 0 && protocol != "HTTP" && protocol != "TERMINATED_HTTPS" {
		return rest.Refuse(http.StatusBadRequest, "InvalidOption", "insert-headers is not a valid option for a %s protocol listener.", protocol)
	}
	for _, other := range v.State.Having(listeners, "loadbalancer", lb.Text("id")) {
		if other.Text("id") != l.Text("id") && other["protocol_port"] == l["protocol_port"] && portLayer(other.Text("protocol")) == portLayer(protocol) {
			return rest.Refuse(http.StatusConflict, "DuplicateListenerEntry", "Another Listener on this Load Balancer is already using protocol %s and protocol_port %v", portLayer(protocol), l["protocol_port"])
		}
	}
	if id := l.Text("default_pool_id"); id != "" {
		p, ok := v.State.Get(pools, id)
		if !ok {
			return notFound("Pool", id)
		}
		if !slices.Contains(poolProtocols()[protocol], p.Text("protocol")) {
			return validationFailure("The pool protocol '%s' is invalid while the listener protocol is '%s'.", p.Text("protocol"), protocol)
		}
	}
	if protocol == "TERMINATED_HTTPS" && l.Text("default_tls_container_ref") == "" {
		return validationFailure("An SNI or default certificate container reference is required with TERMINATED_HTTPS protocol.")
	}
	return nil
}

func (v *visit) checkRanges(lb, l Object) error {
	for key, low := range map[string]int{"connection_limit": -1, "timeout_client_data": 0, "timeout_member_connect": 0, "timeout_member_data": 0, "timeout_tcp_inspect": 0} {
		if n, given := l.Number(key); given && (n < low || n > 2073600000) {
			return invalidInput(key, strconv.Itoa(n), "should be greater or equal to "+strconv.Itoa(low))
		}
	}
	masked := []any{}
	for _, text := range l.Texts("allowed_cidrs") {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return validationFailure("%s is not a valid CIDR", text)
		}
		if prefix.Addr().Is4() != (ipFamily(lb.Text("vip_address")) == 4) {
			return validationFailure("CIDR %s IP version incompatible with VIP %s IP version.", text, lb.Text("vip_address"))
		}
		masked = append(masked, prefix.Masked().String())
	}
	l["allowed_cidrs"] = masked
	return nil
}

// poolProtocols returns the protocols of the pools that a listener may have. Source:
// Octavia API reference, valid protocol combinations.
func poolProtocols() map[string][]string {
	return map[string][]string{
		"TCP": {"HTTP", "HTTPS", "PROXY", "PROXYV2", "TCP"}, "HTTP": {"HTTP", "PROXY", "PROXYV2"}, "HTTPS": {"HTTPS", "PROXY", "PROXYV2", "TCP"},
		"TERMINATED_HTTPS": {"HTTP", "PROXY", "PROXYV2"}, "UDP": {"UDP"}, "SCTP": {"SCTP"},
	}
}

// refuseTree returns the answer of a real Octavia to a tree below an existing load
// balancer.
func refuseTree(wish Object, keys ...string) error {
	for _, k := range keys {
		if wish[k] != nil {
			return rest.Refuse(http.StatusInternalServerError, "AttributeError", "'dict' object has no attribute '_sa_instance_state'")
		}
	}
	return nil
}

func createListener(v *visit) (any, error) {
	wish := v.Body.Object("listener")
	lb, err := v.mutable(wish.Text("loadbalancer_id"))
	if err != nil {
		return nil, err
	}
	if err := refuseTree(wish, "default_pool"); err != nil {
		return nil, err
	}
	l, err := v.addListener(lb, wish)
	if err != nil {
		return nil, err
	}
	if id := l.Text("default_pool_id"); id != "" {
		v.State.Change(pools, id, Object{provisioning: pendingUpdate})
	}
	v.touch(lb.Text("id"), pendingUpdate)
	l, _ = v.State.Get(listeners, l.Text("id"))
	return Object{"listener": showListener(v.State, l)}, nil
}

func updateListener(v *visit) (any, error) {
	l, ok := v.State.Get(listeners, v.Params["id"])
	if !ok {
		return nil, notFound("Listener", v.Params["id"])
	}
	lb, err := v.mutable(l.Text("loadbalancer"))
	if err != nil {
		return nil, err
	}
	changed := l.With(v.Body.Object("listener").Only(listenerMutable()...))
	if err := v.checkListener(lb, changed); err != nil {
		return nil, err
	}
	changed[provisioning] = pendingUpdate
	v.State.Put(listeners, changed)
	v.touch(lb.Text("id"), pendingUpdate)
	changed, _ = v.State.Get(listeners, l.Text("id"))
	return Object{"listener": showListener(v.State, changed)}, nil
}

func deleteListener(v *visit) (any, error) {
	l, ok := v.State.Get(listeners, v.Params["id"])
	if !ok {
		return nil, notFound("Listener", v.Params["id"])
	}
	if _, err := v.mutable(l.Text("loadbalancer")); err != nil {
		return nil, err
	}
	v.State.Change(listeners, l.Text("id"), Object{provisioning: pendingDelete})
	v.touch(l.Text("loadbalancer"), pendingUpdate)
	return nil, nil
}
