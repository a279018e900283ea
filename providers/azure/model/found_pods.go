package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Fields of what a service gateway says. Source: Azure REST reference, service
// gateways (2025-05-01).
const (
	listGatewayPools = "loadBalancerBackendPools"
	fieldType        = "serviceType"
	fieldLocation    = "addressLocation"
	FieldAddresses   = "addresses"
	fieldAddress     = "address"
	FieldServices    = "services"
)

// PodWorld is what the lists show where pools are of pods, by names in lower case.
type PodWorld struct {
	balancers, ips, services map[string]Object
	pods                     map[string][]PodAddress // by service, sorted
}

// GatewayLists are what a service gateway knows, where pools are of pods.
type GatewayLists struct {
	Services, Locations []Object
	Missing             bool // there is no such gateway
}

// PodWorldOf is what the lists of load balancers, of public IPs of the group, and of
// the gateway show.
func PodWorldOf(balancers, ips []Object, gateway GatewayLists) PodWorld {
	w := PodWorld{balancers: keyByName(balancers), ips: keyByName(ips), services: keyByName(gateway.Services), pods: map[string][]PodAddress{}}
	for _, location := range gateway.Locations {
		at := Canonical(location.Text(fieldLocation))
		for _, address := range location.List(FieldAddresses) {
			place := PodAddress{Location: at, Address: Canonical(address.Text(fieldAddress))}
			for _, service := range address.Texts(FieldServices) {
				w.pods[lowerCase(service)] = append(w.pods[lowerCase(service)], place)
			}
		}
	}
	for _, list := range w.pods {
		slices.SortFunc(list, PodAddress.compare)
	}
	return w
}

func keyByName(list []Object) map[string]Object {
	out := make(map[string]Object, len(list))
	for _, o := range list {
		out[lowerCase(o.Text("name"))] = o
	}
	return out
}

// Stack is what a Service has.
func (w PodWorld) Stack(c Config, owner stack.Owner) *stack.Stack {
	out, uid := &stack.Stack{Owner: owner}, owner.UID
	name := ContainerName(uid)
	if o := w.balancers[name]; o != nil {
		out.Put(stack.Resource{Key: containerKey(uid), ID: o.Text("id"), Proof: stack.Name, State: StateOf(o), Spec: ContainerOf(c, o, uid)})
	}
	if o := w.ips[ContainerIPName(uid)]; o != nil {
		out.Put(stack.Resource{Key: containerIPKey(uid), ID: o.Text("id"), Proof: stack.Name, State: StateOf(o), Spec: ContainerIPOf(o)})
	}
	if o := w.services[name]; o != nil {
		// An entry of another type belongs to another owner, whatever its name.
		proof := stack.Name
		if !ServesInbound(o) {
			proof = stack.None
		}
		out.Put(stack.Resource{Key: registeredKey(uid), In: gatewayKey(c), Proof: proof, Spec: Registered{Group: c.Group, Gateway: GatewayName, Name: o.Text("name")}})
		if pool, ok := attachedOf(c, o, uid); ok && proof != stack.None {
			out.Put(stack.Resource{Key: attachedKey(uid), In: registeredKey(uid), Proof: stack.Derived, Spec: Attached{Pool: pool}})
		}
	}
	if list := slices.Compact(w.pods[name]); len(list) > 0 {
		r := podsResource(c, uid, list)
		r.Proof = stack.Name
		out.Put(r)
	}
	out.Sort()
	return out
}

// ContainerOf is a load balancer of one Service, as found.
func ContainerOf(c Config, lb Object, uid string) Container {
	out := Container{Group: GroupOf(lb.Text("id")), Name: lb.Text("name"), SKU: lb.In("sku").Text("name"), Trouble: TroubleOf(lb)}
	frontends := lb.Props().List(ListFrontends)
	if i := Named(frontends, containerFrontend); i >= 0 {
		id := frontends[i].Ref("publicIPAddress")
		out.PublicIP = stack.RefID(id)
		if SameID(id, c.ContainerIPID(ContainerIPName(uid))) {
			out.PublicIP = stack.RefTo(containerIPKey(uid))
		}
	}
	for _, r := range lb.Props().List(ListRules) {
		out.Rules = append(out.Rules, ruleOf(r))
	}
	slices.SortFunc(out.Rules, func(a, b Rule) int { return cmp.Compare(lowerCase(a.Name), lowerCase(b.Name)) })
	for _, p := range lb.Props().List(ListPools) {
		out.Pools = append(out.Pools, p.Text("name"))
	}
	return out
}

// ContainerIPOf is the public IP of such a load balancer, as found.
func ContainerIPOf(o Object) ContainerIP {
	f := PublicIPOf(o)
	return ContainerIP{Group: f.Group, Name: f.Name, Version: f.Version, Address: f.Address, SKU: f.SKU, Trouble: TroubleOf(o)}
}

// ServesInbound reports whether an entry of the gateway is for load balancers alone. A
// controller never creates an entry that outbound traffic uses as well. The official
// controller accepts types in any case.
func ServesInbound(service Object) bool {
	t := service.Props().Text(fieldType)
	return t == "" || strings.EqualFold(t, typeInbound)
}

// attachedOf is the pool of an entry; false if it has none.
func attachedOf(c Config, service Object, uid string) (stack.Ref, bool) {
	var ids []string
	for _, p := range service.Props().List(listGatewayPools) {
		ids = append(ids, p.Text("id"))
	}
	switch {
	case len(ids) == 0:
		return stack.Ref{}, false
	case len(ids) == 1 && SameID(ids[0], c.containerPoolID(ContainerName(uid))):
		return stack.RefTo(containerKey(uid)), true
	}
	return stack.RefID(strings.Join(ids, ",")), true
}
