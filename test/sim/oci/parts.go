package oci

import (
	"fmt"
	"net/http"

	"github.com/berth-lb/berth/test/sim/rest"
)

// partRoutes are the calls for the parts of one sort.
func (p product) partRoutes(of part, path string) []route {
	item := path + "/{name}"
	out := []route{
		p.change("Create", of.op, http.MethodPost, path, of.body.with(schema{of.name: of.label}), func(v *visit, lb, o rest.Object) (rest.Object, error) {
			name := o.Text(of.name)
			if lb.Object(of.key)[name] != nil {
				return nil, alreadyExists("%s %s has %s %q already", p.what, lb.Text("id"), of.op, name)
			}
			return p.put(v, of, lb, name, o)
		}),
		p.change("Delete", of.op, http.MethodDelete, item, nil, func(v *visit, lb, _ rest.Object) (rest.Object, error) { return of.drop(lb, v.Params["name"]) }),
	}
	if of.update != nil {
		out = append(out, p.change("Update", of.op, http.MethodPut, item, nil, func(v *visit, lb, _ rest.Object) (rest.Object, error) { return p.setPart(v, of, lb) }))
	}
	if of.key == "certificates" {
		out = append(out, rest.Reads(p.api, "ListCertificates", path, func(v *visit) (any, error) { return p.listParts(v, of) }))
	}
	return out
}

func (p product) listParts(v *visit, of part) (any, error) {
	lb, ok := v.State.Get(p.table, v.Params["id"])
	if !ok {
		return nil, notFound(p.what, v.Params["id"])
	}
	out := []rest.Object{}
	for name := range lb.Object(of.key) {
		out = append(out, of.show(lb.Object(of.key).Object(name)))
	}
	return out, nil
}

func (p product) setPart(v *visit, of part, lb rest.Object) (rest.Object, error) {
	name := v.Params["name"]
	old := lb.Object(of.key).Object(name)
	if old == nil {
		return nil, notFound(of.op, name)
	}
	o, err := of.update.read("", v.Body)
	if err != nil {
		return nil, err
	}
	if of.patch {
		o = old.With(o)
	}
	return p.put(v, of, lb, name, o.With(rest.Object{of.name: name}))
}

// put returns the load balancer with a part, new or changed.
func (p product) put(v *visit, of part, lb rest.Object, name string, o rest.Object) (rest.Object, error) {
	o, err := of.prepare(v, lb, o)
	if err != nil {
		return nil, err
	}
	next := lb.With(rest.Object{of.key: lb.Object(of.key).With(rest.Object{name: o})})
	return next, p.check(v, next)
}

func (of part) drop(lb rest.Object, name string) (rest.Object, error) {
	if lb.Object(of.key).Object(name) == nil {
		return nil, notFound(of.op, name)
	}
	if of.used != nil {
		if user := of.used(lb, name); user != "" {
			return nil, invalidParam("%s %q is in use by %s", of.op, name, user)
		}
	}
	return lb.With(rest.Object{of.key: lb.Object(of.key).Without(name)}), nil
}

// usedBy gives the name of a listener or backend set whose value at a path is a name.
func usedBy(lb rest.Object, keys []string, path func(rest.Object) []string, name string) string {
	for _, key := range keys {
		for user := range lb.Object(key) {
			for _, used := range path(lb.Object(key).Object(user)) {
				if used == name {
					return key + " " + user
				}
			}
		}
	}
	return ""
}

// checkPorts refuses listeners that would answer at the same port.
// Sources: API reference, Listener: port and protocol must be unique, and of HTTP listeners
// the hostnames too; network load balancers: for each IP version.
func checkPorts(lb rest.Object) error {
	seen := map[string]string{}
	for name := range lb.Object("listeners") {
		l := lb.Object("listeners").Object(name)
		if len(l.List("hostnameNames")) > 0 {
			continue
		}
		port, _ := l.Number("port")
		for _, protocol := range transportProtocols(l.Text("protocol")) {
			at := listenerKey(l.Text("ipVersion"), protocol, port)
			if other := seen[at]; other != "" {
				return alreadyExists("listeners %q and %q have the same port %d", name, other, port)
			}
			seen[at] = name
		}
	}
	return nil
}

func listenerKey(version, protocol string, port int) string {
	return fmt.Sprintf("%s %s %d", version, protocol, port)
}

// transportProtocols returns the transport protocols of a listener.
func transportProtocols(protocol string) []string {
	switch protocol {
	case "UDP":
		return []string{"UDP"}
	case "TCP_AND_UDP", "ANY":
		return []string{"TCP", "UDP"}
	}
	return []string{"TCP"}
}
