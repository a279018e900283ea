package compute

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// poolHealth answers targetPools.getHealth: how one instance of a pool is, once for
// every address that leads to the pool. A pool without a check takes all for healthy.
// Source: Compute Engine API reference, targetPools.getHealth; Cloud Load Balancing
// documentation, target pools.
func (c *call) poolHealth(pool *entry) (wire.Object, error) {
	body, err := wire.Schema{"instance": {}}.Clean(c.Body)
	if err != nil {
		return nil, err
	}
	ref, err := wire.ParseRef(body.Text("instance"), c.project(), "instances", "resource.instance")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(pool.doc.Texts("instances"), ref.URL()) {
		return nil, wire.Invalid("resource.instance", body.Text("instance"), "The instance is not in the target pool '%s'.", pool.ref.Name)
	}
	state := instanceHealth(c.st, ref)
	if len(pool.doc.Texts("healthChecks")) == 0 {
		state = "HEALTHY"
	}
	return wire.Object{"kind": "compute#targetPoolInstanceHealth", "healthStatus": c.judged(pool.ref.URL(), ref, state)}, nil
}

// groupHealth answers regionBackendServices.getHealth: how the members of one group of a
// backend service are, once for every forwarding rule of the service.
// Source: Compute Engine API reference, regionBackendServices.getHealth.
func (c *call) groupHealth(service *entry) (wire.Object, error) {
	body, err := wire.Schema{"group": {}}.Clean(c.Body)
	if err != nil {
		return nil, err
	}
	ref, err := wire.ParseAny(body.Text("group"), c.project(), "resource.group")
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(service.doc.Objects("backends"), func(b wire.Object) bool { return b.Text("group") == ref.URL() }) {
		return nil, wire.Invalid("resource.group", body.Text("group"), "The group is no backend of the backend service '%s'.", service.ref.Name)
	}
	group, err := c.look(ref)
	if err != nil {
		return nil, err
	}
	var all []any
	for _, m := range group.members {
		if m.leaves.IsZero() {
			all = append(all, c.judged(service.ref.URL(), m.instance, instanceHealth(c.st, m.instance))...)
		}
	}
	return wire.Object{"kind": "compute#backendServiceGroupHealth", "healthStatus": all}, nil
}

// judged is the health of one instance behind a pool or a backend service.
func (c *call) judged(behind string, instance wire.Ref, state string) []any {
	var out []any
	for _, rule := range c.rulesOf(behind) {
		out = append(out, wire.Object{
			"instance": instance.URL(), "ipAddress": rule.doc.Text("IPAddress"), "port": float64(80), "healthState": state,
			"forwardingRule": rule.ref.URL(), "forwardingRuleIp": rule.doc.Text("IPAddress"),
		})
	}
	return out
}
