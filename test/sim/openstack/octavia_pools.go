package openstack

import (
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

func (v *visit) addPool(lb, wish Object) (Object, error) {
	if n := v.cloud.opt.Limits.Pools; n > 0 && len(v.State.All(pools, nil)) >= n {
		return nil, quotaMet("Pool")
	}
	p := Object{
		"name": "", "description": "", "session_persistence": nil, "healthmonitor_id": "", "tags": []any{}, "tls_enabled": false, "tls_container_ref": nil,
		"ca_tls_container_ref": nil, "crl_container_ref": nil, "tls_ciphers": nil, "tls_versions": nil, "alpn_protocols": nil,
	}
	p = p.With(v.fresh(pools, lb)).With(wish.Only("name", "description", "protocol", "lb_algorithm", "session_persistence", "tags"))
	if err := checkPool(lb, p); err != nil {
		return nil, err
	}
	return v.State.Put(pools, p), nil
}

func checkPool(lb, p Object) error {
	if err := checkName(p); err != nil {
		return err
	}
	if !slices.Contains([]string{"HTTP", "HTTPS", "PROXY", "PROXYV2", "TCP", "UDP", "SCTP"}, p.Text("protocol")) {
		return rest.Refuse(http.StatusBadRequest, "ClientSideError", "Invalid input for field/attribute protocol. Value: '%s'.", p.Text("protocol"))
	}
	algorithm := p.Text("lb_algorithm")
	if known := []string{"ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"}; !slices.Contains(known, algorithm) {
		return invalidInput("lb_algorithm", algorithm, "should be one of: "+strings.Join(known, ", "))
	}
	// Source: openstack/ovn-octavia-provider, driver.py.
	if lb.Text("provider") == "ovn" {
		if algorithm != "SOURCE_IP_PORT" {
			return rest.Refuse(http.StatusNotImplemented, "ProviderUnsupportedOptionError", "Provider 'ovn' does not support a requested option: OVN provider does not support %s algorithm", algorithm)
		}
		if !slices.Contains([]string{"TCP", "UDP", "SCTP"}, p.Text("protocol")) {
			return rest.Refuse(http.StatusNotImplemented, "ProviderUnsupportedOptionError", "Provider 'ovn' does not support a requested option: OVN provider does not support %s protocol", p.Text("protocol"))
		}
	}
	return nil
}

func createPool(v *visit) (any, error) {
	wish := v.Body.Object("pool")
	id := wish.Text("loadbalancer_id")
	var l Object
	if given := wish.Text("listener_id"); given != "" {
		var ok bool
		if l, ok = v.State.Get(listeners, given); !ok {
			return nil, notFound("Listener", given)
		}
		id = l.Text("loadbalancer")
	}
	lb, err := v.mutable(id)
	if err != nil {
		return nil, err
	}
	if err := refuseTree(wish, "members", "healthmonitor"); err != nil {
		return nil, err
	}
	if l != nil && !slices.Contains(poolProtocols()[l.Text("protocol")], wish.Text("protocol")) {
		return nil, validationFailure("The pool protocol '%s' is invalid while the listener protocol is '%s'.", wish.Text("protocol"), l.Text("protocol"))
	}
	if l.Text("default_pool_id") != "" {
		return nil, rest.Refuse(http.StatusConflict, "DuplicatePoolEntry", "This listener already has a default pool")
	}
	p, err := v.addPool(lb, wish)
	if err != nil {
		return nil, err
	}
	if l != nil {
		v.State.Change(listeners, l.Text("id"), Object{"default_pool_id": p.Text("id"), provisioning: pendingUpdate})
	}
	v.touch(lb.Text("id"), pendingUpdate)
	p, _ = v.State.Get(pools, p.Text("id"))
	return Object{"pool": showPool(v.State, p)}, nil
}

// poolToChange is a pool that takes a write now.
func (v *visit) poolToChange(id string) (Object, error) {
	p, ok := v.State.Get(pools, id)
	if !ok {
		return nil, notFound("Pool", id)
	}
	_, err := v.mutable(p.Text("loadbalancer"))
	return p, err
}

// poolWithin returns a pool below which writes are possible now. Errors name the pool, also
// when its load balancer is busy. Source: a real Octavia.
func (v *visit) poolWithin(id string) (Object, error) {
	p, err := v.poolToChange(id)
	if p != nil && (err != nil || p.Text(provisioning) != active) {
		return nil, immutableObject("Pool", id)
	}
	return p, err
}

// touchPool makes a pool busy, with its load balancer and its listeners.
func (v *visit) touchPool(p Object, status string) {
	id := p.Text("id")
	v.State.Change(pools, id, Object{provisioning: status})
	for _, l := range v.State.Having(listeners, "default_pool_id", id) {
		v.State.Change(listeners, l.Text("id"), Object{provisioning: pendingUpdate})
	}
	v.touch(p.Text("loadbalancer"), pendingUpdate)
}

func updatePool(v *visit) (any, error) {
	p, err := v.poolToChange(v.Params["id"])
	if err != nil {
		return nil, err
	}
	changed := p.With(v.Body.Object("pool").Only("name", "description", "lb_algorithm", "session_persistence", "tags", "admin_state_up"))
	lb, _ := v.State.Get(balancers, p.Text("loadbalancer"))
	if err := checkPool(lb, changed); err != nil {
		return nil, err
	}
	v.State.Put(pools, changed)
	v.touchPool(changed, pendingUpdate)
	changed, _ = v.State.Get(pools, p.Text("id"))
	return Object{"pool": showPool(v.State, changed)}, nil
}

// deletePool takes a pool away with its members and its monitor; a listener that uses
// it stays without. Source: a real Octavia.
func deletePool(v *visit) (any, error) {
	p, err := v.poolToChange(v.Params["id"])
	if err != nil {
		return nil, err
	}
	id := p.Text("id")
	for _, l := range v.State.Having(listeners, "default_pool_id", id) {
		v.State.Change(listeners, l.Text("id"), Object{provisioning: pendingUpdate})
	}
	for _, m := range v.State.Having(members, "pool", id) {
		v.State.Change(members, m.Text("id"), Object{provisioning: pendingDelete})
	}
	v.State.Change(monitors, p.Text("healthmonitor_id"), Object{provisioning: pendingDelete})
	v.touchPool(p, pendingDelete)
	return nil, nil
}

func showMonitor(_ *state, m Object) Object {
	out := publicFields(m, "pool")
	out["pools"] = idRefs([]string{m.Text("pool")})
	return out
}

func (v *visit) addMonitor(p, wish Object) (Object, error) {
	if p.Text("healthmonitor_id") != "" {
		return nil, rest.Refuse(http.StatusConflict, "DuplicateHealthMonitor", "This pool already has a health monitor")
	}
	lb, _ := v.State.Get(balancers, p.Text("loadbalancer"))
	m := Object{"name": "", "max_retries_down": float64(3), "tags": []any{}, "http_method": nil, "url_path": nil, "expected_codes": nil, "http_version": nil, "domain_name": nil}
	if wish.Text("type") == "HTTP" {
		m = m.With(Object{"http_method": "GET", "url_path": "/", "expected_codes": "200"})
	}
	m = m.With(v.fresh(monitors, lb)).With(wish.Only("type")).With(wish.Only(monitorMutable()...))
	m["pool"] = p.Text("id")
	if err := checkMonitor(lb, p, m); err != nil {
		return nil, err
	}
	v.State.Put(monitors, m)
	v.State.Change(pools, p.Text("id"), Object{"healthmonitor_id": m.Text("id")})
	return m, nil
}

func monitorMutable() []string {
	return []string{"name", "delay", "timeout", "max_retries", "max_retries_down", "http_method", "url_path", "expected_codes", "http_version", "domain_name", "tags", "admin_state_up"}
}

func checkMonitor(lb, p, m Object) error {
	kind := m.Text("type")
	known := []string{"HTTP", "HTTPS", "PING", "SCTP", "TCP", "TLS-HELLO", "UDP-CONNECT"}
	if !slices.Contains(known, kind) {
		return rest.Refuse(http.StatusBadRequest, "ClientSideError", "Invalid input for field/attribute type. Value: '%s'.", kind)
	}
	datagram := p.Text("protocol") == "UDP" || p.Text("protocol") == "SCTP"
	if datagram != (kind == "UDP-CONNECT" || kind == "SCTP") && !(datagram && (kind == "TCP" || kind == "HTTP")) {
		return validationFailure("The associated pool protocol is %s, so only a health monitor type of UDP-CONNECT, SCTP, TCP or HTTP fits.", p.Text("protocol"))
	}
	if lb.Text("provider") == "ovn" && kind != "TCP" && kind != "UDP-CONNECT" {
		return rest.Refuse(http.StatusNotImplemented, "ProviderUnsupportedOptionError", "Provider 'ovn' does not support a requested option: OVN provider does not support %s type", kind)
	}
	for key, bounds := range map[string][2]int{"delay": {1, 1 << 30}, "timeout": {0, 1 << 30}, "max_retries": {1, 10}, "max_retries_down": {1, 10}} {
		if n, given := m.Number(key); !given || n < bounds[0] || n > bounds[1] {
			return rest.Refuse(http.StatusBadRequest, "ClientSideError", "Invalid input for field/attribute %s. Value: '%v'.", key, m[key])
		}
	}
	if delay, _ := m.Number("delay"); kind == "UDP-CONNECT" && delay < 3 {
		return validationFailure("The request delay value %d should be larger than 3 for UDP-CONNECT health monitor type.", delay)
	}
	return nil
}

func createMonitor(v *visit) (any, error) {
	wish := v.Body.Object("healthmonitor")
	p, err := v.poolWithin(wish.Text("pool_id"))
	if err != nil {
		return nil, err
	}
	m, err := v.addMonitor(p, wish)
	if err != nil {
		return nil, err
	}
	v.touchPool(p, pendingUpdate)
	m, _ = v.State.Get(monitors, m.Text("id"))
	return Object{"healthmonitor": showMonitor(v.State, m)}, nil
}

// monitorToChange is a monitor that takes a write now, and its pool.
func (v *visit) monitorToChange() (m, p Object, err error) {
	m, ok := v.State.Get(monitors, v.Params["id"])
	if !ok {
		return nil, nil, notFound("Health Monitor", v.Params["id"])
	}
	p, err = v.poolWithin(m.Text("pool"))
	return m, p, err
}

func updateMonitor(v *visit) (any, error) {
	m, p, err := v.monitorToChange()
	if err != nil {
		return nil, err
	}
	lb, _ := v.State.Get(balancers, p.Text("loadbalancer"))
	changed := m.With(v.Body.Object("healthmonitor").Only(monitorMutable()...))
	if err := checkMonitor(lb, p, changed); err != nil {
		return nil, err
	}
	changed[provisioning] = pendingUpdate
	v.State.Put(monitors, changed)
	v.touchPool(p, pendingUpdate)
	changed, _ = v.State.Get(monitors, m.Text("id"))
	return Object{"healthmonitor": showMonitor(v.State, changed)}, nil
}

func deleteMonitor(v *visit) (any, error) {
	m, p, err := v.monitorToChange()
	if err != nil {
		return nil, err
	}
	v.State.Change(monitors, m.Text("id"), Object{provisioning: pendingDelete})
	v.touchPool(p, pendingUpdate)
	return nil, nil
}
