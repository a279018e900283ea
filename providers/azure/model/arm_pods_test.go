package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// What the arm does where pools are of pods: it keeps the rules by which Azure
// refuses writes that come in the wrong order.

// gatewayWorld is a service gateway in a case's cloud.yaml, as Azure answers it.
type gatewayWorld struct {
	Services, Locations []map[string]any
	Missing             bool
}

func (a *arm) setGateway(w gatewayWorld) {
	a.gateway.Missing = w.Missing
	for _, o := range w.Services {
		a.gateway.Services = append(a.gateway.Services, a.wire(o))
	}
	for _, o := range w.Locations {
		a.gateway.Locations = append(a.gateway.Locations, a.wire(o))
	}
}

// PodWorld is what the lists of a read show.
func (a *arm) podWorld() PodWorld {
	return PodWorldOf(slices.Collect(maps.Values(a.lbs)), slices.Collect(maps.Values(a.pips)), a.gateway)
}

func (a *arm) applyContainer(s plan.Step, spec Container) map[int]error {
	a.t.Helper()
	uid := s.ID.Owner.UID
	id, name := a.c.ContainerID(ContainerName(uid)), ContainerName(uid)
	if s.ID.Action == plan.Delete {
		for _, service := range a.gateway.Services {
			for _, pool := range service.Props().List(listGatewayPools) {
				if strings.HasPrefix(lowerCase(pool.Text("id")), lowerCase(id)+"/") {
					return map[int]error{0: fault.New(fault.InUse, "load balancer %s: the gateway sends to it", name)}
				}
			}
		}
		delete(a.lbs, name)
		return nil
	}
	o := a.wire(ContainerBody(a.c, a.lbs[name], spec))
	o["name"], o["id"] = name, id
	for _, f := range o.Props().List(ListFrontends) {
		if a.pips[PublicIPKeyOf(f.Ref("publicIPAddress")).Name] == nil {
			a.t.Fatalf("load balancer %s: %s does not exist", name, f.Ref("publicIPAddress"))
		}
	}
	a.lbs[name] = o
	return nil
}

func (a *arm) applyContainerIP(s plan.Step, spec ContainerIP) map[int]error {
	a.t.Helper()
	id := a.c.ContainerIPID(ContainerIPName(s.ID.Owner.UID))
	key := PublicIPKeyOf(id).Name
	if s.ID.Action == plan.Delete {
		for _, lb := range a.lbs {
			for _, f := range lb.Props().List(ListFrontends) {
				if SameID(f.Ref("publicIPAddress"), id) {
					return map[int]error{0: fault.New(fault.InUse, "public IP %s: it is on %s", key, lb.Text("name"))}
				}
			}
		}
		delete(a.pips, key)
		return nil
	}
	if a.pips[key] == nil {
		o := a.wire(ContainerIPBody(a.c, spec))
		o["name"], o["id"] = ContainerIPName(s.ID.Owner.UID), id
		o.Props()["ipAddress"] = a.newIP(spec.Version, "")
		a.pips[key] = o
	}
	return nil
}

// applyGateway writes the requests of a batch, as Azure would, and checks that they
// come to what the merge says.
func (a *arm) applyGateway(b plan.Batch) map[int]error {
	a.t.Helper()
	services := MergeServices(a.c, a.gateway.Services, b)
	for _, r := range services.Requests {
		if err := a.updateService(a.wire(r)); err != nil {
			return map[int]error{0: err}
		}
	}
	a.same("services", services.After, a.gateway.Services)
	addresses := MergeAddresses(a.gateway.Locations, b)
	a.updateAddresses(addresses.Requests)
	a.same("locations", addresses.After, a.gateway.Locations)
	return services.Refused
}

func (a *arm) same(what string, want, got []Object) {
	a.t.Helper()
	text := func(list []Object) string {
		var out []string
		for _, o := range list {
			out = append(out, string(o.Bytes()))
		}
		slices.Sort(out)
		return strings.Join(out, "\n")
	}
	if w, g := text(want), text(got); w != g {
		a.t.Fatalf("%s after the call: want\n%s\ngot\n%s", what, w, g)
	}
}

func (a *arm) updateService(r Object) error {
	a.t.Helper()
	entry := r.In("service")
	name := entry.Text("name")
	i := Named(a.gateway.Services, name)
	if r.Flag("isDelete") {
		if pods := a.podWorld().pods[lowerCase(name)]; len(pods) > 0 || i < 0 || a.lbs[lowerCase(name)] != nil {
			return fault.New(fault.InUse, "service %s: index %d, pods %v, load balancer %t", name, i, pods, a.lbs[lowerCase(name)] != nil)
		}
		a.gateway.Services = slices.Delete(a.gateway.Services, i, i+1)
		return nil
	}
	for _, pool := range entry.Props().List(listGatewayPools) {
		lb := a.lbs[SegmentAfter(pool.Text("id"), "loadbalancers")]
		if lb == nil || Named(lb.Props().List(ListPools), LastSegment(pool.Text("id"))) < 0 {
			a.t.Fatalf("service %s: pool %s does not exist", name, pool.Text("id"))
		}
	}
	if i < 0 {
		a.gateway.Services = append(a.gateway.Services, entry)
		return nil
	}
	maps.Copy(a.gateway.Services[i].Make("properties"), entry.Props())
	return nil
}

func (a *arm) updateAddresses(requests []Object) {
	a.t.Helper()
	places := locationsOf(a.gateway.Locations)
	for _, r := range requests {
		r = a.wire(r)
		list := r.List(FieldAddresses)
		if r.Text("addressUpdateAction") != PartialUpdate || len(list) == 0 {
			a.t.Fatalf("a location without addresses, or no partial update, would delete others': %s", r.Bytes())
		}
		for _, address := range list {
			at := PodAddress{Location: r.Text(fieldLocation), Address: address.Text(fieldAddress)}
			places.services[at] = address.Texts(FieldServices)
			for _, s := range places.services[at] {
				if Named(a.gateway.Services, s) < 0 {
					a.t.Fatalf("address %v: service %s is not registered", at, s)
				}
			}
		}
	}
	a.gateway.Locations = places.edit().After
}

// showGateway is the gateway for people.
func (a *arm) showGateway(b *strings.Builder, show func(string, Object)) {
	for _, o := range slices.SortedFunc(slices.Values(a.gateway.Services), func(x, y Object) int { return cmp.Compare(x.Text("name"), y.Text("name")) }) {
		show("gateway service "+o.Text("name"), o)
	}
	for _, location := range a.gateway.Locations {
		fmt.Fprintf(b, "== gateway location %s\n", location.Text(fieldLocation))
		for _, address := range location.List(FieldAddresses) {
			fmt.Fprintf(b, "%s: %s\n", address.Text(fieldAddress), strings.Join(address.Texts(FieldServices), ", "))
		}
	}
}

// podsHave is what a read brings for a Service where pools are of pods.
func (a *arm) podsHave(o stack.Owner) *stack.Stack { return a.podWorld().Stack(a.c, o) }

// TestGatewayOfOthers verifies that entries of the gateway for outbound traffic and for
// other Services are unchanged by every edit.
func TestGatewayOfOthers(t *testing.T) {
	c := podConfig()
	owner := stack.Owner{Namespace: "shop", Name: "web", UID: "AAAA"}
	step := func(k stack.Key, action plan.Action, spec stack.Spec, found stack.Spec) plan.Step {
		return plan.Step{ID: plan.StepID{Owner: owner, Key: k, Action: action}, Target: stack.Resource{Key: k, Spec: spec}, Found: found}
	}
	services := []Object{
		{"name": "default-natgw", "properties": map[string]any{"isDefault": true, fieldType: "Outbound", "publicNatGatewayId": "/nat"}},
		{"name": "bbbb", "properties": map[string]any{fieldType: "inbound", listGatewayPools: []any{IDObject("/other")}}},
		{"name": "aaaa", "properties": map[string]any{fieldType: "inbound", "resourceGuid": "1", listGatewayPools: []any{}}},
	}
	attached := step(attachedKey("AAAA"), plan.Create, Attached{Pool: stack.RefTo(containerKey("AAAA"))}, nil)
	e := MergeServices(c, services, plan.Batch{Steps: []plan.Step{attached}})
	want := `{"isDelete":false,"service":{"name":"aaaa","properties":{"loadBalancerBackendPools":[{"id":"` + c.containerPoolID("aaaa") +
		`","name":"aaaa","properties":{"virtualNetwork":{"id":"` + c.networkID() + `"}}}],"serviceType":"Inbound"}}}`
	if len(e.Requests) != 1 || string(e.Requests[0].Bytes()) != want || len(e.After) != 3 || e.After[0].Props().Text("resourceGuid") != "1" {
		t.Errorf("attach: got\n%s\nwant\n%s\nafter %v", e.Requests, want, e.After)
	}
	e = MergeServices(c, e.After, plan.Batch{Steps: []plan.Step{attached}})
	if len(e.Requests) != 0 {
		t.Errorf("attached already: %s", e.Requests)
	}
	gone := plan.Batch{Steps: []plan.Step{step(attachedKey("AAAA"), plan.Delete, Attached{}, nil), step(registeredKey("AAAA"), plan.Delete, Registered{}, nil)}}
	e = MergeServices(c, e.After, gone)
	if len(e.Requests) != 1 || !e.Requests[0].Flag("isDelete") || len(e.After) != 2 {
		t.Errorf("delete: %s, after %v", e.Requests, e.After)
	}
	if e = MergeServices(c, e.After, gone); len(e.Requests) != 0 {
		t.Errorf("deleted already: %s", e.Requests)
	}
	services[2].Props()[fieldType] = "InboundOutbound"
	e = MergeServices(c, services, plan.Batch{Steps: append(gone.Steps, step(registeredKey("AAAA"), plan.Create, Registered{}, nil))})
	if fault.Of(e.Refused[2]) != fault.Exists || len(e.Requests) != 0 {
		t.Errorf("an entry of another type under our name: %v, %s", e.Refused, e.Requests)
	}
	locations := []Object{{fieldLocation: "FD00::1", FieldAddresses: []any{
		map[string]any{fieldAddress: "FD00:1::1", FieldServices: []any{"egress", "BBBB"}},
		map[string]any{fieldAddress: "fd00:1::2", FieldServices: []any{"AAAA"}},
		map[string]any{fieldAddress: "fd00:1::3", FieldServices: []any{"egress", "AAAA"}},
	}}}
	at := func(address string) PodAddress { return PodAddress{Location: "fd00::1", Address: address} }
	had := Pods{Addresses: []PodAddress{at("fd00:1::2"), at("fd00:1::3")}}
	e = MergeAddresses(locations, plan.Batch{Steps: []plan.Step{step(podsKey("AAAA"), plan.Update, Pods{Addresses: []PodAddress{at("fd00:1::1")}}, had)}})
	want = `{"addressLocation":"fd00::1","addressUpdateAction":"PartialUpdate","addresses":[` +
		`{"address":"fd00:1::1","services":["egress","BBBB","aaaa"]},{"address":"fd00:1::2","services":[]},{"address":"fd00:1::3","services":["egress"]}]}`
	if len(e.Requests) != 1 || string(e.Requests[0].Bytes()) != want {
		t.Errorf("update: got\n%s\nwant\n%s", e.Requests, want)
	}
	e = MergeAddresses(e.After, plan.Batch{Steps: []plan.Step{step(podsKey("AAAA"), plan.Delete, Pods{}, nil)}})
	want = `{"addressLocation":"fd00::1","addressUpdateAction":"PartialUpdate","addresses":[{"address":"fd00:1::1","services":["egress","BBBB"]}]}`
	if len(e.Requests) != 1 || string(e.Requests[0].Bytes()) != want {
		t.Errorf("delete: got\n%s\nwant\n%s", e.Requests, want)
	}
}

func podConfig() Config {
	c := testConfig()
	c.PoolType = poolPodIP
	return c
}
