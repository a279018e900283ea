package compute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// maxEndpointsCall is how many endpoints one call attaches or detaches.
// Source: kubernetes/ingress-gce:pkg/neg/syncers/utils.go.
const maxEndpointsCall = 500

func networkEndpointGroups() *collection {
	return &collection{
		name: "networkEndpointGroups", param: "networkEndpointGroup", at: []string{"zone"},
		verbs: map[string][]string{"zone": {"insert", "delete"}},
		schema: withCommonFields(wire.Schema{
			"network": {}, "subnetwork": {}, "networkEndpointType": {Values: []string{"GCE_VM_IP", "GCE_VM_IP_PORT", "NON_GCP_PRIVATE_IP_PORT"}},
			"defaultPort": {Type: wire.Int}, "size": {Type: wire.Int, Output: true}, "annotations": {Type: wire.Map},
		}),
		finish: (*call).finishNEG,
		guard:  requireUnused(link{"backendServices", groupLinks}),
		show:   func(c *call, e *entry, doc wire.Object) { doc["size"] = float64(len(c.attached(e))) },
		quota:  func(wire.Object) string { return "NETWORK_ENDPOINT_GROUPS" },

		changes: map[string]func(*call, *entry) error{"attachNetworkEndpoints": (*call).attach, "detachNetworkEndpoints": (*call).detach},
		views:   map[string]func(*call, *entry) (wire.Object, error){"listNetworkEndpoints": (*call).listEndpoints},
	}
}

func (c *call) finishNEG(_ *entry, doc wire.Object) error {
	doc.Default("networkEndpointType", "GCE_VM_IP_PORT")
	doc["size"] = float64(0)
	kind := doc.Text("networkEndpointType")
	if kind == "NON_GCP_PRIVATE_IP_PORT" {
		return wire.Invalid("resource.networkEndpointType", kind, "The simulator has GCE_VM_IP and GCE_VM_IP_PORT.")
	}
	if kind == "GCE_VM_IP" && doc.Has("defaultPort") {
		return wire.Invalid("resource.defaultPort", doc.Num("defaultPort"), "A group of type GCE_VM_IP has no ports.")
	}
	subnet, err := c.subnetOf(doc)
	if err != nil {
		return err
	}
	doc["network"], doc["subnetwork"] = subnet.doc.Text("network"), subnet.ref.URL()
	return nil
}

// attached are the endpoints that do not drain.
func (c *call) attached(e *entry) []member {
	return slices.DeleteFunc(slices.Clone(e.members), func(m member) bool { return !m.leaves.IsZero() })
}

func (c *call) endpoints() ([]wire.Object, error) {
	body, err := wire.Schema{"networkEndpoints": {Type: wire.Nested, List: true, Fields: wire.Schema{
		"instance": {}, "ipAddress": {}, "ipv6Address": {}, "port": {Type: wire.Int}, "annotations": {Type: wire.Map},
	}}}.Clean(c.Body)
	if err != nil {
		return nil, err
	}
	list := body.Objects("networkEndpoints")
	if len(list) == 0 {
		return nil, wire.Required("resource.networkEndpoints")
	}
	if len(list) > maxEndpointsCall {
		return nil, wire.Invalid("resource.networkEndpoints", len(list), "At most %d network endpoints can be given at a time.", maxEndpointsCall)
	}
	return list, nil
}

// endpoint checks one endpoint and gives it the form that lists show: the bare
// name of the instance and its address.
func (c *call) endpoint(group *entry, at string, o wire.Object) (member, error) {
	name := o.Text("instance")
	ref := wire.Ref{Project: c.project(), Scope: c.scope(), Collection: "instances", Name: name}
	if strings.Contains(name, "/") {
		var err error
		if ref, err = wire.ParseRef(name, c.project(), "instances", at+".instance"); err != nil {
			return member{}, err
		}
	}
	if name == "" {
		return member{}, wire.Required(at + ".instance")
	}
	vm, err := c.find(ref)
	if err != nil {
		return member{}, err
	}
	n, found := nicIn(vm.doc, group.doc)
	switch {
	case vm.ref.Scope != c.scope():
		return member{}, wire.Invalid(at+".instance", name, "The instance must be in the zone of the network endpoint group.")
	case !found:
		return member{}, wire.Invalid(at+".instance", name, "The instance has no interface in the subnetwork of the network endpoint group.")
	}
	out := wire.Object{"instance": ref.Name, "ipAddress": o.Text("ipAddress")}
	if group.doc.Text("networkEndpointType") == "GCE_VM_IP" {
		if o.Has("port") && o.Num("port") != 0 {
			return member{}, wire.Invalid(at+".port", o.Num("port"), "An endpoint of a group of type GCE_VM_IP has no port.")
		}
		if ip := o.Text("ipAddress"); ip != "" && ip != n.Text("networkIP") {
			return member{}, wire.Invalid(at+".ipAddress", ip, "Must be the primary address of the instance in the subnetwork, %s.", n.Text("networkIP"))
		}
	} else {
		out["port"] = o.Num("port")
		if !o.Has("port") {
			out["port"] = group.doc.Num("defaultPort")
		}
		if err := checkRange(at+".port", out.Num("port"), 1, 65535); err != nil {
			return member{}, err
		}
	}
	if out.Text("ipAddress") == "" {
		out["ipAddress"] = n.Text("networkIP")
	}
	if ip := o.Text("ipv6Address"); ip != "" {
		out["ipv6Address"] = ip
	}
	if o.Has("annotations") {
		out["annotations"] = o["annotations"]
	}
	return member{instance: ref, endpoint: out}, nil
}

// nicIn is the interface of an instance that the group is about. Groups of
// GCE_VM_IP belong to a subnetwork, others to a network.
func nicIn(vm, group wire.Object) (wire.Object, bool) {
	for _, n := range vm.Objects("networkInterfaces") {
		if n.Text("network") == group.Text("network") && (group.Text("networkEndpointType") != "GCE_VM_IP" || n.Text("subnetwork") == group.Text("subnetwork")) {
			return n, true
		}
	}
	return nil, false
}

func sameEndpoint(a, b member) bool {
	return a.instance == b.instance && a.endpoint.Text("ipAddress") == b.endpoint.Text("ipAddress") && a.endpoint.Num("port") == b.endpoint.Num("port")
}

func (c *call) attach(group *entry) error {
	list, err := c.endpoints()
	if err != nil {
		return err
	}
	for i, o := range list {
		m, err := c.endpoint(group, fmt.Sprintf("resource.networkEndpoints[%d]", i), o)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(group.members, func(old member) bool { return sameEndpoint(old, m) })
		if at >= 0 {
			group.members[at] = m
			continue
		}
		group.members = append(group.members, m)
	}
	return nil
}

// detach takes endpoints out. If a backend service drains connections they stay
// in the list for a while.
func (c *call) detach(group *entry) error {
	list, err := c.endpoints()
	if err != nil {
		return err
	}
	drain := false
	for _, s := range c.users("backendServices", groupLinks, group.ref.URL()) {
		drain = drain || s.doc.Object("connectionDraining").Num("drainingTimeoutSec") > 0
	}
	for i, o := range list {
		name := o.Text("instance")[strings.LastIndex(o.Text("instance"), "/")+1:]
		at := slices.IndexFunc(group.members, func(m member) bool {
			return m.leaves.IsZero() && m.instance.Name == name && (!o.Has("ipAddress") || m.endpoint.Text("ipAddress") == o.Text("ipAddress")) &&
				m.endpoint.Num("port") == o.Num("port")
		})
		if at < 0 {
			return wire.Invalid(fmt.Sprintf("resource.networkEndpoints[%d]", i), name, "The network endpoint does not exist in the network endpoint group.")
		}
		if drain && c.api.opt.DrainingDelay > 0 {
			group.members[at].leaves = c.Now.Add(c.api.opt.DrainingDelay)
			continue
		}
		group.members = slices.Delete(group.members, at, at+1)
	}
	return nil
}

func (c *call) listEndpoints(e *entry) (wire.Object, error) {
	body, err := wire.Schema{
		"healthStatus":        {Values: []string{"SHOW", "SKIP"}},
		"endpointFilters":     {Type: wire.Nested, List: true, Fields: wire.Schema{}},
		"networkEndpointType": {},
	}.Clean(c.Body)
	if err != nil {
		return nil, err
	}
	services := c.users("backendServices", groupLinks, e.ref.URL())
	var docs []wire.Object
	for _, m := range e.members {
		if !m.leaves.IsZero() && !m.leaves.After(c.Now) {
			continue
		}
		doc := wire.Object{"networkEndpoint": m.endpoint.Clone()}
		if body.Text("healthStatus") == "SHOW" {
			doc["healths"] = c.endpointHealth(m, services)
		}
		docs = append(docs, doc.Prune())
	}
	out, err := c.listOf(e.ref.Path()+"/listNetworkEndpoints", "compute#networkEndpointGroupsListNetworkEndpoints", docs, func(o wire.Object) string {
		p := o.Object("networkEndpoint")
		return fmt.Sprintf("%s %s %v", p.Text("instance"), p.Text("ipAddress"), p.Num("port"))
	})
	// This list has no link to itself, unlike all others.
	delete(out, "selfLink")
	return out, err
}

func (c *call) endpointHealth(m member, services []*entry) []any {
	var out []any
	for _, s := range services {
		state := instanceHealth(c.st, m.instance)
		if !m.leaves.IsZero() {
			state = "DRAINING"
		}
		out = append(out, wire.Object{"backendService": wire.Object{"backendService": s.ref.URL()}, "healthState": state})
	}
	return out
}
