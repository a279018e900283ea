package compute

import (
	"fmt"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// maxBackends is how many groups a backend service has at most.
// Source: Cloud Load Balancing quotas page.
const maxBackends = 50

// serviceBackends checks the groups of a backend service: unmanaged instance
// groups or endpoint groups of type GCE_VM_IP, in the region, never both kinds.
func (c *call) serviceBackends(_ *entry, doc wire.Object) error {
	list := doc.Objects("backends")
	if len(list) > maxBackends {
		return wire.Invalid("resource.backends", len(list), "At most %d backends are allowed.", maxBackends)
	}
	kinds, seen := map[string]bool{}, map[string]bool{}
	for i, b := range list {
		at := fmt.Sprintf("resource.backends[%d].", i)
		group, err := c.backendGroup(at, b, doc)
		if err != nil {
			return err
		}
		if seen[group.ref.URL()] {
			return wire.Invalid(at+"group", b.Text("group"), "Duplicate instance group or network endpoint group.")
		}
		seen[group.ref.URL()], kinds[group.ref.Collection] = true, true
		b["group"] = group.ref.URL()
		b.Default("balancingMode", "CONNECTION")
		if b.Text("balancingMode") != "CONNECTION" {
			return wire.Invalid(at+"balancingMode", b.Text("balancingMode"), "The balancing mode of a passthrough load balancer must be CONNECTION.")
		}
		for _, name := range []string{"maxConnections", "maxConnectionsPerEndpoint", "maxConnectionsPerInstance", "maxRate", "maxRatePerEndpoint", "maxRatePerInstance", "maxUtilization"} {
			if b.Has(name) {
				return wire.Invalid(at+name, b[name], "The field cannot be set for a passthrough load balancer.")
			}
		}
		if b.Has("capacityScaler") && b.Num("capacityScaler") != 1 {
			return wire.Invalid(at+"capacityScaler", b.Num("capacityScaler"), "The field cannot be set for a passthrough load balancer.")
		}
		if !b.Truth("failover") {
			delete(b, "failover")
		}
	}
	if len(kinds) > 1 {
		return wire.Usage("Instance groups and network endpoint groups cannot be backends of the same backend service.")
	}
	return c.onceBalanced(doc.Text("selfLink"), seen)
}

func (c *call) backendGroup(at string, b, doc wire.Object) (*entry, error) {
	if b.Text("group") == "" {
		return nil, wire.Required(at + "group")
	}
	ref, err := wire.ParseAny(b.Text("group"), c.project(), at+"group")
	if err != nil {
		return nil, err
	}
	if ref.Collection != "instanceGroups" && ref.Collection != "networkEndpointGroups" {
		return nil, wire.Invalid(at+"group", b.Text("group"), "Unexpected resource collection '%s'.", ref.Collection)
	}
	if region, ok := ref.ZoneOf(); !ok || region != c.Path["region"] {
		return nil, wire.Invalid(at+"group", b.Text("group"), "The group must be in a zone of the region '%s'.", c.Path["region"])
	}
	group, err := c.find(ref)
	if err != nil {
		return nil, err
	}
	if kind := group.doc.Text("networkEndpointType"); kind != "" && kind != "GCE_VM_IP" {
		return nil, wire.Invalid(at+"group", b.Text("group"), "A network endpoint group of a passthrough load balancer must be of type GCE_VM_IP, not %s.", kind)
	}
	network := group.doc.Text("network")
	if doc.Has("network") && network != "" && network != doc.Text("network") {
		return nil, wire.Invalid(at+"group", b.Text("group"), "The group is in the network '%s', the backend service in '%s'.", network, doc.Text("network"))
	}
	return group, nil
}

// onceBalanced refuses a backend service that would put an instance into a
// second load balanced instance group. Source: Cloud Load Balancing
// documentation, instance groups, restrictions.
func (c *call) onceBalanced(self string, groups map[string]bool) error {
	balanced := map[string]bool{}
	for url := range groups {
		balanced[url] = true
	}
	c.st.each("backendServices", func(e *entry) bool {
		if e.ref.URL() != self {
			for _, b := range e.doc.Objects("backends") {
				balanced[b.Text("group")] = true
			}
		}
		return true
	})
	return c.memberOnce(balanced)
}

// memberOnce looks for an instance that is in two of the groups.
func (c *call) memberOnce(balanced map[string]bool) error {
	first := map[wire.Ref]string{}
	var failure error
	c.st.each("instanceGroups", func(g *entry) bool {
		if !balanced[g.ref.URL()] {
			return true
		}
		for _, m := range g.members {
			if other := first[m.instance]; other != "" {
				failure = twiceBalanced(m.instance, min(other, g.ref.Path()), max(other, g.ref.Path()))
				return false
			}
			first[m.instance] = g.ref.Path()
		}
		return true
	})
	return failure
}

func twiceBalanced(instance wire.Ref, one, two string) error {
	return &wire.Error{
		Status: 400, Reason: "instanceInMultipleLoadBalancedIgs", Code: "INSTANCE_IN_MULTIPLE_LOAD_BALANCED_IGS",
		Message: fmt.Sprintf("Validation failed for instance '%s': instance may belong to at most one load-balanced instance group, but is in '%s' and '%s'.", instance.Path(), one, two),
	}
}
