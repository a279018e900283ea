package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// foundNet returns the existing network load balancer of the Service.
func (b *builder) foundNet() (NetBalancer, stack.Resource, bool) {
	r, ok := b.have.Get(netBalancerKey())
	spec, is := r.Spec.(NetBalancer)
	return spec, r, ok && is
}

// netBalancer adds the network load balancer, with its security group.
func (b *builder) netBalancer() {
	spec, lb, live := b.foundNet()
	id := idKey.Get(b.in.Values)
	if live && lb.Ownership == stack.External && lb.ID != id && b.refuseFormer(lb) {
		return
	}
	if former, ok := b.have.Get(stack.Key{Kind: KindNetBalancer, Name: FormerBalancer}); ok && b.refuseFormer(former) {
		return
	}
	if live = live && (lb.Ownership != stack.External || lb.ID == id); id != "" {
		b.shareNet(spec, lb, live)
		return
	}
	want := b.askedNet(map[string]string{TagOwner: DefaultName(b.in.Owner), TagCluster: b.in.Config.ClusterID})
	if live {
		b.keepNet(&want, spec)
	} else {
		b.completeNet(&want)
	}
	managed := b.securityGroup()
	want.Security = b.wantedSecurity(spec, managed)
	want.Package = b.wantedPackage(spec, want.AddressType)
	b.out.Put(stack.Resource{Key: netBalancerKey(), Spec: want})
}

// askedNet returns the load balancer as the annotations ask for it, with the tags of the controller.
func (b *builder) askedNet(own map[string]string) NetBalancer {
	v := b.in.Values
	want := NetBalancer{
		Name: nameKey.Get(v), AddressType: netScope(addressTypeKey.Get(v)), IPVersion: NetVersion(ipVersionKey.Get(v)), IPv6Type: netScope(ipv6TypeKey.Get(v)),
		Zones: slices.Clone(zonesKey.Get(v)), Group: groupKey.Get(v), Tags: own,
	}
	slices.SortFunc(want.Zones, CompareZones)
	if text := crossZoneKey.Get(v); text != "" {
		want.CrossZone = switchText(text)
	}
	if want.IPVersion != netDualStack {
		want.IPv6Type = ""
	}
	for key, value := range tagsKey.Get(v) {
		if !slices.Contains([]string{TagOwner, TagCluster, TagReused}, key) {
			want.Tags[key] = value
		}
	}
	return want
}

// netScope returns internet or intranet as the NLB API spells them.
func netScope(word string) string {
	return map[string]string{internet: netInternet, intranet: netIntranet}[word]
}

// completeNet adds the defaults of a new load balancer.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/nlbv2/loadbalancer.go (setDefaultValueForLoadBalancer).
func (b *builder) completeNet(want *NetBalancer) {
	want.Name, want.VPC, want.Group = cmp.Or(want.Name, DefaultName(b.in.Owner)), b.in.Config.VPC, groupKey.Or(b.in.Values, b.in.Config.ResourceGroup)
	if len(want.Zones) == 0 {
		b.problems.Refuse(zonesKey.Name, "", "is missing: a network load balancer needs its zones and vSwitches", "zones and vSwitches, such as "+zonesKey.Example)
	}
}

// keepNet refuses changes that a live load balancer cannot take over, and keeps its address type without the
// annotation: one whose annotation was removed is not opened to the Internet.
func (b *builder) keepNet(want *NetBalancer, found NetBalancer) {
	v := b.in.Values
	if _, _, given := addressTypeKey.Lookup(v); !given {
		want.AddressType = found.AddressType
		b.reportStays(found.AddressType, internet)
	}
	if !strings.EqualFold(want.IPVersion, found.IPVersion) {
		b.problems = append(b.problems, ipVersionKey.Refusal(v, immutable, strings.ToLower(found.IPVersion)))
	}
	if want.Group != "" && !strings.EqualFold(want.Group, found.Group) {
		b.problems = append(b.problems, groupKey.Refusal(v, immutable, cmp.Or(found.Group, "no value: the cloud has chosen one")))
	}
}

// wantedSecurity returns the security groups to join: those of the annotation, or the found ones
// without it, and the managed one.
func (b *builder) wantedSecurity(found NetBalancer, managed bool) []stack.Ref {
	var out []stack.Ref
	if text, _, given := securityKey.Lookup(b.in.Values); given {
		for _, id := range SplitIDs(text) {
			out = append(out, stack.RefID(id))
		}
	} else {
		for _, ref := range found.Security {
			if ref.To != securityGroupKey() {
				out = append(out, ref)
			}
		}
	}
	if managed {
		out = append(out, stack.RefTo(securityGroupKey()))
	}
	slices.SortFunc(out, stack.Ref.Compare)
	return out
}

// wantedPackage returns the bandwidth package, which only public load balancers have.
func (b *builder) wantedPackage(found NetBalancer, addressType string) string {
	text, _, given := packageKey.Lookup(b.in.Values)
	switch {
	case !given:
		return found.Package
	case text != "" && strings.EqualFold(addressType, intranet):
		b.problems = append(b.problems, packageKey.Refusal(b.in.Values, "is not possible for an internal load balancer", "no such annotation, or "+addressTypeKey.Name+" with "+internet))
	}
	return text
}

// securityGroup adds the security group that admits the source ranges; false: all clients are admitted.
func (b *builder) securityGroup() bool {
	ranges, source, err := nodeports.SourceRanges(b.in.Service)
	if err != nil || source == nodeports.RangesFromDefault || len(ranges) == 0 {
		return false
	}
	var texts []string
	for _, p := range ranges {
		texts = append(texts, p.Masked().String())
	}
	slices.Sort(texts)
	existing, _ := stack.SpecOf[SecurityGroup](b.have, securityGroupKey())
	b.out.Put(stack.Resource{Key: securityGroupKey(), Spec: SecurityGroup{
		Name: SecurityGroupName(b.in.Owner), Description: SecurityGroupDescription(b.in.Owner, b.in.Config.ClusterID),
		Group: groupKey.Or(b.in.Values, cmp.Or(existing.Group, b.in.Config.ResourceGroup)), Ranges: slices.Compact(texts),
		DualStack: ipVersionKey.Get(b.in.Values) == netDualStack,
	}})
	return true
}

// checkNetRanges judges ranges of clients.
func (b *builder) checkNetRanges() {
	ranges, source, err := nodeports.SourceRanges(b.in.Service)
	switch {
	case err != nil:
		b.problems.Refuse(string(source), "", strings.TrimPrefix(err.Error(), string(source)+": "), "no ranges")
	case source != nodeports.RangesFromDefault && len(ranges) > 0 && idKey.Get(b.in.Values) != "":
		b.problems.Refuse(string(source), "", "cannot be applied to a load balancer of others, whose security groups are not the Service's", "no ranges, or "+securityKey.Name+" with a security group")
	}
}

// shareNet uses an existing network load balancer, and sets on it what the Service asks for.
func (b *builder) shareNet(found NetBalancer, lb stack.Resource, live bool) {
	id := idKey.Get(b.in.Values)
	if !b.mayShare(lb, live, found.Tags) {
		return
	}
	b.out.Put(stack.Resource{Key: netBalancerKey(), ID: id, Ownership: stack.External, Spec: found})
	want := b.askedNet(map[string]string{})
	if _, _, given := ipVersionKey.Lookup(b.in.Values); !given {
		want.IPVersion = found.IPVersion
	}
	b.keepNet(&want, found)
	b.out.Put(stack.Resource{Key: netAttributesKey(), In: netBalancerKey(), Spec: NetBalancer{
		Name: want.Name, AddressType: want.AddressType, IPv6Type: want.IPv6Type, Zones: want.Zones, CrossZone: want.CrossZone,
		Security: b.wantedSecurity(found, false), Package: b.wantedPackage(found, want.AddressType), Tags: want.Tags,
	}})
}

// mayShare reports whether the Service may use the load balancer that it names. One that a controller
// has created is refused: it is deleted with its Service, or is the API server's.
func (b *builder) mayShare(lb stack.Resource, live bool, tags map[string]string) bool {
	refuse := func(message, legal string, later bool) bool {
		p := idKey.Refusal(b.in.Values, message, legal)
		p.Taken = later
		b.problems = append(b.problems, p)
		return false
	}
	switch {
	case live && lb.Ownership != stack.External:
		return refuse("cannot replace the load balancer "+lb.ID+" that the Service has; create a second Service with this annotation, move the clients to it, and delete this one", "no such annotation", false)
	case !live:
		return refuse("is no load balancer of this account and region", "the id of an existing load balancer", true) // it may be created later
	}
	for _, tag := range []string{TagOwner, TagCluster} {
		if _, marked := tags[tag]; marked {
			return refuse(fmt.Sprintf("has the tag %s, so a controller has created it for a Service or for the cluster", tag), "a load balancer without this tag", false)
		}
	}
	return true
}

// checkNet judges what does not follow from one annotation of a network load balancer.
func (b *builder) checkNet() {
	b.checkNetRanges()
	v := b.in.Values
	b.reportPorts(groupPortsKey.Get(v), func(message string) annotations.Problem {
		return groupPortsKey.Warning(v, message, "ports of the Service")
	})
	given := rangesKey.Get(v)
	if len(given) > 0 && !usesPods(b.in) {
		b.problems = append(b.problems, rangesKey.Refusal(v, "is possible only with pods as backends", typeOfBackendsKey.Name+": "+ServerENI))
	}
	for i, p := range b.in.Backends.Ports {
		for _, other := range b.in.Backends.Ports[:i] {
			if netTransport(protocolOf(b.in, p)) == netTransport(protocolOf(b.in, other)) && b.rangeOf(p).overlaps(b.rangeOf(other)) && p.Port != other.Port {
				b.problems = append(b.problems, rangesKey.Refusal(v, fmt.Sprintf("makes the ports %d and %d overlap", other.Port, p.Port), "ranges that share no port"))
			}
		}
	}
}

// rangeOf returns the ports that the listener of a port has.
func (b *builder) rangeOf(p nodeports.ServicePort) PortRange {
	if r, ok := rangesKey.Get(b.in.Values)[p.Port]; ok {
		return r
	}
	return PortRange{p.Port, p.Port}
}
