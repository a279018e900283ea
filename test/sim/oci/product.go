package oci

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// product is one of the two load balancing services. What they have in common is done
// once, and this is what they differ in.
type product struct {
	api, table, work string
	noun, what       string // in the names of operations, and in messages
	path, quota      string
	accepted         int // status of a change
	parts            []part
	create           schema // of the body that makes a load balancer
	update           schema // of the one that changes it
	place            func(v *visit, lb, body rest.Object) (rest.Object, error)
	move             func(v *visit, lb, body rest.Object) (rest.Object, error)
	limits           func(Limits) balancerLimits
}

// part is what a load balancer has several of, by name.
type part struct {
	key     string // in the load balancer
	name    string // the key of a part's own name
	op      string // in the names of operations
	body    schema // of one in the body of its load balancer, without its name
	update  schema // what may be changed; nil: nothing may
	patch   bool   // what a change leaves out stays
	prepare func(v *visit, lb rest.Object, o rest.Object) (rest.Object, error)
	used    func(lb rest.Object, name string) string // what uses it; empty: nothing does
	show    func(rest.Object) rest.Object
	label   prop // of the name
}

func newProducts() []product { return []product{classicProduct(), networkProduct()} }

func balancerRoutes() []route {
	var out []route
	for _, p := range newProducts() {
		item := p.path + "/{id}"
		out = append(out,
			rest.Reads(p.api, "List"+p.noun+"s", p.path, listOf(p.table, p.show, p.table == networkLBs, "displayName", lifecycle)),
			rest.Reads(p.api, "Get"+p.noun, item, readObject(p.table, p.what, p.show)),
			writeRoute(p.api, "Create"+p.noun, http.MethodPost, p.path, p.accepted, p.createOne),
			p.change("Update", p.noun, http.MethodPut, item, p.update, p.updateOne),
			p.change("Delete", p.noun, http.MethodDelete, item, nil, func(*visit, rest.Object, rest.Object) (rest.Object, error) { return nil, nil }),
			p.change("Update", "NetworkSecurityGroups", http.MethodPut, item+"/networkSecurityGroups", schema{"networkSecurityGroupIds": idsProp()}, setGroups),
		)
		for _, of := range p.parts {
			out = append(out, p.partRoutes(of, item+"/"+of.key)...)
		}
	}
	classic := classicProduct()
	shape := schema{"shapeName": textProp().must(), "shapeDetails": objectProp(bandwidthSchema())}
	return append(out, classic.change("Update", "LoadBalancerShape", http.MethodPut, classic.path+"/{id}/updateShape", shape, setShape))
}

// change returns a call that begins a work request on a load balancer. next returns the state
// that it leads to, nil if the load balancer is deleted. A call without a schema has no body.
func (p product) change(verb, noun, method, path string, body schema, next func(v *visit, lb, body rest.Object) (rest.Object, error)) route {
	return writeRoute(p.api, verb+noun, method, path, p.accepted, func(v *visit) (any, error) {
		lb, err := v.mutable(p)
		if err != nil {
			return nil, err
		}
		given := v.Body
		if body != nil {
			if given, err = body.read("", v.Body); err != nil {
				return nil, err
			}
		}
		to, err := next(v, lb, given)
		if err == nil {
			v.accept(p, p.operation(verb, noun), lb, to)
		}
		return nil, err
	})
}

// operation is a change as work requests name it.
// Source: API reference, WorkRequest.type and WorkRequest.operationType.
func (p product) operation(verb, noun string) string {
	if p.table == balancers {
		return verb + noun
	}
	words := map[string]string{"NetworkLoadBalancer": "NETWORK_LOAD_BALANCER", "NetworkSecurityGroups": "NSGS"}
	return strings.ToUpper(verb + "_" + cmp.Or(words[noun], noun))
}

// show is a load balancer as its service answers it.
func (p product) show(_ *state, lb rest.Object) rest.Object {
	out := lb.Without(etag)
	for _, of := range p.parts {
		if of.show == nil {
			continue
		}
		shown := rest.Object{}
		for name, o := range lb.Object(of.key) {
			one, _ := rest.AsObject(o)
			shown[name] = of.show(one)
		}
		out[of.key] = shown
	}
	return out
}

func (p product) createOne(v *visit) (any, error) {
	body, err := p.create.read("", v.Body)
	if err != nil {
		return nil, err
	}
	if _, ok := v.State.Get(compartments, body.Text("compartmentId")); !ok {
		return nil, notFound("compartment", body.Text("compartmentId"))
	}
	if body, err = v.checkTags(body); err != nil {
		return nil, err
	}
	lb := body.Only("compartmentId", "displayName", "freeformTags", "definedTags").With(rest.Object{
		"id": v.State.id(p.table), "timeCreated": formatTime(v.Time), "systemTags": rest.Object{}, "networkSecurityGroupIds": rest.Anys(body.Texts("networkSecurityGroupIds")),
	})
	if most, n := p.limits(v.cloud.opt.Limits).all, len(v.State.All(p.table, nil)); n >= most {
		return nil, tooMany(p.what+"s", most)
	}
	if lb, err = p.place(v, lb, body); err != nil {
		return nil, err
	}
	for _, of := range p.parts {
		if lb, err = v.fill(of, lb, body.Object(of.key)); err != nil {
			return nil, err
		}
	}
	if err := p.check(v, lb); err != nil {
		return nil, err
	}
	v.accept(p, p.operation("Create", p.noun), rest.Object{}, lb)
	if p.table == balancers {
		return nil, nil
	}
	made, _ := v.State.Get(p.table, lb.Text("id"))
	v.tag(made)
	return p.show(v.State, made), nil
}

// fill puts the parts of a body into a load balancer.
func (v *visit) fill(of part, lb, parts rest.Object) (rest.Object, error) {
	all := rest.Object{}
	for name, o := range parts {
		if _, err := of.label.read(of.key, name); err != nil {
			return nil, err
		}
		one, _ := rest.AsObject(o)
		if given := one.Text(of.name); given != "" && given != name {
			return nil, invalidParam("%s %s: its %s is %s", of.key, name, of.name, given)
		}
		prepared, err := of.prepare(v, lb, one.With(rest.Object{of.name: name}))
		if err != nil {
			return nil, err
		}
		all[name] = prepared
	}
	return lb.With(rest.Object{of.key: all}), nil
}

// check refuses a load balancer as a whole.
func (p product) check(v *visit, lb rest.Object) error {
	most, all := p.limits(v.cloud.opt.Limits), 0
	switch {
	case len(lb.Object("backendSets")) > most.sets:
		return tooMany("backendSets", most.sets)
	case len(lb.Object("listeners")) > most.listeners:
		return tooMany("listeners", most.listeners)
	}
	for _, set := range lb.Object("backendSets") {
		one, _ := rest.AsObject(set)
		n := len(one.List("backends"))
		if all += n; n > most.ofSet {
			return tooMany("backends of a backend set", most.ofSet)
		}
	}
	if all > most.backends {
		return tooMany("backends", most.backends)
	}
	return checkPorts(lb)
}

func (p product) updateOne(v *visit, lb, body rest.Object) (rest.Object, error) {
	next, err := v.checkTags(lb.With(body.Only("displayName", "freeformTags", "definedTags")))
	if err != nil {
		return nil, err
	}
	return p.move(v, next, body)
}

func setGroups(v *visit, lb, body rest.Object) (rest.Object, error) {
	ids := body.Texts("networkSecurityGroupIds")
	return lb.With(rest.Object{"networkSecurityGroupIds": rest.Anys(ids)}), v.checkGroups(ids, v.vcnOf(lb))
}

// vcnOf is the network that a load balancer is in.
func (v *visit) vcnOf(lb rest.Object) string {
	for _, id := range append(lb.Texts("subnetIds"), lb.Text("subnetId")) {
		if s, ok := v.State.Get(subnets, id); ok {
			return s.Text("vcnId")
		}
	}
	return ""
}
