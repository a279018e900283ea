package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// ContainerIPBody is a new public IP of a Container. Zones are left to Azure, as
// the official controller does.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/resource_helpers.go.
func ContainerIPBody(c Config, spec ContainerIP) Object {
	return Object{
		"location": c.Location, "sku": map[string]any{"name": wireStandardV2},
		"properties": map[string]any{"publicIPAllocationMethod": "Static", "publicIPAddressVersion": spec.Version},
	}
}

// ContainerBody merges a Container into the load balancer as read; nil: it does not exist.
// Frontend, rules and pool are the Service's; tags and all other content are sent back
// unchanged. The pool is sent without members, which are the gateway's.
// Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/resource_helpers.go.
func ContainerBody(c Config, found Object, spec Container) Object {
	o := found.Clone()
	if o == nil {
		o = Object{"location": c.Location, "sku": map[string]any{"name": SKUService}}
		o.Make("properties")["scope"] = "Public"
	}
	p, id := o.Make("properties"), c.ContainerID(spec.Name)
	frontend := Object{"name": containerFrontend, "properties": map[string]any{"publicIPAddress": IDObject(c.ContainerIPID(spec.PublicIP.To.Name))}}
	p.SetList(ListFrontends, putPart(p.List(ListFrontends), frontend, func(had Object) bool { return SameID(had.Ref("publicIPAddress"), frontend.Ref("publicIPAddress")) }))
	pools := p.List(ListPools)
	for _, name := range spec.Pools {
		pools = putPart(pools, Object{"name": name, "properties": map[string]any{}}, func(Object) bool { return false })
	}
	p.SetList(ListPools, pools)
	var rules []Object
	for _, r := range spec.Rules {
		rules = append(rules, containerRule(id, r))
	}
	p.SetList(ListRules, rules)
	return o
}

// putPart puts a part where one of its name is, unless that one will do; else at
// the end.
func putPart(list []Object, part Object, good func(Object) bool) []Object {
	i := Named(list, part.Text("name"))
	switch {
	case i < 0:
		return append(list, part)
	case !good(list[i]):
		list[i] = part
	}
	return list
}

func containerRule(lb string, r Rule) Object {
	props := Object{
		"protocol": r.Protocol, "frontendPort": jsonNumber(r.FrontendPort), "backendPort": jsonNumber(r.BackendPort),
		"enableFloatingIP": false, "idleTimeoutInMinutes": jsonNumber(r.IdleTimeout),
		toFrontend: IDObject(lb + "/" + ListFrontends + "/" + r.Frontend), toPool: IDObject(lb + "/" + ListPools + "/" + r.Pool),
	}
	if r.TCPReset {
		props["enableTcpReset"] = true
	}
	return Object{"name": r.Name, "properties": map[string]any(props)}
}

// GatewayEdit is what steps make of one of a gateway's lists.
type GatewayEdit struct {
	Requests []Object      // what is to be sent; none: nothing changes
	After    []Object      // the list as it is then
	Refused  map[int]error // by step
}

// MergeServices puts the registrations of all steps of a batch onto the services of
// the gateway as just read. Requests are about our own entries only and say no more
// than type and pool: what an update does not name stays as it is.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/azure_operations.go.
func MergeServices(c Config, found []Object, b plan.Batch) GatewayEdit {
	e := GatewayEdit{Refused: map[int]error{}}
	now, changed := keyByName(found), map[string]bool{}
	for i, s := range b.Steps {
		if s.ID.Key.Kind != KindRegistered && s.ID.Key.Kind != KindAttached {
			continue
		}
		name := ContainerName(s.ID.Owner.UID)
		had := now[name]
		if had != nil && !ServesInbound(had) {
			if s.ID.Action != plan.Delete {
				e.Refused[i] = fault.New(fault.Exists, "service %s of the service gateway: exists and is of the type %s", name, had.Props().Text(fieldType))
			}
			continue
		}
		if entry, ok := registerService(c, had, name, s); ok {
			now[name], changed[name] = entry, true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		e.Requests = append(e.Requests, Object{"isDelete": now[name] == nil, "service": map[string]any(newRegistration(name, now[name].Props().List(listGatewayPools)))})
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if now[name] != nil {
			e.After = append(e.After, now[name])
		}
	}
	return e
}

// registerService returns the entry after a step, nil if it is deleted; false if the step
// changes nothing.
func registerService(c Config, had Object, name string, s plan.Step) (Object, bool) {
	entry := had.Clone()
	switch {
	case s.ID.Action == plan.Delete && (had == nil || s.ID.Key.Kind == KindRegistered):
		return nil, had != nil
	case s.ID.Action == plan.Delete:
		entry.Make("properties").SetList(listGatewayPools, nil)
		return entry, len(had.Props().List(listGatewayPools)) > 0
	case entry == nil:
		entry = newRegistration(name, nil)
	}
	attaches := s.ID.Key.Kind == KindAttached || slices.ContainsFunc(s.With, func(r stack.Resource) bool { return r.Key.Kind == KindAttached })
	if attaches && !isAttached(c, entry, name) {
		id := c.containerPoolID(name)
		entry.Make("properties").SetList(listGatewayPools, []Object{{
			"id": id, "name": name, "properties": map[string]any{"virtualNetwork": IDObject(c.networkID())},
		}})
		return entry, true
	}
	return entry, had == nil
}

// newRegistration returns the complete body of an entry.
func newRegistration(name string, pools []Object) Object {
	props := Object{fieldType: typeInbound}
	props.SetList(listGatewayPools, pools)
	return Object{"name": name, "properties": map[string]any(props)}
}

// isAttached reports whether an entry has the pool of its load balancer and nothing else.
func isAttached(c Config, service Object, name string) bool {
	pool, _ := attachedOf(c, service, name)
	return pool == stack.RefTo(containerKey(name))
}

// MergeAddresses merges the pods of all steps of a batch into the locations of the gateway
// as just read. For every changed address the request has the whole list of services, so
// that the services of others are retained; unchanged addresses are not sent. It is a
// partial update throughout: an address without services is deleted, and nothing else is.
// Source: Azure REST reference, service gateways, update address locations.
func MergeAddresses(found []Object, b plan.Batch) GatewayEdit {
	w := locationsOf(found)
	for _, s := range b.Steps {
		spec, ok := s.Target.Spec.(Pods)
		if !ok {
			continue
		}
		name := ContainerName(s.ID.Owner.UID)
		if s.ID.Action == plan.Delete {
			w.leaveAll(name)
			continue
		}
		for _, a := range removedPlaces(s) {
			w.leave(a, name)
		}
		for _, a := range spec.Addresses {
			w.enter(a, name)
		}
	}
	return w.edit()
}

// removedPlaces returns the places that an update removes.
func removedPlaces(s plan.Step) []PodAddress {
	had, _ := s.Found.(Pods)
	want, _ := s.Target.Spec.(Pods)
	return slices.DeleteFunc(slices.Clone(had.Addresses), func(a PodAddress) bool {
		_, stays := slices.BinarySearchFunc(want.Addresses, a, PodAddress.compare)
		return stays
	})
}

// locations are those of a gateway: services by address and location.
type locations struct {
	services map[PodAddress][]string
	changed  map[PodAddress]bool
}

func locationsOf(found []Object) locations {
	w := locations{services: map[PodAddress][]string{}, changed: map[PodAddress]bool{}}
	for _, location := range found {
		for _, a := range location.List(FieldAddresses) {
			at := PodAddress{Location: Canonical(location.Text(fieldLocation)), Address: Canonical(a.Text(fieldAddress))}
			w.services[at] = append(w.services[at], a.Texts(FieldServices)...)
		}
	}
	return w
}

func (w locations) enter(a PodAddress, service string) {
	if !ContainsFold(w.services[a], service) {
		w.services[a], w.changed[a] = append(slices.Clone(w.services[a]), service), true
	}
}

func (w locations) leave(a PodAddress, service string) {
	if ContainsFold(w.services[a], service) {
		w.changed[a] = true
		w.services[a] = slices.DeleteFunc(slices.Clone(w.services[a]), func(s string) bool { return strings.EqualFold(s, service) })
	}
}

func (w locations) leaveAll(service string) {
	for a := range w.services {
		w.leave(a, service)
	}
}

func (w locations) edit() GatewayEdit {
	var e GatewayEdit
	all := slices.SortedFunc(maps.Keys(w.services), PodAddress.compare)
	entry := func(a PodAddress) Object {
		o := Object{fieldAddress: a.Address}
		o.SetTexts(FieldServices, w.services[a])
		return o
	}
	e.Requests = byLocation(all, entry, func(a PodAddress) bool { return w.changed[a] })
	for _, r := range e.Requests {
		r["addressUpdateAction"] = PartialUpdate
	}
	e.After = byLocation(all, entry, func(a PodAddress) bool { return len(w.services[a]) > 0 })
	return e
}

// PartialUpdate leaves alone what a request does not name.
const PartialUpdate = "PartialUpdate"

// byLocation groups addresses, which are sorted by location.
func byLocation(all []PodAddress, entry func(PodAddress) Object, which func(PodAddress) bool) []Object {
	var out []Object
	var list []Object
	for i, a := range all {
		if which(a) {
			list = append(list, entry(a))
		}
		if last := i+1 == len(all) || all[i+1].Location != a.Location; last && len(list) > 0 {
			o := Object{fieldLocation: a.Location}
			o.SetList(FieldAddresses, list)
			out, list = append(out, o), nil
		}
	}
	return out
}
