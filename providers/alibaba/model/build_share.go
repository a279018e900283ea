package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

func attributesKey() stack.Key { return stack.Key{Kind: KindAttributes} }

// isExternal reports whether the Service uses a load balancer of others.
func (b *builder) isExternal() bool {
	key := balancerKey()
	if b.in.Kind == NLB {
		key = netBalancerKey()
	}
	lb, ok := b.out.Get(key)
	return ok && lb.Ownership == stack.External
}

// share uses an existing load balancer, and sets on it what the Service asks for.
func (b *builder) share(found Balancer, lb stack.Resource, live bool) {
	id := idKey.Get(b.in.Values)
	if !b.mayShare(lb, live, found.Tags) {
		return
	}
	b.out.Put(stack.Resource{Key: balancerKey(), ID: id, Ownership: stack.External, Spec: found})
	want := b.asked(map[string]string{TagReused: "true"})
	if _, _, given := ipVersionKey.Lookup(b.in.Values); !given {
		want.IPVersion = ""
	}
	if union := len(uniteTags(found.Tags, want.Tags)); union > mostTags {
		b.problems = append(b.problems, tagsKey.Warning(b.in.Values, fmt.Sprintf("would make %d tags of the load balancer, so none is added", union), fmt.Sprintf("at most %d tags", mostTags)))
		want.Tags = nil
	}
	b.keepLive(&want, found)
	b.out.Put(stack.Resource{Key: attributesKey(), In: balancerKey(), Spec: Balancer{
		Name: want.Name, ChargeType: want.ChargeType, Size: want.Size, TrafficCharge: want.TrafficCharge, Bandwidth: want.Bandwidth,
		DeleteProtection: want.DeleteProtection, ModificationProtection: want.ModificationProtection, Tags: want.Tags,
	}})
}

// uniteTags returns the entries of both maps.
func uniteTags(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

// refuseFormer refuses to leave a load balancer of others, on which parts of the Service would
// stay; false: there are none.
func (b *builder) refuseFormer(former stack.Resource) bool {
	if former.Key.Name == "" && !slices.ContainsFunc(b.have.Resources, func(r stack.Resource) bool {
		return r.In == former.Key && r.Proof != stack.None && r.Key.Kind != KindAttributes && r.Key.Kind != KindNetAttributes
	}) {
		return false
	}
	b.problems = append(b.problems, annotations.Problem{
		Key: idKey.Name, Value: idKey.Get(b.in.Values), Legal: former.ID,
		Message: "cannot change: the Service has listeners or servers on the load balancer " + former.ID + "; create a second Service, move the clients to it, and delete this one",
	})
	return true
}

// manages reports whether listeners are the Service's to write.
func (b *builder) manages() bool { return !b.isExternal() || overrideKey.Get(b.in.Values) }

// keepListeners keeps the Service's listeners as they are.
func (b *builder) keepListeners() {
	for _, r := range b.have.Resources {
		if slices.Contains([]stack.Kind{KindListener, KindDomain, KindNetListener}, r.Key.Kind) && r.Proof != stack.None && r.In.Name != FormerBalancer {
			b.out.Put(r)
		}
	}
}

// checkPorts judges annotations by port, beside the protocols.
func (b *builder) checkPorts() {
	v, known := b.in.Values, map[int32]bool{}
	for _, p := range b.in.Backends.Ports {
		known[p.Port] = true
	}
	b.reportPorts(groupPortsKey.Get(v), func(message string) annotations.Problem {
		return groupPortsKey.Warning(v, message, "ports of the Service")
	})
	given := forwardKey.Get(v)
	for _, port := range slices.Sorted(maps.Keys(given)) {
		switch protocol := protocolKey.Get(v)[port]; {
		case !known[port]:
			b.problems = append(b.problems, forwardKey.Warning(v, fmt.Sprintf("has the port %d, which the Service does not have", port), "ports of the Service"))
		case protocol != http:
			b.problems = append(b.problems, forwardKey.Warning(v, fmt.Sprintf("has no effect on the port %d, which is not one of HTTP", port), protocolKey.Name+" with http for it"))
		case !b.isSecure(given[port]):
			b.problems = append(b.problems, forwardKey.Refusal(v, fmt.Sprintf("redirects to the port %d, which has no listener of HTTPS", given[port]), "a port of the Service with https in "+protocolKey.Name))
		}
	}
}

// reportPorts reports ports of an annotation that the Service does not have.
func (b *builder) reportPorts(given map[int32]string, problem func(message string) annotations.Problem) {
	for _, port := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(b.in.Backends.Ports, func(p nodeports.ServicePort) bool { return p.Port == port }) {
			b.problems = append(b.problems, problem(fmt.Sprintf("has the port %d, which the Service does not have", port)))
		}
	}
}

// isSecure reports whether a port has a listener of HTTPS: one of the Service, or an existing one.
func (b *builder) isSecure(port int32) bool {
	if slices.ContainsFunc(b.have.Of(KindListener), func(r stack.Resource) bool {
		l, _ := r.Spec.(Listener)
		return r.Proof == stack.None && l.Port == port && l.Protocol == https
	}) {
		return true
	}
	for _, p := range b.in.Backends.Ports {
		if p.Port == port && protocolOf(b.in, p) == https {
			return true
		}
	}
	return false
}

// forwardOf returns what a port redirects to; zero: it does not.
func (b *builder) forwardOf(port int32, protocol string) stack.Ref {
	to, given := forwardKey.Get(b.in.Values)[port]
	if !given || protocol != http {
		return stack.Ref{}
	}
	for _, p := range b.in.Backends.Ports {
		if p.Port == to {
			return stack.RefTo(ListenerKey(https, to))
		}
	}
	return stack.RefID(fmt.Sprint(to))
}

// domains adds the further certificates of a listener. Those of a live listener stay without the
// annotation.
func (b *builder) domains(listener stack.Key, protocol string, port int32, used map[string]bool) {
	if protocol != https {
		return
	}
	given := domainsKey.Get(b.in.Values)
	used[domainsKey.Name] = used[domainsKey.Name] || len(given) > 0
	for _, name := range slices.Sorted(maps.Keys(given)) {
		b.out.Put(stack.Resource{Key: DomainKey(port, name), In: listener, Spec: Domain{Name: name, Certificate: given[name]}})
	}
}

// access judges the access control of a listener, and adds its lists. What the Service does not
// ask for stays as it is.
func (b *builder) access(want *Listener, existing Listener) {
	for _, name := range []string{paramAccess, paramLists, paramListType} {
		if _, given := want.Settings[name]; !given && existing.Settings[name] != "" && existing.Settings[paramAccess] == on {
			want.Settings[name] = existing.Settings[name]
		}
	}
	if want.Settings[paramAccess] != on {
		b.checkUnusedLists(existing)
		return
	}
	v, ids := b.in.Values, SplitIDs(want.Settings[paramLists])
	switch {
	case len(ids) == 0:
		b.problems = append(b.problems, accessKey.Refusal(v, "needs "+listsKey.Name, "the ids of access control lists"))
		return
	case want.Settings[paramListType] == "":
		b.problems = append(b.problems, accessKey.Refusal(v, "needs "+listTypeKey.Name, admitting+" or "+denying))
		return
	}
	entries := 0
	_, _, given := listsKey.Lookup(v)
	for _, id := range ids {
		list, ok := b.listOf(id)
		if !ok && !given {
			continue // it stays, and was not read since the listener was created
		}
		if !ok {
			b.problems = append(b.problems, listsKey.Refusal(v, "has "+id+", which is no access control list of this account and region", "ids of existing access control lists"))
			return
		}
		entries += len(list.Entries)
		b.out.Put(stack.Resource{Key: ListKey(id), ID: id, Ownership: stack.External, Spec: list})
	}
	if given && entries == 0 && want.Settings[paramListType] == admitting {
		p := listsKey.Refusal(v, "has no entries, and the cloud admits everyone by an empty list", "lists with entries")
		p.Taken = true // an entry can be added at any time
		b.problems = append(b.problems, p)
	}
}

// checkUnusedLists refuses lists of a new listener whose access control is not switched on: it would
// admit the clients that they exclude. A live listener is kept as it is.
func (b *builder) checkUnusedLists(existing Listener) {
	_, _, said := accessKey.Lookup(b.in.Values)
	if _, _, given := listsKey.Lookup(b.in.Values); given && !said && len(existing.Settings) == 0 {
		b.problems = append(b.problems, listsKey.Refusal(b.in.Values, "has no effect without "+accessKey.Name+", so clients that the lists exclude would be admitted", "a list with "+accessKey.Name+": "+on+", or with "+off+" to admit all"))
	}
}

// listOf returns an access control list as it was read.
func (b *builder) listOf(id string) (List, bool) {
	if list, ok := b.facts.Lists[id]; ok {
		return list, true
	}
	list, ok := stack.SpecOf[List](b.have, ListKey(id))
	return list, ok
}
