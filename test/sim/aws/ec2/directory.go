package ec2

import (
	"time"

	"github.com/berth-lb/berth/test/sim/aws/network"
)

var _ network.Directory = (*API)(nil)

// VPC looks up a VPC.
func (a *API) VPC(id string) (network.VPC, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	v, ok := a.st.vpcs[id]
	return network.VPC{ID: v.ID, CIDR: v.CIDR, IPv6CIDR: v.IPv6CIDR}, ok
}

// Subnet looks up a subnet.
func (a *API) Subnet(id string) (network.Subnet, bool) {
	a.expire()
	a.mu.RLock()
	defer a.mu.RUnlock()
	s, ok := a.st.subnets[id]
	if !ok {
		return network.Subnet{}, false
	}
	return a.st.subnet(s), true
}

func (s *state) subnet(n Subnet) network.Subnet {
	return network.Subnet{ID: n.ID, VPC: n.VPC, Zone: n.Zone, CIDR: n.CIDR, IPv6CIDR: n.IPv6CIDR, FreeAddresses: s.free(n)}
}

// Group looks up a security group, by id.
func (a *API) Group(id string) (network.Group, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	g, ok := a.st.groups[id]
	if !ok || !isVisible(g, a.opt.Clock.Now(), a.opt.NewGroupDelay) {
		return network.Group{}, false
	}
	return network.Group{ID: g.ID, Name: g.Name, VPC: g.VPC, Owner: a.opt.Account}, true
}

// Instance looks up an instance, also a terminated one while it is visible.
func (a *API) Instance(id string) (network.Instance, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	i, ok := a.st.instances[id]
	return network.Instance{ID: i.ID, VPC: i.VPC, Subnet: i.Subnet, Zone: i.Zone, PrivateIP: i.PrivateIP, State: i.State}, ok
}

// Address looks up an elastic IP address, by allocation id.
func (a *API) Address(id string) (network.Address, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	d, ok := a.st.addresses[id]
	return network.Address{AllocationID: d.ID, PublicIP: d.PublicIP}, ok
}

// DefaultGroup is the group of a VPC that is taken where none is named.
func (a *API) DefaultGroup(vpc string) (network.Group, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	g, ok := a.st.groupNamed(vpc, defaultGroup)
	return network.Group{ID: g.ID, Name: g.Name, VPC: g.VPC, Owner: a.opt.Account}, ok
}

func isVisible(g Group, now time.Time, delay time.Duration) bool {
	return !now.Before(g.Created.Add(delay))
}
