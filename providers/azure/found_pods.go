package azure

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
	fieldAddresses   = "addresses"
	fieldAddress     = "address"
	fieldServices    = "services"
)

// podWorld is what the lists show where pools are of pods, by names in lower case.
type podWorld struct {
	balancers, ips, services map[string]Object
	pods                     map[string][]PodAddress // by service, sorted
}

// gatewayLists are what a service gateway knows, where pools are of pods.
type gatewayLists struct {
	services, locations []Object
	missing             bool // there is no such gateway
}

// podWorldOf is what the lists of load balancers, of public IPs of the group, and of
// the gateway show.
func podWorldOf(balancers, ips []Object, gateway gatewayLists) podWorld {
	w := podWorld{balancers: keyed(balancers), ips: keyed(ips), services: keyed(gateway.services), pods: map[string][]PodAddress{}}
	for _, location := range gateway.locations {
		at := canonical(location.text(fieldLocation))
		for _, address := range location.list(fieldAddresses) {
			place := PodAddress{Location: at, Address: canonical(address.text(fieldAddress))}
			for _, service := range address.texts(fieldServices) {
				w.pods[lower(service)] = append(w.pods[lower(service)], place)
			}
		}
	}
	for _, list := range w.pods {
		slices.SortFunc(list, PodAddress.compare)
	}
	return w
}

func keyed(list []Object) map[string]Object {
	out := make(map[string]Object, len(list))
	for _, o := range list {
		out[lower(o.text("name"))] = o
	}
	return out
}

// stack is what a Service has.
func (w podWorld) stack(c Config, owner stack.Owner) *stack.Stack {
	out, uid := &stack.Stack{Owner: owner}, owner.UID
	name := containerName(uid)
	if o := w.balancers[name]; o != nil {
		out.Put(stack.Resource{Key: containerKey(uid), ID: o.text("id"), Proof: stack.Name, State: stateOf(o), Spec: containerOf(c, o, uid)})
	}
	if o := w.ips[containerIPName(uid)]; o != nil {
		out.Put(stack.Resource{Key: containerIPKey(uid), ID: o.text("id"), Proof: stack.Name, State: stateOf(o), Spec: containerIPOf(o)})
	}
	if o := w.services[name]; o != nil {
		// An entry of another type is somebody else's, whatever its name.
		proof := stack.Name
		if !servesInbound(o) {
			proof = stack.None
		}
		out.Put(stack.Resource{Key: registeredKey(uid), In: gatewayKey(c), Proof: proof, Spec: Registered{Group: c.Group, Gateway: gatewayName, Name: o.text("name")}})
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

// containerOf is a load balancer of one Service, as found.
func containerOf(c Config, lb Object, uid string) Container {
	out := Container{Group: groupOf(lb.text("id")), Name: lb.text("name"), SKU: lb.in("sku").text("name"), Trouble: troubleOf(lb)}
	frontends := lb.props().list(listFrontends)
	if i := named(frontends, containerFrontend); i >= 0 {
		id := frontends[i].ref("publicIPAddress")
		out.PublicIP = stack.RefID(id)
		if sameID(id, c.containerIPID(containerIPName(uid))) {
			out.PublicIP = stack.RefTo(containerIPKey(uid))
		}
	}
	for _, r := range lb.props().list(listRules) {
		out.Rules = append(out.Rules, ruleOf(r))
	}
	slices.SortFunc(out.Rules, func(a, b Rule) int { return cmp.Compare(lower(a.Name), lower(b.Name)) })
	for _, p := range lb.props().list(listPools) {
		out.Pools = append(out.Pools, p.text("name"))
	}
	return out
}

// containerIPOf is the public IP of such a load balancer, as found.
func containerIPOf(o Object) ContainerIP {
	f := publicIPOf(o)
	return ContainerIP{Group: f.Group, Name: f.Name, Version: f.Version, Address: f.Address, SKU: f.SKU, Trouble: troubleOf(o)}
}

// servesInbound tells whether an entry of the gateway is for load balancers alone:
// one by which traffic leaves as well is nothing that a controller makes. The
// official controller takes types in any case.
func servesInbound(service Object) bool {
	t := service.props().text(fieldType)
	return t == "" || strings.EqualFold(t, typeInbound)
}

// attachedOf is the pool of an entry; false if it has none.
func attachedOf(c Config, service Object, uid string) (stack.Ref, bool) {
	var ids []string
	for _, p := range service.props().list(listGatewayPools) {
		ids = append(ids, p.text("id"))
	}
	switch {
	case len(ids) == 0:
		return stack.Ref{}, false
	case len(ids) == 1 && sameID(ids[0], c.containerPoolID(containerName(uid))):
		return stack.RefTo(containerKey(uid)), true
	}
	return stack.RefID(strings.Join(ids, ",")), true
}
