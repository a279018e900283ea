package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// builder assembles the desired stack of one Service.
type builder struct {
	in       Input
	facts    *Facts
	have     *stack.Stack
	out      *stack.Stack
	problems annotations.Problems
}

// Build returns the desired stack of a Service. With a problem that is an error there is no
// stack, and the last good one stays.
func Build(in Input, facts *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	if facts == nil {
		facts = &Facts{}
	}
	b := &builder{in: in, facts: facts, have: have, out: &stack.Stack{Owner: in.Owner}}
	if beyond := providers.Exceeds(Capabilities(), Reach(in)); len(beyond) > 0 {
		return nil, beyond, nil
	}
	b.check()
	entry, ports := b.balancer, b.ports
	if in.Kind == NLB {
		entry, ports = b.netBalancer, b.netPorts
	}
	if !b.problems.Errors() {
		entry()
	}
	if !b.problems.Errors() {
		ports()
		b.sharedGroups()
	}
	if b.problems.Errors() {
		return nil, b.problems, nil
	}
	return b.out, b.problems, nil
}

// check judges what does not follow from one annotation.
func (b *builder) check() {
	can, _ := providers.CapabilityOf(Capabilities(), b.in.Kind)
	can.NodePorts = !usesPods(b.in)
	_, _, live := b.found()
	_, _, liveNet := b.foundNet()
	b.problems = append(b.problems, can.WithLive(live || liveNet).Judge(b.in.Service, b.in.Backends)...)
	if b.in.Kind == NLB {
		b.checkNet()
		return
	}
	b.checkSize()
	b.checkRanges()
	b.checkPorts()
}

// checkSize refuses a size for a load balancer that is paid by use. A live one keeps how it is
// paid.
func (b *builder) checkSize() {
	charge, _, asked := chargeKey.Lookup(b.in.Values)
	if found, _, live := b.found(); live && !asked {
		charge = found.ChargeType
	}
	if _, _, given := sizeKey.Lookup(b.in.Values); given && charge != payBySize {
		b.problems = append(b.problems, sizeKey.Refusal(b.in.Values, "is possible only for a load balancer that is paid by its size", chargeKey.Name+": "+payBySize))
	}
}

// checkRanges judges ranges of clients, which a Classic Load Balancer does not know.
func (b *builder) checkRanges() {
	ranges, source, err := nodeports.SourceRanges(b.in.Service)
	effect := "cannot be applied: a Classic Load Balancer has no ranges; use " + listsKey.Name + " with an access control list"
	switch _, _, live := b.found(); {
	case err != nil:
		b.problems.Refuse(string(source), "", strings.TrimPrefix(err.Error(), string(source)+": "), "no ranges")
	case source == nodeports.RangesFromDefault || len(ranges) == 0:
	case live:
		b.problems.Warn(string(source), "", effect, "no ranges")
	default:
		b.problems.Refuse(string(source), "", effect, "no ranges")
	}
}

// found returns the existing load balancer of the Service.
func (b *builder) found() (Balancer, stack.Resource, bool) {
	r, ok := b.have.Get(balancerKey())
	spec, is := r.Spec.(Balancer)
	return spec, r, ok && is
}

// balancer adds the load balancer.
func (b *builder) balancer() {
	spec, lb, live := b.found()
	id := idKey.Get(b.in.Values)
	if live && lb.Ownership == stack.External && lb.ID != id && b.refuseFormer(lb) {
		return
	}
	if former, ok := b.have.Get(stack.Key{Kind: KindBalancer, Name: FormerBalancer}); ok && b.refuseFormer(former) {
		return
	}
	if live = live && (lb.Ownership != stack.External || lb.ID == id); id != "" {
		b.share(spec, lb, live)
		return
	}
	if !live && b.in.Config.NoPublic && isPublic(b.in) {
		b.problems = append(b.problems, addressTypeKey.Refusal(b.in.Values, "asks for a public load balancer, which disablePublicSLB of the cloud configuration forbids", intranet))
		return
	}
	want := b.asked(map[string]string{TagOwner: DefaultName(b.in.Owner), TagCluster: b.in.Config.ClusterID})
	if len(want.Tags) > mostTags {
		b.problems = append(b.problems, tagsKey.Refusal(b.in.Values, fmt.Sprintf("makes %d tags with the two of the controller", len(want.Tags)), fmt.Sprintf("at most %d tags", mostTags-2)))
		return
	}
	if live {
		b.keepLive(&want, spec)
	} else {
		b.complete(&want)
	}
	b.out.Put(stack.Resource{Key: balancerKey(), Spec: want})
}

// asked returns the load balancer as the annotations ask for it, with the tags of the controller.
func (b *builder) asked(own map[string]string) Balancer {
	v := b.in.Values
	want := Balancer{
		Name: nameKey.Get(v), AddressType: addressTypeKey.Get(v), NetworkType: networkTypeKey.Get(v), IPVersion: ipVersionKey.Get(v), Address: addressKey.Get(v),
		VSwitch: vswitchKey.Get(v), Zone: zoneKey.Get(v), Backup: backupKey.Get(v), Group: groupKey.Get(v),
		ChargeType: chargeKey.Get(v), Size: sizeKey.Get(v), DeleteProtection: deleteProtectionKey.Get(v), ModificationProtection: modificationProtectionKey.Get(v),
		Tags: own,
	}
	if isPublic(b.in) {
		want.TrafficCharge, want.Bandwidth, want.NetworkType, want.VSwitch, want.Address = trafficKey.Get(v), bandwidthKey.Get(v), "", "", ""
	}
	for key, value := range tagsKey.Get(v) {
		if !slices.Contains([]string{TagOwner, TagCluster, TagReused}, key) {
			want.Tags[key] = value
		}
	}
	return want
}

// complete adds the defaults of a new load balancer.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1/loadbalancer.go (setModelDefaultValue).
func (b *builder) complete(want *Balancer) {
	c := b.in.Config
	standard := func(to *string, value string) {
		if *to == "" {
			*to = value
		}
	}
	standard(&want.Name, DefaultName(b.in.Owner))
	standard(&want.ChargeType, payByUse)
	standard(&want.DeleteProtection, on)
	standard(&want.ModificationProtection, consoleProtection)
	standard(&want.Group, c.ResourceGroup)
	if want.ChargeType == payBySize {
		standard(&want.Size, standardSize)
	}
	if want.AddressType != intranet {
		return
	}
	want.VPC = c.VPC
	if want.NetworkType == classic {
		want.VSwitch = ""
		return
	}
	switch {
	case want.VSwitch != "":
	case len(c.VSwitches) > 0:
		want.VSwitch, want.Spares = c.VSwitches[0], c.VSwitches[1:]
	default:
		b.problems.Refuse(vswitchKey.Name, "", "is missing, and vswitchid of the cloud configuration has no vSwitch", "the id of a vSwitch")
	}
}

// immutable is the message about a setting that a live load balancer cannot take over.
const immutable = "cannot change on a live load balancer; create a second Service with this value, move the clients to it, and delete this one"

// reportStays says that the Service's own load balancer is internal without an annotation: the annotation was
// removed.
func (b *builder) reportStays(has, public string) {
	if idKey.Get(b.in.Values) == "" && strings.EqualFold(has, intranet) {
		b.problems.Warn(addressTypeKey.Name, "", "is missing, and the live load balancer stays internal", intranet+", or "+public)
	}
}

// keepLive refuses changes that a live load balancer cannot take over, and keeps what is not
// asked for: a removed address type as well.
func (b *builder) keepLive(want *Balancer, found Balancer) {
	v := b.in.Values
	if _, _, given := addressTypeKey.Lookup(v); !given && want.AddressType != found.AddressType {
		want.AddressType, want.TrafficCharge, want.Bandwidth = found.AddressType, "", 0
		b.reportStays(found.AddressType, "a second Service that asks for a public one")
	}
	for _, f := range []struct {
		problem    func(message, legal string) annotations.Problem
		want, have string
		chosen     bool // the cloud chooses it, and the answer to a creation does not tell
	}{
		{func(m, l string) annotations.Problem { return addressTypeKey.Refusal(v, m, l) }, want.AddressType, found.AddressType, false},
		{func(m, l string) annotations.Problem { return networkTypeKey.Refusal(v, m, l) }, want.NetworkType, found.NetworkType, false},
		{func(m, l string) annotations.Problem { return addressKey.Refusal(v, m, l) }, want.Address, found.Address, false},
		{func(m, l string) annotations.Problem { return zoneKey.Refusal(v, m, l) }, want.Zone, found.Zone, true},
		{func(m, l string) annotations.Problem { return backupKey.Refusal(v, m, l) }, want.Backup, found.Backup, true},
		{func(m, l string) annotations.Problem { return ipVersionKey.Refusal(v, m, l) }, want.IPVersion, found.IPVersion, false},
		{func(m, l string) annotations.Problem { return groupKey.Refusal(v, m, l) }, want.Group, found.Group, false},
	} {
		if f.want != "" && f.want != f.have && (f.have != "" || f.chosen) {
			b.problems = append(b.problems, f.problem(immutable, cmp.Or(f.have, "no value: the cloud has chosen one")))
		}
	}
	if want.ChargeType == payBySize && want.Size == "" && found.ChargeType != payBySize {
		want.Size = standardSize
	}
	// Bandwidth is fixed only where it is what is paid for.
	if want.TrafficCharge != byRate && (want.TrafficCharge != "" || found.TrafficCharge != byRate) {
		want.Bandwidth = 0
	}
}

// sharedGroups keeps groups that have servers of the user, without those of the Service.
func (b *builder) sharedGroups() {
	for r, spec := range stack.Each[VServerGroup](b.have, KindGroup) {
		if spec.Shared && r.In == balancerKey() {
			b.keepShared(r)
		}
	}
	for r, spec := range stack.Each[ServerGroup](b.have, KindServerGroup) {
		if spec.Shared {
			b.keepShared(r)
		}
	}
}

func (b *builder) keepShared(r stack.Resource) {
	if _, wanted := b.out.Get(r.Key); !wanted && r.Proof != stack.None {
		b.out.Put(stack.Resource{Key: r.Key, In: r.In, Spec: withServers(r.Spec, nil)})
	}
}
