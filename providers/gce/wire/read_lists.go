package wire

import (
	"context"
	"slices"
	"strings"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	raw "google.golang.org/api/compute/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
)

func (r *read) listRules(names []string) error {
	if r.needs(model.FactRules) {
		names = nil // other Services' rules are asked about
	}
	it := r.ruleAPI.List(r.ctx, &computepb.ListForwardingRulesRequest{
		Project: r.config.Project, Region: r.config.Region, Filter: filterOf(names), MaxResults: new(uint32(page)),
	}, readOptions()...)
	return eachComplete(it.Next, func(f *computepb.ForwardingRule) { r.forwarding[f.GetName()] = f })
}

// mustSeeAllRules: a shared backend service that nothing in an answer refers to is
// a left-over only if no rule of the region refers to it.
func (r *read) mustSeeAllRules() bool {
	return !r.needs(model.FactRules) && slices.ContainsFunc(r.scopes, func(scope providers.Scope) bool {
		for _, l := range scope.Own {
			if _, exists := r.backends[l.Value]; exists && l.Kind == model.KindBackend && l.By == model.ByUse {
				return true
			}
		}
		return false
	})
}

func (r *read) listAllRules([]string) error {
	r.unsure[familyRules] = true
	err := r.listRules(nil)
	if err == nil {
		delete(r.unsure, familyRules)
	}
	return err
}

// listAddresses takes the addresses that a Service owns out of the list of all
// addresses, which also shows the holder of an IP.
func (r *read) listAddresses([]string) error {
	list, err := r.facts.addresses.Get(r.ctx, r.now(), 0, r.allAddresses)
	for _, a := range list {
		r.addressList[a.GetName()] = a
	}
	return err
}

func (s *Session) allAddresses(ctx context.Context) ([]*computepb.Address, error) {
	var out []*computepb.Address
	it := s.addressAPI.List(ctx, &computepb.ListAddressesRequest{Project: s.config.Project, Region: s.config.Region, MaxResults: new(uint32(page))}, readOptions()...)
	err := eachComplete(it.Next, func(a *computepb.Address) { out = append(out, a) })
	return out, err
}

// listPools lists the pools of all regions where it must be known whether any
// refers to a shared check.
func (r *read) listPools(names []string) error {
	if !r.byUses(model.KindHTTPCheck) {
		it := r.poolAPI.List(r.ctx, &computepb.ListTargetPoolsRequest{
			Project: r.config.Project, Region: r.config.Region, Filter: filterOf(names), MaxResults: new(uint32(page)),
		}, readOptions()...)
		return eachComplete(it.Next, func(p *computepb.TargetPool) { r.pools[p.GetName()] = p })
	}
	it := r.poolAPI.AggregatedList(r.ctx, &computepb.AggregatedListTargetPoolsRequest{
		Project: r.config.Project, MaxResults: new(uint32(page)), ReturnPartialSuccess: new(true),
	}, readOptions()...)
	return walkList(it.Next, func() { r.seen(familyPools, it.Response) }, func(p compute.TargetPoolsScopedListPair) {
		r.warned(familyPools, p.Key, p.Value.GetWarning())
		for _, pool := range p.Value.GetTargetPools() {
			if p.Key == r.ownRegion() {
				r.pools[pool.GetName()] = pool
			}
			r.use(pool.GetHealthChecks()...)
		}
	})
}

// listBackends lists the backend services of the whole project where it must be
// known whether any refers to a shared check or group.
func (r *read) listBackends(names []string) error {
	if !r.byUses(model.KindGroup, model.KindCheck, model.KindRegionalCheck, model.KindHTTPCheck) {
		it := r.backendAPI.List(r.ctx, &computepb.ListRegionBackendServicesRequest{
			Project: r.config.Project, Region: r.config.Region, Filter: filterOf(names), MaxResults: new(uint32(page)),
		}, readOptions()...)
		return eachComplete(it.Next, func(b *computepb.BackendService) { r.backends[b.GetName()] = b })
	}
	it := r.allBackendAPI.AggregatedList(r.ctx, &computepb.AggregatedListBackendServicesRequest{
		Project: r.config.Project, MaxResults: new(uint32(page)), ReturnPartialSuccess: new(true),
	}, readOptions()...)
	return walkList(it.Next, func() { r.seen(familyBackends, it.Response) }, func(p compute.BackendServicesScopedListPair) {
		r.warned(familyBackends, p.Key, p.Value.GetWarning())
		for _, b := range p.Value.GetBackendServices() {
			if p.Key == r.ownRegion() {
				r.backends[b.GetName()] = b
			}
			r.use(b.GetHealthChecks()...)
			for _, backend := range b.GetBackends() {
				r.use(backend.GetGroup())
			}
		}
	})
}

// use notes that something in the project refers to things.
func (r *read) use(urls ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, u := range urls {
		r.users[model.PathOf(u)] = true
	}
}

func (r *read) listChecks(names []string) error {
	it := r.checkAPI.AggregatedList(r.ctx, &computepb.AggregatedListHealthChecksRequest{
		Project: r.config.Project, Filter: filterOf(names), MaxResults: new(uint32(page)), ReturnPartialSuccess: new(true),
	}, readOptions()...)
	return walkList(it.Next, func() { r.seen(familyChecks, it.Response) }, func(p compute.HealthChecksScopedListPair) {
		r.warned(familyChecks, p.Key, p.Value.GetWarning())
		for _, c := range p.Value.GetHealthChecks() {
			switch p.Key {
			case scopeGlobal:
				r.checks[c.GetName()] = c
			case r.ownRegion():
				r.regionChecks[c.GetName()] = c
			}
		}
	})
}

func (r *read) listHTTPChecks(names []string) error {
	call := r.httpCheckAPI.List(r.config.Project).MaxResults(page).Filter(*filterOf(names))
	err := call.Pages(r.ctx, func(list *raw.HttpHealthCheckList) error {
		for _, c := range list.Items {
			r.httpChecks[c.Name] = c
		}
		return nil
	})
	return faultOf(err, kit.Reading)
}

func (r *read) listFirewalls(names []string) error {
	it := r.firewallAPI.List(r.ctx, &computepb.ListFirewallsRequest{
		Project: r.config.HostProject(), Filter: filterOf(names), MaxResults: new(uint32(page)),
	}, readOptions()...)
	return eachComplete(it.Next, func(f *computepb.Firewall) { r.firewalls[f.GetName()] = f })
}

func (r *read) listGroups(names []string) error {
	it := r.groupAPI.AggregatedList(r.ctx, &computepb.AggregatedListInstanceGroupsRequest{
		Project: r.config.Project, Filter: filterOf(names), MaxResults: new(uint32(page)), ReturnPartialSuccess: new(true),
	}, readOptions()...)
	return walkList(it.Next, func() { r.seen(familyGroups, it.Response) }, func(p compute.InstanceGroupsScopedListPair) {
		r.warned(familyGroups, p.Key, p.Value.GetWarning())
		zone, zonal := r.regionZone(p.Key)
		for _, g := range p.Value.GetInstanceGroups() {
			if zonal {
				r.groupList[spot{zone, g.GetName()}] = g
			}
		}
	})
}

func (r *read) listNEGs(names []string) error {
	it := r.negAPI.AggregatedList(r.ctx, &computepb.AggregatedListNetworkEndpointGroupsRequest{
		Project: r.config.Project, Filter: filterOf(names), MaxResults: new(uint32(page)), ReturnPartialSuccess: new(true),
	}, readOptions()...)
	return walkList(it.Next, func() { r.seen(familyNEGs, it.Response) }, func(p compute.NetworkEndpointGroupsScopedListPair) {
		r.warned(familyNEGs, p.Key, p.Value.GetWarning())
		zone, zonal := r.regionZone(p.Key)
		for _, g := range p.Value.GetNetworkEndpointGroups() {
			if zonal {
				r.negs[spot{zone, g.GetName()}] = g
			}
		}
	})
}

// Scopes of aggregated lists.
const (
	scopeGlobal   = "global"
	scopesRegions = "regions/"
	scopesZones   = "zones/"
)

func (r *read) ownRegion() string { return scopesRegions + r.config.Region }

// regionZone is the zone of a scope, if it is one of the region: groups may be in
// zones that are not managed any more.
func (r *read) regionZone(scope string) (string, bool) {
	zone, zonal := strings.CutPrefix(scope, scopesZones)
	region, err := model.RegionOf(zone)
	return zone, zonal && err == nil && region == r.config.Region
}

// ownZone is the zone of a scope, if it is one that is managed.
func (r *read) ownZone(scope string) (string, bool) {
	zone, zonal := strings.CutPrefix(scope, scopesZones)
	return zone, zonal && slices.Contains(r.zones, zone)
}

// seen notes what a page says could not be reached: what is missing from it is
// not proven to be gone.
func (r *read) seen(f family, response any) {
	if partial, ok := response.(interface{ GetUnreachables() []string }); ok {
		for _, where := range partial.GetUnreachables() {
			r.unreached(f, where)
		}
	}
}

func (r *read) warned(f family, where string, w *computepb.Warning) {
	if w.GetCode() == computepb.Warning_UNREACHABLE.String() {
		r.unreached(f, where)
	}
}

// unreached makes the kinds blind that live in a place of ours.
func (r *read) unreached(f family, where string) {
	where = strings.TrimPrefix(model.PathOf(where), "/")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsure[f] = true
	_, zonal := r.regionZone(where)
	refusal := fault.New(fault.Unavailable, "%s: not all of them can be listed: %s does not answer", f, where)
	for _, k := range f.kinds() {
		switch {
		case k == model.KindCheck && where != scopeGlobal:
		case k == model.KindCheck, zonal, where == r.ownRegion():
			r.blind.Add(refusal, k)
		}
	}
}
