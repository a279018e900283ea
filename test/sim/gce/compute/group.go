package compute

import (
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// maxGroupInstances is how many instances an unmanaged group has at most.
// Source: Compute Engine documentation, unmanaged instance groups.
const maxGroupInstances = 2000

func namedPorts() wire.Field {
	return wire.Field{Type: wire.Nested, List: true, Fields: wire.Schema{"name": {}, "port": {Type: wire.Int}}}
}

func instanceGroups() *collection {
	return &collection{
		name: "instanceGroups", param: "instanceGroup", at: []string{"zone"},
		verbs: map[string][]string{"zone": {"insert", "delete"}}, print: "given",
		schema: withCommonFields(wire.Schema{
			"network": {}, "subnetwork": {}, "namedPorts": namedPorts(), "size": {Type: wire.Int, Output: true}, "fingerprint": {Type: wire.Bytes, Output: true},
		}),
		finish: func(c *call, _ *entry, doc wire.Object) error {
			doc["size"] = float64(0)
			if !doc.Has("network") {
				return nil
			}
			network, err := c.network(doc.Text("network"), "resource.network")
			if err == nil {
				doc["network"] = network.ref.URL()
			}
			return err
		},
		guard: requireUnused(link{"backendServices", groupLinks}),
		show:  func(_ *call, e *entry, doc wire.Object) { doc["size"] = float64(len(e.members)) },
		quota: func(wire.Object) string { return "INSTANCE_GROUPS" },

		changes: map[string]func(*call, *entry) error{"addInstances": (*call).addToGroup, "removeInstances": (*call).removeFromGroup},
		views:   map[string]func(*call, *entry) (wire.Object, error){"listInstances": (*call).listGroup},
	}
}

// groupLinks are the groups of a backend service.
func groupLinks(service wire.Object) []string {
	var out []string
	for _, b := range service.Objects("backends") {
		out = append(out, b.Text("group"))
	}
	return out
}

func (e *entry) hasInstance(ref wire.Ref) bool {
	return slices.ContainsFunc(e.members, func(m member) bool { return m.instance == ref })
}

// addToGroup adds instances of the zone. The first one decides the network.
func (c *call) addToGroup(group *entry) error {
	list, err := c.references("instances", "instance")
	if err != nil {
		return err
	}
	for i, text := range list {
		at := fmt.Sprintf("resource.instances[%d].instance", i)
		vm, err := c.instance(text, at)
		if err != nil {
			return err
		}
		if vm.ref.Scope != c.scope() {
			return wire.Invalid(at, text, "The instance must be in the zone of the group.")
		}
		if group.hasInstance(vm.ref) {
			return &wire.Error{
				Status: 400, Reason: "memberAlreadyExists", Code: "MEMBER_ALREADY_EXISTS",
				Message: fmt.Sprintf("Resource '%s' is already a member of '%s'.", vm.ref.Path(), group.ref.Path()),
			}
		}
		if err := joinNetwork(group.doc, vm, at, text); err != nil {
			return err
		}
		group.members = append(group.members, member{instance: vm.ref})
	}
	if len(group.members) > maxGroupInstances {
		return wire.QuotaExceeded("INSTANCES_PER_INSTANCE_GROUP", maxGroupInstances, "for '"+group.ref.Path()+"'")
	}
	return c.stillOnce(group)
}

// joinNetwork gives the group the network of its first instance and refuses others.
func joinNetwork(group wire.Object, vm *entry, at, text string) error {
	n := firstInterface(vm.doc)
	group.Default("network", n.Text("network"))
	if group.Text("network") != n.Text("network") {
		return wire.Invalid(at, text, "The instance is not in the network '%s' of the group.", group.Text("network"))
	}
	group.Default("subnetwork", n.Text("subnetwork"))
	return nil
}

// stillOnce checks the group as it will be, if it is load balanced.
func (c *call) stillOnce(group *entry) error {
	if len(c.users("backendServices", groupLinks, group.ref.URL())) == 0 {
		return nil
	}
	balanced := map[string]bool{}
	c.st.each("backendServices", func(e *entry) bool {
		for _, url := range groupLinks(e.doc) {
			balanced[url] = url != group.ref.URL()
		}
		return true
	})
	var failure error
	c.st.each("instanceGroups", func(g *entry) bool {
		if !balanced[g.ref.URL()] {
			return true
		}
		for _, m := range group.members {
			if g.hasInstance(m.instance) {
				failure = twiceBalanced(m.instance, g.ref.Path(), group.ref.Path())
			}
		}
		return failure == nil
	})
	return failure
}

func (c *call) removeFromGroup(group *entry) error {
	list, err := c.references("instances", "instance")
	if err != nil {
		return err
	}
	for i, text := range list {
		ref, err := wire.ParseRef(text, c.project(), "instances", fmt.Sprintf("resource.instances[%d].instance", i))
		if err != nil {
			return err
		}
		if !group.hasInstance(ref) {
			return wire.NotFound(ref.Path())
		}
		group.members = slices.DeleteFunc(group.members, func(m member) bool { return m.instance == ref })
	}
	return nil
}

func (c *call) listGroup(e *entry) (wire.Object, error) {
	body, err := wire.Schema{"instanceState": {Values: []string{"ALL", "RUNNING"}}}.Clean(c.Body)
	if err != nil {
		return nil, err
	}
	var docs []wire.Object
	for _, m := range e.members {
		status := "TERMINATED"
		if vm := c.st.get(m.instance); vm != nil {
			status = vm.doc.Text("status")
		}
		if body.Text("instanceState") == "RUNNING" && status != "RUNNING" {
			continue
		}
		docs = append(docs, wire.Object{"instance": m.instance.URL(), "status": status, "namedPorts": e.doc["namedPorts"]}.Clone().Prune())
	}
	return c.listOf(e.ref.Path()+"/listInstances", "compute#instanceGroupsListInstances", docs, func(o wire.Object) string { return o.Text("instance") })
}
