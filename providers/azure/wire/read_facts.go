package wire

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
)

// facts makes what is the same for all scopes, once.
func (r *read) facts() {
	f := &r.shared
	for _, lb := range r.balancers {
		found := model.BalancerOf(lb, r.Session.facts.address)
		if len(r.config.Multi) > 0 {
			found.Members = model.MembersOf(lb)
		}
		f.Balancers = append(f.Balancers, found)
	}
	for _, group := range slices.Sorted(maps.Keys(r.linksIn)) {
		f.LinkGroups = append(f.LinkGroups, group)
		for _, o := range r.linksIn[group] {
			l := model.FoundLink{Group: model.GroupOf(o.Text("id")), Name: o.Text("name"), Tags: o.Tags()}
			for _, x := range o.Props().List("loadBalancerFrontendIpConfigurations") {
				l.Frontends = append(l.Frontends, model.FrontendOfID(x.Text("id")))
			}
			f.Links = append(f.Links, l)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(r.byGroup)) {
		for _, o := range r.byGroup[group] {
			f.PublicIPs = append(f.PublicIPs, model.PublicIPOf(o))
		}
	}
	if r.fleet != nil {
		f.Machines = r.fleet.machineFacts()
	}
	f.Security, f.Subnets, f.Zones = r.security != nil, r.subnets, r.zones
	_, f.SecurityUnread = r.blind[model.KindAccess]
	if len(r.config.Multi) > 0 && r.err == nil {
		r.places.enter(r.scopes, placedOn(r.balancers), r.now())
		r.ahead = r.places.ahead()
	}
}

// factsOf selects the public IPs that the scope asked for. Public IPs of other groups are
// left out, so that the desired stack does not depend on the other scopes of a read.
func (r *read) factsOf(scope providers.Scope) *model.Facts {
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
func (r *read) ipsOf(groups []string) []model.FoundIP {
	var out []model.FoundIP
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
	groups := append(lookupValues(scope, model.KindPublicIP, model.ByGroup), lookupValues(scope, model.KindPublicIP, model.ByToldGroup)...)
	slices.Sort(groups)
	return slices.Compact(groups)
}

// publicIPs are those of the groups of a scope.
func (r *read) publicIPs(scope providers.Scope) []model.Object {
	var out []model.Object
	for _, group := range groupsOf(scope) {
		out = append(out, r.byGroup[group]...)
	}
	return out
}

// readSubnet finds a subnet of the cluster's network; one that does not exist is
// left out.
func (r *read) readSubnet(name string) error {
	found, err := r.Session.facts.subnet(name).Get(r.ctx, r.now(), subnetAge, func(ctx context.Context) (*model.FoundSubnet, error) {
		o, err := r.get(ctx, r.config.SubnetID(name), networkVersion)
		if err != nil || o == nil {
			return nil, err
		}
		return subnetOf(o), nil
	})
	if err != nil {
		return fmt.Errorf("read subnet %s: %w", name, err)
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

func subnetOf(o model.Object) *model.FoundSubnet {
	p := o.Props()
	out := &model.FoundSubnet{Name: o.Text("name"), ID: o.Text("id"), Prefixes: p.Texts("addressPrefixes"), PolicyDisabled: strings.EqualFold(p.Text("privateLinkServiceNetworkPolicies"), "Disabled")}
	if one := p.Text("addressPrefix"); one != "" && !slices.Contains(out.Prefixes, one) {
		out.Prefixes = append(out.Prefixes, one)
	}
	return out
}

// readZones reads the zones of the region in the subscription of the network, in which
// public IPs and frontends are created: subscriptions differ in the zones that they support.
// Credentials that may not read the provider there get the zones of the nodes' subscription.
// Source: kubernetes-sigs/cloud-provider-azure#10515.
func (r *read) readZones() error {
	zones, err := r.Session.facts.zones.Get(r.ctx, r.now(), zoneAge, func(ctx context.Context) ([]string, error) {
		read := func(subscription string) (model.Object, error) {
			return r.get(ctx, "/subscriptions/"+subscription+"/providers/Microsoft.Compute", providersVersion)
		}
		o, err := read(r.config.SubscriptionOfNetwork())
		if fault.Is(err, fault.Denied) && !strings.EqualFold(r.config.SubscriptionOfNetwork(), r.config.Subscription) {
			o, err = read(r.config.Subscription)
		}
		if err != nil {
			return nil, err
		}
		return zonesOf(o, r.config.Location), nil
	})
	if err != nil {
		return fmt.Errorf("read zones of %s: %w", r.config.Location, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.zones = zones
	return nil
}

func zonesOf(o model.Object, location string) []string {
	// Locations come as names for people here.
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
	for _, kind := range o.List("resourceTypes") {
		if !strings.EqualFold(kind.Text("resourceType"), "virtualMachines") {
			continue
		}
		for _, m := range kind.List("zoneMappings") {
			if plain(m.Text("location")) == plain(location) {
				zones := m.Texts("zones")
				slices.Sort(zones)
				return zones
			}
		}
	}
	return nil
}
