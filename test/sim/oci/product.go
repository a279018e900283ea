package oci

import (
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// product is one of the two load balancing services. What they have in common is done
// once, and this is what they differ in.
type product struct {
	api, table, work string
	what             string // in messages
	path             string
	accepted         int // status of a change
	parts            []part
	create           schema // of the body that makes a load balancer
	update           schema // of the one that changes it
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
		noun := "LoadBalancer"
		if p.table == networkLBs {
			noun = "NetworkLoadBalancer"
		}
		item := p.path + "/{id}"
		out = append(out,
			rest.Reads(p.api, "List"+noun+"s", p.path, listOf(p.table, p.show, p.table == networkLBs, "displayName", lifecycle)),
			rest.Reads(p.api, "Get"+noun, item, readObject(p.table, p.what, p.show)),
			writeRoute(p.api, "Create"+noun, http.MethodPost, p.path, p.accepted, p.createOne),
			writeRoute(p.api, "Update"+noun, http.MethodPut, item, p.accepted, p.updateOne),
			writeRoute(p.api, "Delete"+noun, http.MethodDelete, item, p.accepted, p.deleteOne),
			writeRoute(p.api, "UpdateNetworkSecurityGroups", http.MethodPut, item+"/networkSecurityGroups", p.accepted, p.setGroups),
		)
		for _, of := range p.parts {
			out = append(out, p.partRoutes(of, item+"/"+of.key)...)
		}
	}
	return append(out, writeRoute(apiLB, "UpdateLoadBalancerShape", http.MethodPut, classicProduct().path+"/{id}/updateShape", classicProduct().accepted, setShape))
}

// operation is a change as work requests name it.
// Source: API reference, WorkRequest.type and WorkRequest.operationType.
func (p product) operation(verb, noun string) string {
	if p.table == balancers {
		return verb + noun
	}
	if noun == "LoadBalancer" {
		noun = "NETWORK_LOAD_BALANCER"
	}
	if noun == "NetworkSecurityGroups" {
		noun = "NSGS"
	}
	return strings.ToUpper(verb + "_" + noun)
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
	v.accept(p, p.operation("Create", "LoadBalancer"), rest.Object{}, lb)
	if p.table == balancers {
		return nil, nil
	}
	made, _ := v.State.Get(p.table, lb.Text("id"))
	v.Answer.Header.Set("Etag", made.Text(etag))
	return p.show(v.State, made), nil
}

// place gives a new load balancer its place in the network and its addresses.
func (p product) place(v *visit, lb, body rest.Object) (rest.Object, error) {
	if most, n := p.most(v), len(v.State.All(p.table, nil)); n >= most {
		return nil, tooMany(p.what+"s", most)
	}
	if p.table == balancers {
		return v.placeClassic(lb, body)
	}
	return v.placeNetwork(lb, body)
}

func (p product) most(v *visit) int {
	if p.table == balancers {
		return v.cloud.opt.Limits.LoadBalancers
	}
	return v.cloud.opt.Limits.NetworkLoadBalancers
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
	limits := v.cloud.opt.Limits
	most := map[string]int{"listeners": limits.Listeners, "backendSets": limits.BackendSets}
	if p.table == networkLBs {
		most = map[string]int{"listeners": limits.NetworkListeners, "backendSets": limits.NetworkBackendSets}
	}
	for _, key := range []string{"backendSets", "listeners"} {
		if len(lb.Object(key)) > most[key] {
			return tooMany(key, most[key])
		}
	}
	all := 0
	for _, set := range lb.Object("backendSets") {
		one, _ := rest.AsObject(set)
		all += len(one.List("backends"))
		if n := len(one.List("backends")); p.table == networkLBs && n > limits.NetworkBackends {
			return tooMany("backends of a backend set", limits.NetworkBackends)
		}
	}
	if p.table == balancers && all > limits.Backends {
		return tooMany("backends", limits.Backends)
	}
	return checkPorts(lb)
}

func (p product) updateOne(v *visit) (any, error) {
	lb, err := v.mutable(p)
	if err != nil {
		return nil, err
	}
	body, err := p.update.read("", v.Body)
	if err != nil {
		return nil, err
	}
	next, err := v.checkTags(lb.With(body.Only("displayName", "freeformTags", "definedTags")))
	if err != nil {
		return nil, err
	}
	if p.table == networkLBs {
		next, err = v.moveNetwork(next, body)
	} else {
		next, err = v.moveClassic(next, body)
	}
	if err != nil {
		return nil, err
	}
	v.accept(p, p.operation("Update", "LoadBalancer"), lb, next)
	return nil, nil
}

func (p product) deleteOne(v *visit) (any, error) {
	lb, err := v.mutable(p)
	if err != nil {
		return nil, err
	}
	v.accept(p, p.operation("Delete", "LoadBalancer"), lb, nil)
	return nil, nil
}

func (p product) setGroups(v *visit) (any, error) {
	lb, err := v.mutable(p)
	if err != nil {
		return nil, err
	}
	body, err := schema{"networkSecurityGroupIds": idsProp()}.read("", v.Body)
	if err != nil {
		return nil, err
	}
	if err := v.checkGroups(body.Texts("networkSecurityGroupIds"), v.vcnOf(lb)); err != nil {
		return nil, err
	}
	next := lb.With(rest.Object{"networkSecurityGroupIds": rest.Anys(body.Texts("networkSecurityGroupIds"))})
	v.accept(p, p.operation("Update", "NetworkSecurityGroups"), lb, next)
	return nil, nil
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
