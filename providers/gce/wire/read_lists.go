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
	return keepAll(r, familyRules, it.Next)
}

// mustSeeAllRules: a shared backend service that nothing in an answer refers to is
// a left-over only if no rule of the region refers to it.
func (r *read) mustSeeAllRules() bool {
	return !r.needs(model.FactRules) && slices.ContainsFunc(r.scopes, func(scope providers.Scope) bool {
		for _, l := range scope.Own {
			if l.Kind == model.KindBackend && l.By == model.ByUse && r.listed(l.Kind, l.Value) != nil {
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
		r.keep(familyAddresses, a)
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
		return keepAll(r, familyPools, it.Next)
	}
	it := r.poolAPI.AggregatedList(r.ctx, &computepb.AggregatedListTargetPoolsRequest{
		Project: r.config.Project, MaxResults: new(uint32(page)), ReturnPartialSuccess: new(true),
	}, readOptions()...)
	return walkScopes(it.Next, &it.Response, r.lostIn(familyPools), func(p compute.TargetPoolsScopedListPair) (string, *computepb.Warning) {
		for _, pool := range p.Value.GetTargetPools() {
			r.keepIn(familyPools, p.Key, pool)
			r.use(pool.GetHealthChecks()...)
		}
		return p.Key, p.Value.GetWarning()
	})
}

// listBackends lists the backend services of the whole project where it must be
// known whether any refers to a shared check or group.
func (r *read) listBackends(names []string) error {
	if !r.byUses(model.KindGroup, model.KindCheck, model.KindRegionalCheck, model.KindHTTPCheck) {
		it := r.backendAPI.List(r.ctx, &computepb.ListRegionBackendServicesRequest{
			Project: r.config.Project, Region: r.config.Region, Filter: filterOf(names), MaxResults: new(uint32(page)),
		}, readOptions()...)
		return keepAll(r, familyBackends, it.Next)
	}
	it := r.allBackendAPI.AggregatedList(r.ctx, &computepb.AggregatedListBackendServicesRequest{
		Project: r.config.Project, MaxResults: new(uint32(page)), ReturnPartialSuccess: new(true),
	}, readOptions()...)
	return walkScopes(it.Next, &it.Response, r.lostIn(familyBackends), func(p compute.BackendServicesScopedListPair) (string, *computepb.Warning) {
		for _, b := range p.Value.GetBackendServices() {
			r.keepIn(familyBackends, p.Key, b)
			r.use(b.GetHealthChecks()...)
			r.use(groupsOf(b)...)
		}
		return p.Key, p.Value.GetWarning()
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
	return walkScopes(it.Next, &it.Response, r.lostIn(familyChecks), func(p compute.HealthChecksScopedListPair) (string, *computepb.Warning) {
		for _, c := range p.Value.GetHealthChecks() {
			r.keepIn(familyChecks, p.Key, c)
		}
		return p.Key, p.Value.GetWarning()
	})
}

func (r *read) listHTTPChecks(names []string) error {
	call := r.httpCheckAPI.List(r.config.Project).MaxResults(page).Filter(*filterOf(names))
	err := call.Pages(r.ctx, func(list *raw.HttpHealthCheckList) error {
		for _, c := range list.Items {
			r.keep(familyHTTPChecks, httpCheck{c})
		}
		return nil
	})
	return faultOf(err, kit.Reading)
}

func (r *read) listFirewalls(names []string) error {
	it := r.firewallAPI.List(r.ctx, &computepb.ListFirewallsRequest{
		Project: r.config.HostProject(), Filter: filterOf(names), MaxResults: new(uint32(page)),
	}, readOptions()...)
	return keepAll(r, familyFirewalls, it.Next)
}

func (r *read) listGroups(names []string) error {
	it := r.groupAPI.AggregatedList(r.ctx, &computepb.AggregatedListInstanceGroupsRequest{
		Project: r.config.Project, Filter: filterOf(names), MaxResults: new(uint32(page)), ReturnPartialSuccess: new(true),
	}, readOptions()...)
	return walkScopes(it.Next, &it.Response, r.lostIn(familyGroups), func(p compute.InstanceGroupsScopedListPair) (string, *computepb.Warning) {
		for _, g := range p.Value.GetInstanceGroups() {
			r.keepIn(familyGroups, p.Key, g)
		}
		return p.Key, p.Value.GetWarning()
	})
}

func (r *read) listNEGs(names []string) error {
	it := r.negAPI.AggregatedList(r.ctx, &computepb.AggregatedListNetworkEndpointGroupsRequest{
		Project: r.config.Project, Filter: filterOf(names), MaxResults: new(uint32(page)), ReturnPartialSuccess: new(true),
	}, readOptions()...)
	return walkScopes(it.Next, &it.Response, r.lostIn(familyNEGs), func(p compute.NetworkEndpointGroupsScopedListPair) (string, *computepb.Warning) {
		for _, g := range p.Value.GetNetworkEndpointGroups() {
			r.keepIn(familyNEGs, p.Key, g)
		}
		return p.Key, p.Value.GetWarning()
	})
}

// Scopes of aggregated lists.
const (
	scopeGlobal   = "global"
	scopesRegions = "regions/"
	scopesZones   = "zones/"
)

func (r *read) ownRegion() string { return scopesRegions + r.config.Region }

// isRegionZone reports whether a scope is a zone of the region.
func (r *read) isRegionZone(scope string) bool {
	zone, zonal := strings.CutPrefix(scope, scopesZones)
	region, err := model.RegionOf(zone)
	return zonal && err == nil && region == r.config.Region
}

// ownZone is the zone of a scope, if it is one that is managed.
func (r *read) ownZone(scope string) (string, bool) {
	zone, zonal := strings.CutPrefix(scope, scopesZones)
	return zone, zonal && slices.Contains(r.zones, zone)
}

// lostIn returns what notes that a scope of a list could not be reached: what is missing is
// not proven to be gone.
func (r *read) lostIn(f family) func(where string) {
	return func(where string) { r.unreached(f, where) }
}

// unreached makes the kinds blind that live in a place of ours.
func (r *read) unreached(f family, where string) {
	where = strings.TrimPrefix(model.PathOf(where), "/")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsure[f] = true
	refusal := fault.New(fault.Unavailable, "%s: not all of them can be listed: %s does not answer", f, where)
	for _, k := range f.kinds() {
		switch {
		case k == model.KindCheck && where != scopeGlobal:
		case k == model.KindCheck, r.isRegionZone(where), where == r.ownRegion():
			r.blind.Add(refusal, k)
		}
	}
}
