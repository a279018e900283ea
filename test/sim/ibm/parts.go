package ibm

import (
	"net/http"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// listParts answers the listeners or pools of a load balancer, on one page.
func listParts(collection string, show func(*visit, rest.Object) rest.Object) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		if _, ok := v.State.Get(balancers, v.Params["id"]); !ok {
			return nil, refuseMissing("load_balancer", v.Params["id"])
		}
		items := []any{}
		for _, o := range v.State.Having(collection, owner, v.Params["id"]) {
			items = append(items, show(v, o))
		}
		return rest.Object{collection: items}, nil
	}
}

func showListener(v *visit, l rest.Object) rest.Object {
	out := l.Without(owner, "pool").With(rest.Object{"href": v.href("load_balancers", l.Text(owner), "listeners", l.Text("id")), "accept_proxy_protocol": false})
	if p, ok := v.State.Get(pools, l.Text("pool")); ok {
		out["default_pool"] = rest.Object{"id": p.Text("id"), "name": p.Text("name"), "href": v.href("load_balancers", p.Text(owner), "pools", p.Text("id"))}
	}
	return out
}

// showPool returns a pool, whose members are references only. The health check of a private
// path is not shown. Source: ibm-cloud-docs/vpc, nlb-revised-nlb-capabilities.md.
func showPool(v *visit, p rest.Object) rest.Object {
	var refs []any
	for _, m := range v.State.Having(members, owner, p.Text("id")) {
		refs = append(refs, rest.Object{"id": m.Text("id"), "href": v.href("load_balancers", p.Text(owner), "pools", p.Text("id"), "members", m.Text("id"))})
	}
	out := p.Without(owner).With(rest.Object{"members": orEmpty(refs), "href": v.href("load_balancers", p.Text(owner), "pools", p.Text("id")), "failsafe_policy": rest.Object{"action": "fail", "healthy_member_threshold_count": 0}})
	if lb, _ := v.State.Get(balancers, p.Text(owner)); profileOf(lb).path {
		return out.Without("health_monitor")
	}
	return out
}

// changesPart runs a write of a part of a load balancer, which must be active, and is busy after
// it.
func changesPart(run func(v *visit, lb rest.Object) (any, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		lb, err := v.writable()
		if err != nil {
			return nil, err
		}
		result, err := run(v, lb)
		if err == nil {
			v.touch(lb)
		}
		return result, err
	}
}

// pool returns the pool of the path.
func (v *visit) pool() (rest.Object, error) {
	p, ok := v.State.Get(pools, v.Params["pool"])
	if !ok || p.Text(owner) != v.Params["id"] {
		return nil, refuseMissing("pool", v.Params["pool"])
	}
	return p, nil
}

// Words of pools and listeners. Source: VPC API reference.
func legalProtocols() []string { return []string{"tcp", "udp", "http", "https"} }
func legalAlgorithms() []string {
	return []string{"round_robin", "weighted_round_robin", "least_connections"}
}
func legalProxies() []string { return []string{"disabled", "v1", "v2"} }

// addPool creates a pool with its members in a load balancer.
func (v *visit) addPool(lb, body rest.Object) (rest.Object, error) {
	id := lb.Text("id")
	existing := v.State.Having(pools, owner, id)
	if len(existing) >= v.cloud.opt.Limits.Pools {
		return nil, overQuota("pools of a load balancer", v.cloud.opt.Limits.Pools)
	}
	p := rest.Object{"id": v.State.id(), owner: id, "created_at": lb["created_at"], provisioning: active}
	p, err := checkPool(p, rest.Object{"proxy_protocol": "disabled"}.With(body), existing)
	if err == nil {
		err = profileOf(lb).checkPool(p)
	}
	if err != nil {
		return nil, err
	}
	v.State.Put(pools, p)
	return p, v.setMembers(lb, p, body.Objects("members"))
}

// checkPool returns the pool with the values of a body.
func checkPool(p, body rest.Object, others []rest.Object) (rest.Object, error) {
	next := p.With(body.Only("name", "protocol", "algorithm", "proxy_protocol", "health_monitor", "session_persistence"))
	switch {
	case !nameForm.MatchString(next.Text("name")):
		return nil, refuseInvalid("name", "%q is not a valid name", next.Text("name"))
	case slices.ContainsFunc(others, func(o rest.Object) bool { return o.Text("id") != p.Text("id") && o.Text("name") == next.Text("name") }):
		return nil, rest.Refuse(http.StatusBadRequest, "pool_duplicate_name", "The pool name '%s' is in use", next.Text("name"))
	case !slices.Contains(legalProtocols(), next.Text("protocol")):
		return nil, refuseInvalid("protocol", "%q is not a protocol", next.Text("protocol"))
	case !slices.Contains(legalAlgorithms(), next.Text("algorithm")):
		return nil, refuseInvalid("algorithm", "%q is not an algorithm", next.Text("algorithm"))
	case !slices.Contains(legalProxies(), next.Text("proxy_protocol")):
		return nil, refuseInvalid("proxy_protocol", "%q is not a version", next.Text("proxy_protocol"))
	}
	return next, checkMonitor(next.Object("health_monitor"))
}

// checkMonitor checks a health monitor. Source: VPC API reference, LoadBalancerPoolHealthMonitorPrototype.
func checkMonitor(m rest.Object) error {
	delay, _ := m.Number("delay")
	timeout, _ := m.Number("timeout")
	retries, _ := m.Number("max_retries")
	port, given := m.Number("port")
	switch {
	case delay < 2 || delay > 60:
		return refuseInvalid("health_monitor.delay", "%d is not between 2 and 60", delay)
	case timeout < 1 || timeout > 59 || timeout >= delay:
		return refuseInvalid("health_monitor.timeout", "%d is not between 1 and 59 and less than the delay", timeout)
	case retries < 1 || retries > 10:
		return refuseInvalid("health_monitor.max_retries", "%d is not between 1 and 10", retries)
	case !slices.Contains([]string{"tcp", "http", "https"}, m.Text("type")):
		return refuseInvalid("health_monitor.type", "%q is not a type", m.Text("type"))
	case given && (port < 1 || port > 65535):
		return refuseInvalid("health_monitor.port", "%d is not a port", port)
	}
	return nil
}

func createPool(v *visit, lb rest.Object) (any, error) {
	p, err := v.addPool(lb, v.Body)
	if err != nil {
		return nil, err
	}
	return showPool(v, p), nil
}

func updatePool(v *visit, lb rest.Object) (any, error) {
	p, err := v.pool()
	if err != nil {
		return nil, err
	}
	body := v.Body
	if m := body.Object("health_monitor"); m != nil { // merged, as every PATCH
		body = body.With(rest.Object{"health_monitor": p.Object("health_monitor").With(m)})
	}
	next, err := checkPool(p, body, v.State.Having(pools, owner, lb.Text("id")))
	if err == nil {
		err = profileOf(lb).checkPool(next)
	}
	if err != nil {
		return nil, err
	}
	v.State.Put(pools, next)
	return showPool(v, next), nil
}

func deletePool(v *visit, lb rest.Object) (any, error) {
	p, err := v.pool()
	if err != nil {
		return nil, err
	}
	for _, l := range v.State.Having(listeners, owner, lb.Text("id")) {
		if l.Text("pool") == p.Text("id") {
			return nil, rest.Refuse(http.StatusConflict, "pool_in_use", "The pool with ID %s is in use by the listener with ID %s", p.Text("id"), l.Text("id"))
		}
	}
	v.State.dropPool(p.Text("id"))
	return nil, nil
}

// addListener creates a listener whose default pool is named by id or name.
func (v *visit) addListener(lb, body rest.Object) (rest.Object, error) {
	id := lb.Text("id")
	existing := v.State.Having(listeners, owner, id)
	if len(existing) >= v.cloud.opt.Limits.Listeners {
		return nil, overQuota("listeners of a load balancer", v.cloud.opt.Limits.Listeners)
	}
	l := rest.Object{"id": v.State.id(), owner: id, "created_at": lb["created_at"], provisioning: active}
	if !profileOf(lb).network {
		l["connection_limit"], l["idle_connection_timeout"] = 15000, 50
	}
	l, err := v.checkListener(l, body, existing)
	if err == nil {
		err = profileOf(lb).checkPorts(lb, l)
	}
	if err != nil {
		return nil, err
	}
	return v.State.Put(listeners, l), nil
}

// checkListener returns the listener with the values of a body.
func (v *visit) checkListener(l, body rest.Object, others []rest.Object) (rest.Object, error) {
	next := l.With(body.Only("port", "port_min", "port_max", "protocol", "connection_limit", "idle_connection_timeout"))
	if port, given := next.Number("port"); given && next["port_min"] == nil {
		next["port_min"], next["port_max"] = port, port
	}
	low, _ := next.Number("port_min")
	high, _ := next.Number("port_max")
	next["port"] = low
	if low < 1 || high > 65535 || low > high {
		return nil, refuseInvalid("port", "%d to %d are not ports", low, high)
	}
	for _, o := range others {
		first, _ := o.Number("port_min")
		last, _ := o.Number("port_max")
		if o.Text("id") != l.Text("id") && low <= last && first <= high {
			return nil, rest.Refuse(http.StatusConflict, "listener_duplicate_port", "The port %d is in use by the listener with ID %s", low, o.Text("id"))
		}
	}
	if !slices.Contains(legalProtocols(), next.Text("protocol")) {
		return nil, refuseInvalid("protocol", "%q is not a protocol", next.Text("protocol"))
	}
	if limit, given := next.Number("connection_limit"); given && (limit < 1 || limit > 15000) {
		return nil, refuseInvalid("connection_limit", "%d is not between 1 and 15000", limit)
	}
	if idle, given := next.Number("idle_connection_timeout"); given && (idle < 50 || idle > 7200) {
		return nil, refuseInvalid("idle_connection_timeout", "%d is not between 50 and 7200", idle)
	}
	if asked := body.Object("default_pool"); asked != nil {
		p, ok := v.poolOf(l.Text(owner), asked)
		if !ok {
			return nil, refuseMissing("pool", asked.Text("id")+asked.Text("name"))
		}
		if p.Text("protocol") != next.Text("protocol") {
			return nil, refuseInvalid("default_pool", "has the protocol %s, and the listener %s", p.Text("protocol"), next.Text("protocol"))
		}
		next["pool"] = p.Text("id")
	}
	return next, nil
}

func (v *visit) poolOf(lb string, asked rest.Object) (rest.Object, bool) {
	for _, p := range v.State.Having(pools, owner, lb) {
		if p.Text("id") == asked.Text("id") || asked.Text("id") == "" && p.Text("name") == asked.Text("name") {
			return p, true
		}
	}
	return nil, false
}

func createListener(v *visit, lb rest.Object) (any, error) {
	l, err := v.addListener(lb, v.Body)
	if err != nil {
		return nil, err
	}
	return showListener(v, l), nil
}

// listener returns the listener of the path.
func (v *visit) listener() (rest.Object, error) {
	l, ok := v.State.Get(listeners, v.Params["listener"])
	if !ok || l.Text(owner) != v.Params["id"] {
		return nil, refuseMissing("listener", v.Params["listener"])
	}
	return l, nil
}

func updateListener(v *visit, lb rest.Object) (any, error) {
	l, err := v.listener()
	if err != nil {
		return nil, err
	}
	next, err := v.checkListener(l, v.Body, v.State.Having(listeners, owner, lb.Text("id")))
	if err != nil {
		return nil, err
	}
	v.State.Put(listeners, next)
	return showListener(v, next), nil
}

func deleteListener(v *visit, _ rest.Object) (any, error) {
	l, err := v.listener()
	if err != nil {
		return nil, err
	}
	v.State.Drop(listeners, l.Text("id"))
	return nil, nil
}
