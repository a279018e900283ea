package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// balancer wants the Service's own load balancer, or its share of the one that it
// names.
func (b *builder) balancer() {
	spec, there, ok := b.found()
	if ok && there.Ownership == stack.External {
		b.share(spec, there)
		return
	}
	if !ok && !b.mayMake() {
		return
	}
	want := b.asked()
	members := want.Subnet
	if network, subnet := vipPlace(b.in); network == "" && subnet == "" {
		members = b.nodeSubnet()
		if want.Port == "" {
			want.Subnet = members
		}
		if want.Port == "" && members == "" && !ok {
			b.problems.Refuse("subnet-id", "", "is nowhere said, and the subnet of the nodes cannot be found", subnetKey.Name+", or subnet-id of the configuration")
		}
	}
	if want.Port != "" {
		want.Network, want.Subnet = "", ""
	}
	b.subnet = cmp.Or(memberSubnet(b.in), members)
	if ok {
		b.like(&want, spec)
		b.subnet = cmp.Or(b.subnet, spec.Subnet)
		b.fixed(want, spec)
	}
	b.out.Put(stack.Resource{Key: balancerKey(), Slot: b.slot(spec), Spec: want})
}

// asked is the load balancer as Service and configuration ask for it.
func (b *builder) asked() Balancer {
	in, c := b.in, b.in.Config
	network, subnet := vipPlace(in)
	want := Balancer{
		Name: b.name, Description: balancerDescription(in.Cluster, in.Owner), Provider: c.Provider,
		Network: network, Subnet: subnet, Port: portKey.Get(in.Values), Status: Active,
	}
	if c.Features.Tags {
		want.Tags = []string{b.name}
	}
	if c.Features.Flavors {
		want.Flavor = flavorKey.Or(in.Values, c.Flavor)
	}
	if c.Features.Zones {
		want.Zone = zoneKey.Or(in.Values, c.Zone)
	}
	if ip := in.Service.Spec.LoadBalancerIP; ip != "" && (isInternal(in) || ipv6(in)) {
		want.Address = ip
	}
	return want
}

// like copies the immutable fields of an existing load balancer.
func (b *builder) like(want *Balancer, found Balancer) {
	if !Renamed(found.Name, b.in.Owner) || found.Name == b.name {
		want.Name, want.Description = found.Name, found.Description // a name of before stays
	}
	if !found.Stuck {
		return
	}
	_, there, _ := b.found()
	others := slices.DeleteFunc(OtherTags(found.Tags, b.name), func(tag string) bool { return tag == found.Name })
	if b.replaces = found.Lost && len(others) == 0; !b.replaces {
		want.Status, want.Lost = found.Status, found.Lost
		why := "may still forward, so it is kept"
		if found.Lost {
			why = "is kept, since its replacement would leave " + strings.Join(others, ", ") + " without one"
		}
		b.problems.Warn(idKey.Name, there.ID, "is in ERROR, in which it takes no changes, and these credentials do not allow a failover; it "+why,
			"a failover by an administrator, or its deletion in OpenStack, after which another one is created")
		return
	}
	if want.Port == "" {
		want.Network, want.Subnet, want.Address = found.Network, found.Subnet, ""
	}
	keeps := "the same floating IP"
	if b.holdsAddress() {
		want.Address, keeps = found.Address, "the address "+found.Address+" and the same floating IP"
	}
	b.problems.Warn(idKey.Name, there.ID, "is in ERROR, forwards nothing, and these credentials do not allow a failover: it is replaced by another one with "+keeps+
		", under another id; until then clients reach nothing, and what others have added to it is lost", "")
}

// SlotAddress begins the slot of a load balancer whose address its replacement needs. Such a
// replacement is created after the deletion.
const SlotAddress = "address "

// holdsAddress reports whether the replacement of a load balancer needs the address or the
// port that the found one holds. One that clients reach at a floating IP of the Service
// does not: the floating IP moves.
func (b *builder) holdsAddress() bool {
	_, given := b.have.Get(stack.Key{Kind: KindBinding})
	return isInternal(b.in) || ipv6(b.in) || portKey.Get(b.in.Values) != "" || given
}

// slot returns the slot of the desired load balancer.
func (b *builder) slot(found Balancer) string {
	if b.replaces && b.holdsAddress() {
		return SlotAddress + found.Address
	}
	return ""
}

// mayMake refuses to create a load balancer where the user has named one that is not found.
// An id that the controller itself has written, beside the address, is outdated.
func (b *builder) mayMake() bool {
	id := idKey.Get(b.in.Values)
	if id == "" || b.in.Service.Annotations[addressKey.Name] != "" {
		return true
	}
	b.problems.Refuse(idKey.Name, id, "is no load balancer of this project", "the id of a load balancer, or no "+idKey.Name+" to get one of its own")
	return false
}
