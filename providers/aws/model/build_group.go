package model

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// membership finds out whose the load balancer is. What the one of a group is like is the
// say of the oldest Service that has a part of it.
func (f *controlled) membership() {
	adopted := adoptKey.Get(f.in.Values)
	f.ofGroup, f.adopts = placeOf(f.in.Owner.Namespace, groupKey.Get(f.in.Values), adopted), adopted != ""
	f.balancer = networkKey()
	if f.ofGroup == "" {
		have, exists := f.found(f.balancer)
		f.exists = exists
		f.old, _ = have.Spec.(Network)
		return
	}
	f.balancer = SharedNetworkKey(f.ofGroup)
	have, exists := f.have.Get(f.balancer)
	f.exists = exists
	f.old, _ = have.Spec.(Network)
	if f.adopts {
		f.adopt(adopted)
		return
	}
	me := GroupMember{Service: ServiceName(f.in.Owner), Created: f.in.Service.CreationTimestamp.Unix()}
	if len(f.old.Members) > 0 && f.old.Members[0].Compare(me) < 0 {
		f.leader = f.old.Members[0].Service
	}
	if _, from, said := nameKey.Lookup(f.in.Values); said {
		f.report(warnAbout(from, "has no effect: the load balancer is that of the group "+f.ofGroup+", which names it", "")...)
	}
}

// Compare orders members by age, equally old ones by name.
func (m GroupMember) Compare(o GroupMember) int {
	return cmp.Or(cmp.Compare(m.Created, o.Created), cmp.Compare(m.Service, o.Service))
}

func (f *controlled) created() string {
	return strconv.FormatInt(f.in.Service.CreationTimestamp.Unix(), 10)
}

// putBalancer wants the load balancer, as the Service's own or as one of the group.
func (f *controlled) putBalancer(spec Network) {
	r := stack.Resource{Key: f.balancer, Spec: spec}
	if f.adopts {
		r.Ownership, r.ID = stack.External, f.facts.Given[f.ofGroup].ARN
	} else if f.ofGroup != "" {
		spec.Members = nil
		r.Ownership, r.Spec = stack.Shared, spec
	}
	f.out.Put(r)
}

// groupNameOf is the name of a port's target group; a Service that moves between load
// balancers has two of a port for a while.
func (f *controlled) groupNameOf(p lbcPort, group TargetGroup) string {
	owner := f.ownerOf(p)
	name := lbcTargetGroupName(f.in.Cluster, owner, p.Port, group)
	if f.ofGroup != "" {
		name = shortNames(owner) + shortHash(name, " on ", f.ofGroup)
	}
	return name
}

// commonFront is the security group by which clients of all members come in.
func (f *controlled) commonFront() stack.Ref {
	key := FrontKey(f.ofGroup)
	f.out.Put(stack.Resource{Key: key, Ownership: stack.Shared, Spec: Group{
		Name: FrontName(f.in.Cluster, f.ofGroup), Description: ManagedGroupDescription, VPC: f.facts.VPC, Tags: f.tagged(resourceGroup),
	}})
	return stack.RefTo(key)
}

// keepFront wants the groups of a load balancer that is as another member has it.
func (f *controlled) keepFront() {
	f.groups = f.old.Groups
	for _, ref := range f.old.Groups {
		switch ref.To {
		case FrontKey(f.ofGroup):
			f.commonFront()
		case sharedGroupKey(f.in.Cluster):
			f.sharedGroup()
		}
	}
}

// frontEntries let the Service's own clients in to its own ports. A rule is created only
// with its listener, because the port may be another member's.
func (f *controlled) frontEntries() {
	front := FrontKey(f.ofGroup)
	if f.ofGroup == "" || f.adopts || !slices.Contains(f.groups, stack.RefTo(front)) {
		return
	}
	listeners := map[int32]stack.Ref{}
	for _, r := range f.out.Of(KindListener) {
		if l, ok := r.Spec.(Listener); ok {
			listeners[l.Port] = stack.RefTo(r.Key)
		}
	}
	for _, p := range f.frontRules() {
		ref, served := listeners[p.FromPort]
		if isPing := strings.HasPrefix(p.Protocol, "icmp"); isPing {
			ref = stack.Ref{}
		} else if !served {
			continue
		}
		f.out.Put(stack.Resource{Key: FrontRuleKey(front.Name, p), In: front, Ownership: stack.Shared, Spec: FrontRule{Permission: p, Listener: ref}})
	}
}

// FrontRuleKey names a rule by its content, so that all members that want it mean the same.
func FrontRuleKey(group string, p Permission) stack.Key {
	return stack.Key{Kind: KindFrontRule, Name: strings.Join([]string{group, p.Protocol, portRange(p), p.CIDR}, "/")}
}

// followLeader tells what of the load balancer the Service wants otherwise than the member
// whose say it is.
func (f *controlled) followLeader() {
	v := f.in.Values
	scheme, from, said := schemeSaid(v)
	f.yields(from, said && scheme != f.old.Scheme, f.old.Scheme)
	for _, k := range []struct {
		key *annotations.Key[string]
		has string
	}{{addressTypeKey, f.old.AddressType}, {sourceNATKey, f.old.SourceNAT}, {privateLinkKey, f.old.PrivateLink}} {
		wanted, from, said := k.key.Lookup(v)
		f.yields(from, said && wanted != k.has, k.has)
	}
	f.yieldsSubnets()
	f.yieldsGroups()
	f.yieldsAttributes()
	for _, p := range listParts() {
		if p.yield != nil {
			p.yield(f)
		}
	}
}

// yields tells of a key whose value does not hold.
func (f *controlled) yields(from annotations.Origin, differs bool, has string) {
	if !differs {
		return
	}
	if has == "" {
		has = "none"
	}
	if f.adopts {
		f.report(notApplied(from, fmt.Sprintf("is not applied: the load balancer %s stays as others have created it, and has %s", f.ofGroup, has), "the same, or no "+adoptKey.Name)...)
		return
	}
	f.report(notApplied(from, fmt.Sprintf("is not applied: the load balancer of the group %s has %s, as Service %s asks, its oldest member", f.ofGroup, has, f.leader), "the same as that Service, or no "+groupKey.Name)...)
}

func (f *controlled) yieldsSubnets() {
	names, from, said := subnetsKey.Lookup(f.in.Values)
	fits := func(s Subnet) bool {
		return slices.Contains(names, s.ID) || slices.Contains(names, s.Name) && s.Name != ""
	}
	f.yields(from, said && (len(names) != len(f.chosen) || slices.ContainsFunc(f.chosen, func(s Subnet) bool { return !fits(s) })), shortList(subnetNames(f.old.Mappings)))
	eips, from, said := eipKey.Lookup(f.in.Values)
	allocation := func(m Mapping) string { return m.Allocation }
	f.yields(from, said && !sameAddresses(eips, f.old.Mappings, allocation), shortList(mapEntries(f.old.Mappings, allocation)))
	for _, key := range []*annotations.Key[[]netip.Addr]{privateIPKey, ipv6Key} {
		of := func(m Mapping) string { return m.PrivateIP }
		if key == ipv6Key {
			of = func(m Mapping) string { return m.IPv6 }
		}
		ips, from, said := key.Lookup(f.in.Values)
		f.yields(from, said && !sameAddresses(addressTexts(ips), f.old.Mappings, of), shortList(mapEntries(f.old.Mappings, of)))
	}
}

func subnetNames(list []Mapping) []string {
	return mapEntries(list, func(m Mapping) string { return m.Subnet })
}

func mapEntries(list []Mapping, of func(Mapping) string) []string {
	var out []string
	for _, m := range list {
		if text := of(m); text != "" {
			out = append(out, text)
		}
	}
	return out
}

func (f *controlled) yieldsGroups() {
	bare := len(f.old.Groups) == 0
	without, from, said := noGroupKey.Lookup(f.in.Values)
	f.yields(from, said && without != bare, map[bool]string{true: "no security group", false: "security groups"}[bare])
	names, from, said := groupsKey.Lookup(f.in.Values)
	var has []string
	for _, ref := range f.old.Groups {
		if ref.ID != "" {
			has = append(has, ref.ID)
		}
	}
	known := func(name string) bool {
		return slices.Contains(has, name) || slices.ContainsFunc(f.facts.NamedGroups[name], func(id string) bool { return slices.Contains(has, id) })
	}
	f.yields(from, said && len(names) > 0 && (len(names) != len(has) || slices.ContainsFunc(names, func(n string) bool { return !known(n) })), shortList(has))
}

// yieldsAttributes compares only the attributes that were read.
func (f *controlled) yieldsAttributes() {
	found, ok := stack.SpecOf[Attributes](f.have, stack.Key{Kind: KindNetworkAttr, Name: f.balancer.Name})
	if !ok {
		return
	}
	wanted := f.attributesSaid()
	for _, attr := range sortedKeys(wanted) {
		if has := found.Values[attr]; has != wanted[attr] {
			from := annotations.Origin{Key: attributesKey.Name, Raw: attr + "=" + wanted[attr]}
			f.yields(from, true, attr+"="+has)
		}
	}
}

func addressTexts(list []netip.Addr) []string {
	var out []string
	for _, a := range list {
		out = append(out, a.String())
	}
	return out
}
