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
	return keepAll(r, familyRules, beginList(r.ctx, r.Session, r.ruleAPI.List, &computepb.ListForwardingRulesRequest{Filter: filterOf(names)}).Next)
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
	return collectAll(beginList(ctx, s, s.addressAPI.List, &computepb.ListAddressesRequest{}).Next)
}

// listPools lists the pools of all regions where it must be known whether any
// refers to a shared check.
func (r *read) listPools(names []string) error {
	if !r.byUses(model.KindHTTPCheck) {
		return keepAll(r, familyPools, beginList(r.ctx, r.Session, r.poolAPI.List, &computepb.ListTargetPoolsRequest{Filter: filterOf(names)}).Next)
	}
	it := beginList(r.ctx, r.Session, r.poolAPI.AggregatedList, &computepb.AggregatedListTargetPoolsRequest{})
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
		return keepAll(r, familyBackends, beginList(r.ctx, r.Session, r.backendAPI.List, &computepb.ListRegionBackendServicesRequest{Filter: filterOf(names)}).Next)
	}
	it := beginList(r.ctx, r.Session, r.allBackendAPI.AggregatedList, &computepb.AggregatedListBackendServicesRequest{})
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
	it := beginList(r.ctx, r.Session, r.checkAPI.AggregatedList, &computepb.AggregatedListHealthChecksRequest{Filter: filterOf(names)})
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
	return keepAll(r, familyFirewalls, beginList(r.ctx, r.Session, r.firewallAPI.List, &computepb.ListFirewallsRequest{Project: r.config.HostProject(), Filter: filterOf(names)}).Next)
}

func (r *read) listGroups(names []string) error {
	it := beginList(r.ctx, r.Session, r.groupAPI.AggregatedList, &computepb.AggregatedListInstanceGroupsRequest{Filter: filterOf(names)})
	return walkScopes(it.Next, &it.Response, r.lostIn(familyGroups), func(p compute.InstanceGroupsScopedListPair) (string, *computepb.Warning) {
		for _, g := range p.Value.GetInstanceGroups() {
			r.keepIn(familyGroups, p.Key, g)
		}
		return p.Key, p.Value.GetWarning()
	})
}

func (r *read) listNEGs(names []string) error {
	it := beginList(r.ctx, r.Session, r.negAPI.AggregatedList, &computepb.AggregatedListNetworkEndpointGroupsRequest{Filter: filterOf(names)})
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
func (s *Session) isRegionZone(scope string) bool {
	zone, zonal := strings.CutPrefix(scope, scopesZones)
	region, err := model.RegionOf(zone)
	return zonal && err == nil && region == s.config.Region
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
