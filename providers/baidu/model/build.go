package model

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// builder assembles the desired stack of one Service.
type builder struct {
	in       Input
	have     *stack.Stack
	out      *stack.Stack
	problems annotations.Problems
	lb       stack.Key // the load balancer of the listeners
	normal   bool      // it is a normal one, which exists
}

// Build returns the desired stack of a Service. With a problem that is an error there is no stack, and
// the last good one stays.
func Build(in Input, _ *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	b := &builder{in: in, have: have, out: &stack.Stack{Owner: in.Owner}, lb: OwnKey()}
	if beyond := providers.Exceeds(Capabilities(), Reach(in)); len(beyond) > 0 {
		return nil, beyond, nil
	}
	b.check()
	for _, step := range []func(){b.balancer, b.ports, b.claim} {
		if !b.problems.Errors() {
			step()
		}
	}
	if b.problems.Errors() {
		return nil, b.problems, nil
	}
	return b.out, b.problems, nil
}

// check judges what does not follow from one annotation.
func (b *builder) check() {
	can, _ := providers.CapabilityOf(Capabilities(), b.in.Kind)
	can.NodePorts = !podsKey.Get(b.in.Values)
	b.problems = append(b.problems, can.Judge(b.in.Service, b.in.Backends)...)
	ranges, source, err := nodeports.SourceRanges(b.in.Service)
	const effect, legal = "cannot be applied: the load balancer accepts all clients that its security groups admit", "no ranges"
	switch {
	case err != nil:
		b.problems.Refuse(string(source), "", strings.TrimPrefix(err.Error(), string(source)+": "), legal)
	case source == nodeports.RangesFromDefault || len(ranges) == 0:
	case len(b.have.Of(KindListener)) > 0:
		b.problems.Warn(string(source), "", effect, legal)
	default:
		b.problems.Refuse(string(source), "", effect, legal)
	}
	at := b.in.Service.Spec.LoadBalancerIP
	if ip, err := netip.ParseAddr(at); at != "" && (err != nil || !ip.Is4()) {
		b.problems.Refuse("spec.loadBalancerIP", at, "is not a public address of IPv4", "the address of an existing EIP")
	}
}

// immutable is the message about a setting that a live load balancer cannot take over.
const immutable = "cannot change on a live load balancer; change the type of the Service to ClusterIP and back, which deletes the load balancer, or create a second Service"

// balancer adds the load balancer: an existing one, or the Service's own.
func (b *builder) balancer() {
	r, found := b.have.Get(OwnKey())
	spec, _ := r.Spec.(Balancer)
	existing := b.existing()
	named, asked := b.named()
	switch {
	case found && r.Proof != stack.None && asked != "" && asked != r.ID:
		b.problems.Refuse(named, asked, immutable, r.ID+", which is the Service's own")
	case found && r.Proof != stack.None:
		b.keepLive(spec)
	case asked != "" && (existing == nil || existing.ID != asked):
		b.problems.Refuse(named, asked, "is not found in the region, or not visible with these credentials", "the id of an existing load balancer")
	case existing != nil:
		b.useExisting(*existing)
	default:
		if found {
			b.problems.Warn("load balancer", r.ID, fmt.Sprintf("has some marks of the Service and is not proven to be its own: its tags are %s", tagsText(spec.Tags)),
				"the tag "+TagCreated+", or "+idKey.Name+": "+r.ID)
		}
		b.create()
	}
}

// named returns the id of the load balancer that the user names, and its key.
func (b *builder) named() (key, id string) {
	for _, k := range []*annotations.Key[string]{idKey, existKey} {
		if id := k.Get(b.in.Values); id != "" {
			return k.Name, id
		}
	}
	return idKey.Name, ""
}

// existing returns the found load balancer that is not the Service's own.
func (b *builder) existing() *stack.Resource {
	for _, r := range b.have.Of(KindBalancer) {
		if r.Ownership == stack.External {
			return &r
		}
	}
	return nil
}

// tagsText returns tags as a text.
func tagsText(tags map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, key+"="+tags[key])
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

// useExisting has the listeners on a load balancer that is not the Service's own.
// Source: https://cloud.baidu.com/doc/CCE/s/zlako7b04.
func (b *builder) useExisting(r stack.Resource) {
	spec, _ := r.Spec.(Balancer)
	key, _ := b.named()
	if MarkOf(spec.Tags, b.in.Config.ClusterID, b.in.Owner.UID) == Foreign {
		b.problems.Refuse(key, r.ID, "is of "+cmp.Or(b.in.ServiceOf(UIDOf(spec.Tags, b.in.Config.ClusterID)), "another Service or cluster")+": its tags are "+tagsText(spec.Tags), "a load balancer that you created, or no such annotation")
		return
	}
	if asked, _, given := typeKey.Lookup(b.in.Values); given && asked != spec.Type {
		b.problems = append(b.problems, typeKey.Refusal(b.in.Values, fmt.Sprintf("is not the kind of the load balancer %s", r.ID), spec.Type))
		return
	}
	b.lb, b.normal = r.Key, spec.Type == BLB
	if b.normal && podsKey.Get(b.in.Values) {
		b.problems = append(b.problems, podsKey.Refusal(b.in.Values, "has no effect on the normal load balancer "+r.ID+", whose backends are instances", "an application load balancer"))
	}
	if at := b.in.Service.Spec.LoadBalancerIP; at != "" && spec.EIP.ID != at {
		b.problems.Warn("spec.loadBalancerIP", at, "has no effect on an existing load balancer, whose public address is not changed", "bind the address to "+r.ID)
	}
	if spec.EIP.IsZero() && !internalKey.Get(b.in.Values) {
		b.problems.Warn(key, r.ID, "has no public address, so the status shows the address in the VPC", internalKey.Name+": true, or bind an EIP to the load balancer")
	}
	b.out.Put(r)
}

// asked returns the load balancer as the annotations ask for it.
func (b *builder) asked() Balancer {
	return Balancer{
		Type: AppBLB, Name: b.name(), Description: Description(b.in.Owner, !internalKey.Get(b.in.Values)), VPC: b.in.Config.VPC, Subnet: subnetOf(b.in), Tags: BalancerTags(b.mark(), b.hasClass()),
	}
}

// name returns the name of a new load balancer.
func (b *builder) name() string {
	return nameKey.Or(b.in.Values, DefaultName(b.in.Config.ClusterID, b.in.Owner, b.hasClass()))
}

// hasClass reports whether another controller may serve other Services of the cluster.
func (b *builder) hasClass() bool { return b.in.Service.Spec.LoadBalancerClass != nil }

// create adds a new load balancer.
func (b *builder) create() {
	want := b.asked()
	switch {
	case b.in.Kind == BLB:
		b.problems = append(b.problems, typeKey.Refusal(b.in.Values, "asks for a normal load balancer, whose listeners cannot have backends of their own", AppBLB+", or "+idKey.Name+" with the id of an existing one"))
	case want.VPC == "":
		b.problems.Refuse("cloud config", "VpcId", "is empty, so no load balancer can be created", "the id of the network of the cluster")
	case want.Subnet == "":
		b.problems.Refuse(subnetKey.Name, "", "is missing, and the cloud configuration has no SubnetId", "the id of a subnet of the VPC")
	}
	want.EIP = b.address(Balancer{})
	b.out.Put(stack.Resource{Key: OwnKey(), Spec: want})
}

// address returns the public address of the load balancer, and adds it if it is the Service's own.
func (b *builder) address(found Balancer) stack.Ref {
	at := b.in.Service.Spec.LoadBalancerIP
	switch {
	case internalKey.Get(b.in.Values):
		if at != "" {
			b.problems.Warn("spec.loadBalancerIP", at, "has no effect: the load balancer is internal", "no address beside "+internalKey.Name)
		}
		return stack.Ref{}
	case at != "":
		return stack.RefID(at)
	case found.EIP.ID != "":
		b.problems.Warn("EIP", found.EIP.ID, "was bound by another program and does not have the tag of the Service, so it stays when the Service is deleted",
			"the tag "+TagCreated+"="+b.mark()+" on the EIP, if it was created for the Service")
		return found.EIP
	}
	v := b.in.Values
	r, live := b.have.Get(AddressKey())
	exists, _ := r.Spec.(Address)
	if live && r.Ownership == stack.External {
		b.problems.Warn("EIP", r.ID, "is prepaid, so it stays when the Service is deleted", "")
		b.out.Put(r)
		return stack.RefTo(AddressKey())
	}
	bandwidth := bandwidthKey.Get(v)
	want := Address{
		Name: addressNameKey.Or(v, b.name()), Payment: paymentKey.Or(v, postpaid), Months: monthsKey.Get(v), Bandwidth: bandwidth,
		Tags: OwnTags(b.mark(), b.hasClass()),
	}
	if want.Payment == postpaid {
		want.Billing, want.Months = billingKey.Or(v, byTraffic), 0
	}
	switch {
	case live:
		b.refuseOtherPayment(exists)
	case bandwidth == 0 && want.Billing == byTraffic:
		want.Bandwidth = mostByTraffic
	case bandwidth == 0:
		want.Bandwidth = mostOtherwise
	}
	b.out.Put(stack.Resource{Key: AddressKey(), Spec: want})
	return stack.RefTo(AddressKey())
}

// refuseOtherPayment refuses to pay a live address in another way.
func (b *builder) refuseOtherPayment(found Address) {
	refuse := func(key *annotations.Key[string], has string) {
		if asked, _, given := key.Lookup(b.in.Values); given && has != "" && asked != has {
			b.problems = append(b.problems, key.Refusal(b.in.Values, "cannot change on a live public address", has))
		}
	}
	refuse(paymentKey, found.Payment)
	refuse(billingKey, found.Billing)
}

// keepLive refuses changes that a live load balancer cannot take over, and keeps what counts at
// creation only.
func (b *builder) keepLive(found Balancer) {
	_, hasAddress := b.have.Get(AddressKey())
	public := hasAddress || !found.EIP.IsZero() || found.Description == Description(b.in.Owner, true)
	want := b.asked()
	if b.in.Kind == BLB {
		b.problems = append(b.problems, typeKey.Warning(b.in.Values, "has no effect on a live application load balancer", AppBLB))
	}
	if internalKey.Get(b.in.Values) == public {
		b.problems = append(b.problems, internalKey.Refusal(b.in.Values, immutable, fmt.Sprint(!public)))
	}
	if asked, _, given := subnetKey.Lookup(b.in.Values); given && found.Subnet != "" && asked != found.Subnet {
		b.problems = append(b.problems, subnetKey.Refusal(b.in.Values, immutable, found.Subnet))
	}
	want.EIP = b.address(found)
	b.out.Put(stack.Resource{Key: OwnKey(), Spec: want})
}

// claim notes the listeners without a mark that the Service has on an existing load balancer, and names the
// listeners of others that have ports of the Service.
func (b *builder) claim() {
	matched := MatchFound(b.out, b.have)
	var mine []string
	for _, r := range matched.Of(KindListener) {
		_, wanted := b.out.Get(r.Key)
		switch {
		case wanted && r.Proof != stack.None:
			if !b.isMarked(r.Key) {
				mine = append(mine, r.Key.Name)
			}
		case r.Proof == stack.None && b.normal:
			key, _ := b.named()
			b.problems.Refuse(key, r.In.Name, fmt.Sprintf("has a listener at %s that is not the Service's, and all listeners of a normal load balancer have the same backends", r.Slot), "a load balancer without listeners of others")
		case r.Proof == stack.None:
			for _, w := range b.out.Of(KindListener) {
				if r.In == w.In && r.Slot == w.Slot {
					l, _ := r.Spec.(Listener)
					owner := cmp.Or(b.in.ServiceOf(uidOfMark(l.Mark, b.in.Config.ClusterID)), "another owner")
					b.problems.Warn("spec.ports", w.Slot, fmt.Sprintf("is taken by a listener of %s on the load balancer %s, which is left alone", owner, r.In.Name), "a port without a listener")
				}
			}
		}
	}
	if b.normal || len(mine) > 0 && b.lb != OwnKey() {
		slices.Sort(mine)
		b.out.Put(stack.Resource{Key: ClaimKey(), Spec: Claim{Balancer: b.lb.Name, Listeners: mine}})
	}
}

// isMarked reports whether the policy of a listener has the mark of the Service.
func (b *builder) isMarked(listener stack.Key) bool {
	spec, ok := stack.SpecOf[Policy](b.have, PolicyKey(listener))
	return ok && spec.Mark == b.mark()
}

// hasAffinity reports whether a client keeps its backend.
func (b *builder) hasAffinity() bool {
	return b.in.Service.Spec.SessionAffinity == corev1.ServiceAffinityClientIP
}
