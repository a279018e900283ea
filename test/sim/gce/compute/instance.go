package compute

import (
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// instanceCollection returns the collection of instances, which come with the seed and
// can be deleted.
func instanceCollection() *collection {
	return &collection{
		name: "instances", param: "instance", at: []string{"zone"},
		verbs: map[string][]string{"zone": {"delete"}}, print: "given",
		gone: (*call).forgetInstance,
		changes: map[string]func(*call, *entry) error{"stop": func(_ *call, e *entry) error {
			e.doc["status"] = "TERMINATED"
			return nil
		}},
	}
}

// firstInterface returns the first interface of an instance, which receives all
// load-balanced traffic.
func firstInterface(instance wire.Object) wire.Object {
	list := instance.Objects("networkInterfaces")
	if len(list) == 0 {
		return wire.Object{}
	}
	return list[0]
}

// forgetInstance takes a deleted instance out of its groups. Target pools keep
// the link. Source: target pools page of the load balancing documentation.
func (c *call) forgetInstance(e *entry) {
	for _, collection := range []string{"instanceGroups", "networkEndpointGroups"} {
		c.st.each(collection, func(g *entry) bool {
			var rest []member
			for _, m := range g.members {
				if m.instance != e.ref {
					rest = append(rest, m)
				}
			}
			if len(rest) < len(g.members) {
				out := *g
				out.members, out.doc = rest, g.doc.Clone()
				if out.doc.Has("fingerprint") {
					out.doc["fingerprint"] = out.contents()
				}
				// The collection stays the same; only the value behind the name changes.
				c.st.put(&out)
			}
			return true
		})
	}
}

// instance finds an instance by reference.
func (c *call) instance(text, field string) (*entry, error) {
	ref, err := wire.ParseRef(text, c.project(), "instances", field)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(ref.Scope, "zones/") {
		return nil, wire.Invalid(field, text, "The URL is malformed.")
	}
	return c.find(ref)
}

// instanceHealth returns the state of an instance as a health check reports it.
func instanceHealth(st *state, ref wire.Ref) string {
	if e := st.get(ref); e != nil && e.doc.Text("status") == "RUNNING" {
		return "HEALTHY"
	}
	return "UNHEALTHY"
}
