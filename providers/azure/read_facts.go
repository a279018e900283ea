package azure

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
)

// facts makes what is the same for all scopes, once.
func (r *read) facts() {
	f := &r.shared
	for _, lb := range r.balancers {
		found := balancerOf(lb, r.Session.facts.address)
		if len(r.config.Multi) > 0 {
			found.Members = membersOf(lb)
		}
		f.Balancers = append(f.Balancers, found)
	}
	for _, group := range slices.Sorted(maps.Keys(r.linksIn)) {
		for _, o := range r.linksIn[group] {
			l := FoundLink{Group: groupOf(o.text("id")), Name: o.text("name"), Tags: o.tags()}
			for _, x := range o.props().list("loadBalancerFrontendIpConfigurations") {
				l.Frontends = append(l.Frontends, frontendOfID(x.text("id")))
			}
			f.Links = append(f.Links, l)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(r.byGroup)) {
		for _, o := range r.byGroup[group] {
			f.PublicIPs = append(f.PublicIPs, publicIPOf(o))
		}
	}
	if r.fleet != nil {
		f.Machines = r.fleet.machineFacts()
	}
	f.Security, f.Subnets, f.Zones = r.security != nil, r.subnets, r.zones
	if len(r.config.Multi) > 0 && r.err == nil {
		r.places.enter(r.scopes, placedOn(r.balancers), r.now())
		r.ahead = r.places.ahead()
	}
}

// factsOf picks the public IPs that the scope asked for. Those of other groups
// are left out, so that what is built does not depend on who reads with whom.
func (r *read) factsOf(scope providers.Scope) *Facts {
	f := r.shared
	f.Ahead = r.ahead[scope.Owner]
	groups := groupsOf(scope)
	f.PublicIPs = r.ipsOf(groups)
	for _, group := range groups {
		if _, exists := r.byGroup[group]; exists {
			f.Groups = append(f.Groups, group)
		}
	}
	return &f
}

// ipsOf are the public IPs of groups as Build knows them. Where it is one group, as
// nearly always, all scopes share them: there may be hundreds of both.
func (r *read) ipsOf(groups []string) []FoundIP {
	var out []FoundIP
	at := 0
	for _, group := range slices.Sorted(maps.Keys(r.byGroup)) {
		end := at + len(r.byGroup[group])
		if part := r.shared.PublicIPs[at:end:end]; slices.Contains(groups, group) {
			if out == nil {
				out = part
			} else {
				out = append(out, part...)
			}
		}
		at = end
	}
	return out
}

func groupsOf(scope providers.Scope) []string {
	groups := append(values(scope, KindPublicIP, byGroup), values(scope, KindPublicIP, byToldGroup)...)
	slices.Sort(groups)
	return slices.Compact(groups)
}

// publicIPs are those of the groups of a scope.
func (r *read) publicIPs(scope providers.Scope) []Object {
	var out []Object
	for _, group := range groupsOf(scope) {
		out = append(out, r.byGroup[group]...)
	}
	return out
}

// readSubnet finds a subnet of the cluster's network; one that does not exist is
// left out.
func (r *read) readSubnet(name string) error {
	found, err := r.Session.facts.subnet(name).Get(r.ctx, r.now(), subnetAge, func(ctx context.Context) (*FoundSubnet, error) {
		o, err := r.get(ctx, r.config.subnetID(name), networkVersion)
		if err != nil || o == nil {
			return nil, err
		}
		return subnetOf(o), nil
	})
	if err != nil {
		return fmt.Errorf("subnet %s: %w", name, err)
	}
	if found == nil {
		r.Session.facts.subnet(name).Forget()
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subnets[name] = *found
	return nil
}

func subnetOf(o Object) *FoundSubnet {
	p := o.props()
	out := &FoundSubnet{Name: o.text("name"), ID: o.text("id"), Prefixes: p.texts("addressPrefixes"), PolicyDisabled: strings.EqualFold(p.text("privateLinkServiceNetworkPolicies"), "Disabled")}
	if one := p.text("addressPrefix"); one != "" && !slices.Contains(out.Prefixes, one) {
		out.Prefixes = append(out.Prefixes, one)
	}
	return out
}

// readZones finds the zones of the region among what the compute provider says
// of itself.
func (r *read) readZones() error {
	zones, err := r.Session.facts.zones.Get(r.ctx, r.now(), zoneAge, func(ctx context.Context) ([]string, error) {
		o, err := r.get(ctx, "/subscriptions/"+r.config.Subscription+"/providers/Microsoft.Compute", providersVersion)
		if err != nil {
			return nil, err
		}
		return zonesOf(o, r.config.Location), nil
	})
	if err != nil {
		return fmt.Errorf("zones of %s: %w", r.config.Location, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.zones = zones
	return nil
}

func zonesOf(o Object, location string) []string {
	// Locations come as names for people here.
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
	for _, kind := range o.list("resourceTypes") {
		if !strings.EqualFold(kind.text("resourceType"), "virtualMachines") {
			continue
		}
		for _, m := range kind.list("zoneMappings") {
			if plain(m.text("location")) == plain(location) {
				zones := m.texts("zones")
				slices.Sort(zones)
				return zones
			}
		}
	}
	return nil
}
