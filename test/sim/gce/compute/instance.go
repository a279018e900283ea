package compute

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

func accessConfigs() wire.Field {
	return wire.Field{Type: wire.Nested, List: true, Fields: wire.Schema{
		"kind": {Output: true}, "name": {}, "type": {}, "natIP": {}, "networkTier": {}, "externalIpv6": {}, "externalIpv6PrefixLength": {Type: wire.Int},
	}}
}

func instances() *collection {
	return &collection{
		name: "instances", param: "instance", kind: "compute#instance", at: []string{"zone"}, aggregated: "instances",
		verbs: map[string][]string{"zone": {"insert", "delete", "setTags", "start", "stop"}}, print: "given",
		schema: common(wire.Schema{
			"machineType": {}, "status": {Output: true}, "canIpForward": {Type: wire.Truth}, "fingerprint": {Type: wire.Bytes},
			"hostname": {}, "labels": {Type: wire.Map}, "labelFingerprint": {Type: wire.Bytes},
			"tags": {Type: wire.Nested, Fields: wire.Schema{"items": {List: true}, "fingerprint": {Type: wire.Bytes}}},
			"metadata": {Type: wire.Nested, Fields: wire.Schema{
				"kind": {Output: true}, "fingerprint": {Type: wire.Bytes},
				"items": {Type: wire.Nested, List: true, Fields: wire.Schema{"key": {}, "value": {}}},
			}},
			"networkInterfaces": {Type: wire.Nested, List: true, Fields: wire.Schema{
				"kind": {Output: true}, "name": {}, "network": {}, "subnetwork": {}, "networkIP": {}, "stackType": {}, "fingerprint": {Output: true},
				"ipv6Address": {}, "ipv6AccessType": {Output: true}, "internalIpv6PrefixLength": {Type: wire.Int},
				"accessConfigs": accessConfigs(), "ipv6AccessConfigs": accessConfigs(),
				"aliasIpRanges": {Type: wire.Nested, List: true, Fields: wire.Schema{"ipCidrRange": {}, "subnetworkRangeName": {}}},
			}},
		}),
		finish: (*call).finishInstance,
		gone:   (*call).forgetInstance,
		extra: map[string]handler{
			"setTags": (*call).setTags,
			"start":   func(c *call) (wire.Object, error) { return nil, c.setStatus("RUNNING") },
			"stop":    func(c *call) (wire.Object, error) { return nil, c.setStatus("TERMINATED") },
		},
	}
}

// nic is the first interface of an instance, which all load balancing goes to.
func nic(instance wire.Object) wire.Object {
	list := instance.Objects("networkInterfaces")
	if len(list) == 0 {
		return wire.Object{}
	}
	return list[0]
}

func (c *call) finishInstance(_ *entry, doc wire.Object) error {
	list := doc.Objects("networkInterfaces")
	if len(list) == 0 {
		return wire.Invalid("resource.networkInterfaces", "", "At least one network interface is required.")
	}
	for i, n := range list {
		if err := c.finishInterface(fmt.Sprintf("resource.networkInterfaces[%d]", i), i, n); err != nil {
			return err
		}
	}
	for i, tag := range doc.Obj("tags").Strings("items") {
		if err := wire.CheckName(fmt.Sprintf("resource.tags.items[%d]", i), tag); err != nil {
			return err
		}
	}
	doc.Default("tags", wire.Object{})
	doc.Obj("tags")["fingerprint"] = wire.Object{"items": doc.Obj("tags")["items"]}.Fingerprint()
	doc.Default("machineType", wire.SelfBase+"projects/"+c.project()+"/"+c.scope()+"/machineTypes/e2-standard-4")
	doc["status"] = "RUNNING"
	return nil
}

func (c *call) finishInterface(at string, i int, n wire.Object) error {
	var network *entry
	var err error
	if n.Has("network") || !n.Has("subnetwork") {
		if network, err = c.network(n.Str("network"), at+".network"); err != nil {
			return err
		}
	}
	subnet, err := c.subnet(n.Str("subnetwork"), network, at+".subnetwork")
	if err != nil {
		return err
	}
	n["network"], n["subnetwork"] = subnet.doc.Str("network"), subnet.ref.URL()
	n["kind"] = "compute#networkInterface"
	n.Default("name", fmt.Sprintf("nic%d", i))
	n.Default("stackType", "IPV4_ONLY")
	ip := n.Str("networkIP")
	if ip == "" {
		if ip, err = c.takeInternal(subnet, 2); err != nil {
			return err
		}
	} else if addr, err := netip.ParseAddr(ip); err != nil || !inside(subnet, addr) {
		return wire.Invalid(at+".networkIP", ip, "Requested internal IP address is outside the network/subnetwork range.")
	} else if user := c.internalUser(subnet.doc.Str("network"), ip); user != "" {
		return wire.AddressInUse(ip, user)
	}
	n["networkIP"] = ip
	n["fingerprint"] = n.Fingerprint("fingerprint")
	return nil
}

func (c *call) setTags() (wire.Object, error) {
	e, err := c.find(c.target(instances()))
	if err != nil {
		return nil, err
	}
	if c.Body.Str("fingerprint") != e.doc.Obj("tags").Str("fingerprint") {
		return nil, wire.Condition("Supplied fingerprint does not match current metadata fingerprint.")
	}
	doc := e.doc.Clone()
	doc["tags"] = wire.Object{"items": wire.Texts(c.Body.Strings("items")...)}
	doc.Obj("tags")["fingerprint"] = doc.Obj("tags").Fingerprint()
	c.store(&entry{ref: e.ref, doc: doc})
	return nil, nil
}

func (c *call) setStatus(status string) error {
	e, err := c.find(c.target(instances()))
	if err != nil {
		return err
	}
	doc := e.doc.Clone()
	doc["status"] = status
	c.store(&entry{ref: e.ref, doc: doc})
	return nil
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

// health is how a health check sees an instance.
func health(st *state, ref wire.Ref) string {
	if e := st.get(ref); e != nil && e.doc.Str("status") == "RUNNING" {
		return "HEALTHY"
	}
	return "UNHEALTHY"
}
