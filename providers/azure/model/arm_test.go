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

// arm is Azure as bodies in memory: what the merges read and write. It holds
// writes to the rules of Azure that the merges have to keep.
type arm struct {
	t       testing.TB
	c       Config
	cluster string
	facts   Facts // zones, subnets, machines; the others are computed from the bodies
	lbs     map[string]Object
	nsg     Object
	pips    map[string]Object
	links   map[string]Object
	members map[stack.Key]stack.Resource // of pools of interfaces
	gateway GatewayLists
	nodes   []string
	asked   []string
	next    int
	writes  map[string]int
}

func newARM(t testing.TB, c Config, cluster string, facts Facts) *arm {
	nsg, _ := ParseObject([]byte(`{"name":"nsg","location":"westeurope","etag":"W/\"1\"","properties":{"securityRules":[]}}`))
	return &arm{
		t: t, c: c, cluster: cluster, facts: facts, nsg: nsg, lbs: map[string]Object{}, pips: map[string]Object{},
		links: map[string]Object{}, members: map[stack.Key]stack.Resource{}, writes: map[string]int{},
	}
}

// wire is what happens to a body on its way to Azure and back.
func (a *arm) wire(o Object) Object {
	a.t.Helper()
	out, err := ParseObject(o.Bytes())
	if err != nil {
		a.t.Fatal(err)
	}
	return out
}

func (a *arm) address(k stack.Key) string { return a.pips[k.Name].Props().Text("ipAddress") }

func (a *arm) newIP(version string, subnet string) string {
	a.next++
	switch {
	case subnet != "" && version == IPv6:
		return fmt.Sprintf("fd00::%x", 0x100+a.next)
	case subnet != "":
		return fmt.Sprintf("10.240.0.%d", 100+a.next)
	case version == IPv6:
		return fmt.Sprintf("2603:1020::%x", 0x100+a.next)
	}
	return fmt.Sprintf("20.0.%d.%d", a.next/250, 1+a.next%250)
}

// putLB completes a load balancer as Azure does, and refuses what it refuses.
func (a *arm) putLB(o Object) {
	a.t.Helper()
	o = a.wire(o)
	name := o.Text("name")
	id, p := a.c.BalancerID(name), o.Make("properties")
	o["id"] = id
	for _, list := range []string{ListFrontends, ListPools, ListRules, ListProbes} {
		items := p.List(list)
		for i, child := range items {
			child["id"] = id + "/" + list + "/" + child.Text("name")
			if Named(items, child.Text("name")) != i {
				a.t.Fatalf("%s/%s: %s is there twice", name, list, child.Text("name"))
			}
		}
	}
	for _, f := range p.List(ListFrontends) {
		if q := f.Props(); q.In("subnet") != nil && q.Text("privateIPAddress") == "" {
			q["privateIPAddress"] = a.newIP(q.Text("privateIPAddressVersion"), "s")
		}
	}
	ports := map[string]bool{}
	for _, r := range p.List(ListRules) {
		for field, list := range map[string]string{toFrontend: ListFrontends, toPool: ListPools, toProbe: ListProbes} {
			if ref := r.refName(field); (ref != "" || field == toFrontend) && Named(p.List(list), ref) < 0 {
				a.t.Fatalf("%s: rule %s refers to %s %q, which is not there", name, r.Text("name"), list, ref)
			}
		}
		port := fmt.Sprint(lowerCase(r.Ref(toFrontend)), r.Props().Text("protocol"), r.Props().number("frontendPort"))
		if ports[port] {
			a.t.Fatalf("%s: %s is there twice", name, port)
		}
		ports[port] = true
	}
	a.checkFrontends(a.lbs[lowerCase(name)], o)
	a.lbs[lowerCase(name)] = o
	a.checkIPs()
}

// checkFrontends fails the test where Azure refuses the frontends of a load balancer. Source:
// Azure Load Balancer, errors DeletingAllIpConfigsInLoadbalancerNotSupported and
// AtleastOneIpV4RequiredForIpV6LbFrontendIpConfiguration.
func (a *arm) checkFrontends(before, o Object) {
	a.t.Helper()
	list := o.Props().List(ListFrontends)
	if o.In("sku").Text("name") == SKUService { // it is of one Service, and may have IPv6 alone
		return
	}
	if len(list) == 0 && len(before.Props().List(ListFrontends)) > 0 {
		a.t.Fatalf("load balancer %s loses its last frontend", o.Text("name"))
	}
	four := func(f Object) bool { return isIPv4(frontendOf(f, a.address)) }
	if len(list) > 0 && !slices.ContainsFunc(list, four) {
		a.t.Fatalf("load balancer %s has frontends of IPv6 alone", o.Text("name"))
	}
}

func (a *arm) checkIPs() {
	seen := map[string]string{}
	for _, lb := range a.lbs {
		for _, f := range lb.Props().List(ListFrontends) {
			where := f.Text("id")
			for _, place := range []string{lowerCase(f.Ref("publicIPAddress")), f.Props().Text("privateIPAddress")} {
				if place == "" {
					continue
				}
				if other, taken := seen[place]; taken {
					a.t.Fatalf("%s is on %s and %s", place, other, where)
				}
				seen[place] = where
				if strings.Contains(place, "publicipaddresses") && a.pips[PublicIPKeyOf(place).Name] == nil {
					a.t.Fatalf("%s: %s does not exist", where, place)
				}
			}
		}
	}
}

// attached returns by the name of a public IP's key the frontend that it is on.
func (a *arm) attached() map[string]string {
	out := map[string]string{}
	for _, lb := range a.lbs {
		for _, f := range lb.Props().List(ListFrontends) {
			if id := f.Ref("publicIPAddress"); id != "" {
				out[PublicIPKeyOf(id).Name] = lowerCase(f.Text("id"))
			}
		}
	}
	return out
}

func (a *arm) read() *Facts {
	if a.c.PodIP() {
		return &Facts{NoGateway: a.gateway.Missing}
	}
	f := a.facts
	f.Security, f.Balancers, f.PublicIPs, f.Links = a.nsg != nil, nil, nil, nil
	for _, name := range slices.Sorted(maps.Keys(a.lbs)) {
		found := BalancerOf(a.lbs[name], a.address)
		found.Members = MembersOf(a.lbs[name])
		f.Balancers = append(f.Balancers, found)
	}
	attached := a.attached()
	for _, name := range slices.Sorted(maps.Keys(a.pips)) {
		found := PublicIPOf(a.pips[name])
		found.Attached = cmp.Or(attached[name], found.Attached)
		f.PublicIPs = append(f.PublicIPs, found)
	}
	for _, name := range slices.Sorted(maps.Keys(a.links)) {
		l := FoundLink{Group: GroupOf(a.links[name].Text("id")), Name: a.links[name].Text("name"), Tags: a.links[name].Tags()}
		for _, x := range a.links[name].Props().List("loadBalancerFrontendIpConfigurations") {
			l.Frontends = append(l.Frontends, FrontendOfID(x.Text("id")))
		}
		f.Links = append(f.Links, l)
	}
	return &f
}

// have is what a read brings for a Service.
func (a *arm) have(o stack.Owner) *stack.Stack {
	if a.c.PodIP() {
		return a.podsHave(o)
	}
	out := &stack.Stack{Owner: o}
	facts, base := a.read(), BaseName(o.UID)
	var all []Entries
	for _, name := range slices.Sorted(maps.Keys(a.lbs)) {
		if !ContainsFold(a.c.Balancers(a.cluster), name) {
			continue
		}
		lb := a.lbs[name]
		e, there := EntriesOf(a.c, lb, base, a.address)
		if there {
			all = append(all, e)
			out.Put(stack.Resource{Key: EntriesKey(name), ID: lb.Text("id"), In: BalancerKey(name), Proof: EntriesProof(a.c, lb, e, a.address), Spec: e})
		}
		for _, pool := range lb.Props().List(ListPools) {
			if a.c.FilledByOthers(KindOf(name)) {
				break
			}
			n := pool.Text("name")
			own := strings.EqualFold(n, LocalPoolName(o, "IPv4")) || strings.EqualFold(n, LocalPoolName(o, "IPv6"))
			if spec, ok := PoolSpecOf(a.c, lb, n); ok && (own || strings.EqualFold(n, a.cluster) || strings.EqualFold(n, a.cluster+SuffixIPv6)) {
				out.Put(stack.Resource{Key: PoolKey(name, n), In: BalancerKey(name), Ownership: stack.Shared, Proof: PoolProof(a.cluster, base, lb, n, there), Spec: spec})
			}
		}
		for _, m := range a.members {
			if m.In == BalancerKey(name) {
				m.Proof = PoolProof(a.cluster, base, lb, strings.Split(m.Key.Name, "/")[1], there)
				out.Put(m)
			}
		}
	}
	for i, name := range slices.Sorted(maps.Keys(a.pips)) { // facts has them in this order
		found := facts.PublicIPs[i]
		asked := slices.Contains(a.asked, found.Address) || slices.Contains(a.asked, LastSegment(name))
		for _, r := range PublicIPResources(a.pips[name], found, a.cluster, o, asked) {
			out.Put(r)
		}
	}
	who := SeekerOf(a.c, base, all, facts.Balancers, facts.PublicIPs, a.nodes, a.asked, o)
	for _, r := range AccessOf(a.c, a.nsg, who) {
		out.Put(r)
	}
	for _, l := range a.links {
		if by, _ := l.Tags().Get(TagOwner); by == ServiceKey(o) {
			out.Put(stack.Resource{Key: LinkKey(), ID: l.Text("id"), Proof: stack.Tag, Spec: LinkOf(l, facts.Balancers)})
		}
	}
	for _, s := range a.facts.Subnets {
		if s.PolicyDisabled {
			key := PolicyKey(a.c.NetworkGroup(), a.c.VNet, s.Name)
			out.Put(stack.Resource{Key: key, Ownership: stack.Shared, Spec: Policy{Group: a.c.NetworkGroup(), Network: a.c.VNet, Subnet: s.Name, Disabled: true}})
		}
	}
	out.Sort()
	return out
}

// apply does a batch as the I/O half does and returns the fault of each step.
func (a *arm) apply(b plan.Batch) map[int]error {
	a.t.Helper()
	kind, _, _ := strings.Cut(b.Steps[0].Batch, "/")
	a.writes[kind]++
	switch kind {
	case "lb":
		return a.applyLB(b)
	case "nsg":
		edit := MergeSecurity(a.c, a.nsg, b)
		if edit.Changed {
			a.nsg = a.wire(edit.Object)
		}
		return edit.Refused
	case "pip":
		return a.applyIP(b)
	case "gateway":
		return a.applyGateway(b)
	}
	switch spec := b.Steps[0].Target.Spec.(type) {
	case Container:
		return a.applyContainer(b.Steps[0], spec)
	case ContainerIP:
		return a.applyContainerIP(b.Steps[0], spec)
	}
	for _, s := range b.Steps {
		a.applyOne(s)
	}
	return nil
}

func (a *arm) applyLB(b plan.Batch) map[int]error {
	a.t.Helper()
	name := LastSegment(b.Steps[0].Batch)
	for _, s := range b.Steps {
		if e, ok := s.Target.Spec.(Entries); ok {
			name = e.Balancer
		}
	}
	version := func(k stack.Key) string { return a.pips[k.Name].Props().Text("publicIPAddressVersion") }
	edit := MergeBalancer(LBMerge{Config: a.c, Cluster: a.cluster, Name: name, Version: version}, a.lbs[lowerCase(name)], b)
	switch {
	case edit.Delete:
		for _, m := range a.members {
			if m.In == BalancerKey(name) {
				a.t.Fatalf("load balancer %s is deleted with members %s", name, m.Key)
			}
		}
		delete(a.lbs, lowerCase(name))
	case edit.Changed:
		edit.Object["name"] = cmp.Or(edit.Object.Text("name"), name)
		a.putLB(edit.Object)
	}
	for _, s := range b.Steps {
		spec, ok := s.Target.Spec.(Pool)
		if !ok || a.c.PoolType != PoolNodeIP {
			continue
		}
		pool, changed := MergePool(a.lbs[lowerCase(name)], spec.Name, b)
		if changed {
			pools := a.lbs[lowerCase(name)].Props().List(ListPools)
			pools[Named(pools, spec.Name)] = a.wire(pool)
			a.lbs[lowerCase(name)].Props().SetList(ListPools, pools)
		}
	}
	return edit.Refused
}

func (a *arm) applyIP(b plan.Batch) map[int]error {
	a.t.Helper()
	s := b.Steps[0]
	key := strings.TrimPrefix(s.Batch, "pip/")
	switch spec := s.Target.Spec.(type) {
	case PublicIP:
		if s.ID.Action == plan.Delete {
			a.release(key, s, b)
			return nil
		}
		if s.ID.Action == plan.Update {
			var fields []string
			for _, c := range s.Changes {
				fields = append(fields, c.Field)
			}
			a.pips[key] = a.wire(PublicIPUpdate(a.pips[key], spec, fields))
			return nil
		}
		if a.pips[key] != nil {
			return map[int]error{0: fault.New(fault.Exists, "%s", key)}
		}
		var binding *Binding
		for _, w := range s.With {
			x, _ := w.Spec.(Binding)
			binding = &x
		}
		o, err := PublicIPBody(a.c, spec, s.ID.Owner, binding)
		if err != nil {
			return map[int]error{0: err}
		}
		o["name"], o["id"] = spec.Name, a.c.PublicIPID(PublicIPKey(spec.Group, spec.Name))
		o.Props()["ipAddress"] = a.newIP(spec.Version, "")
		a.pips[key] = a.wire(o)
	case Binding:
		if s.ID.Action == plan.Delete {
			if a.shared(key, s, b) {
				o, _ := Unbound(a.pips[key], s.ID.Owner)
				a.pips[key] = a.wire(o)
			}
			return nil
		}
		o, err := Bound(a.pips[key], s.ID.Owner, spec)
		if err != nil {
			return map[int]error{0: err}
		}
		a.pips[key] = a.wire(o)
	}
	return nil
}

// shared reports whether other Services are named on the public IP or want it.
func (a *arm) shared(key string, s plan.Step, b plan.Batch) bool {
	_, remove := Unbound(a.pips[key], s.ID.Owner)
	entry := stack.Resource{Key: stack.Key{Kind: KindPublicIP, Name: key}, Ownership: stack.Shared, Spec: PublicIP{}}
	return !remove || len(b.Claims.Others(s.ID.Owner, entry)) > 0
}

func (a *arm) release(key string, s plan.Step, b plan.Batch) {
	if a.attached()[key] == "" && !a.shared(key, s, b) {
		delete(a.pips, key)
		return
	}
	o, _ := Unbound(a.pips[key], s.ID.Owner)
	a.pips[key] = a.wire(o)
}

func (a *arm) applyOne(s plan.Step) {
	switch spec := s.Target.Spec.(type) {
	case Link:
		key := lowerCase(spec.Group + "/" + spec.Name)
		if s.ID.Action == plan.Delete {
			delete(a.links, key)
			return
		}
		o := LinkBody(a.c, a.links[key], spec)
		o["name"], o["id"] = spec.Name, ARMID("sub", spec.Group, "privateLinkServices", spec.Name)
		a.links[key] = a.wire(o)
	case Policy:
		f := a.facts.Subnets[lowerCase(spec.Subnet)]
		f.PolicyDisabled = true
		a.facts.Subnets[lowerCase(spec.Subnet)] = f
	case NICs, ScaleSet:
		if s.ID.Action == plan.Delete {
			delete(a.members, s.ID.Key)
			return
		}
		a.members[s.ID.Key] = s.Target
	}
}
