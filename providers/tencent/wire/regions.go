package wire

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/tencent/model"
)

// region is how calls of one region are made. The cloud counts calls and deletions of each region by themselves.
type region struct {
	client *common.Client
	limits *kit.Limits
}

// regions are those of a session. Their names are those of identifiers: empty for the region of the cluster.
type regions struct {
	open func(name string) region

	mu     sync.Mutex
	known  map[string]region
	placed map[string]string // where the load balancer of a Service was seen last, by its UID
}

// newRegions returns regions that are opened when they are needed first.
func newRegions(open func(name string) region) *regions {
	return &regions{open: open, known: map[string]region{}, placed: map[string]string{}}
}

// in returns a region.
func (r *regions) in(name string) region {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.known[name]
	if !ok {
		at = r.open(name)
		r.known[name] = at
	}
	return at
}

// names returns the regions in which calls were made, and others, sorted.
func (r *regions) names(others ...string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(r.known)), others...))))
}

// place records the region of the load balancer of a Service.
func (r *regions) place(uid, id string) {
	name, _ := model.SplitID(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.placed[uid] != name {
		r.placed[uid] = name
	}
}

// of returns the regions in which a Service may have a load balancer: that of the cluster, the ones of its lookups, and the
// one in which it was seen last.
func (r *regions) of(scope providers.Scope) []string {
	if len(scope.Own) == 0 {
		return nil
	}
	r.mu.Lock()
	out := []string{"", r.placed[scope.Owner.UID]}
	r.mu.Unlock()
	for _, l := range scope.Own {
		switch l.By {
		case model.ByRegion:
			out = append(out, l.Value)
		case model.ByID, model.ByHint:
			name, _ := model.SplitID(l.Value)
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// listName returns the name of the list of load balancers of a region, in errors.
func listName(region string) string {
	if region == "" {
		return "list of load balancers"
	}
	return "list of load balancers in " + region
}

// allBalancers returns the load balancers of a region.
func (s *Session) allBalancers(ctx context.Context, region string) ([]balancerDoc, error) {
	var out []balancerDoc
	for {
		var got page
		if err := s.read(ctx, region, actListBalancers, params{"Offset": len(out), "Limit": pageSize}, &got); err != nil {
			return nil, err
		}
		if got.Total == nil { // an answer without a list is no empty list
			return nil, fault.New(fault.Unavailable, "the answer of %s has no list", actListBalancers)
		}
		out = append(out, placedIn(region, got.Balancers)...)
		if len(got.Balancers) == 0 || len(out) >= *got.Total {
			return out, nil
		}
	}
}

// balancersByID returns the load balancers of some ids of a region that exist.
func (s *Session) balancersByID(ctx context.Context, region string, ids []string) ([]balancerDoc, error) {
	var out []balancerDoc
	for part := range slices.Chunk(ids, mostIDs) {
		var got page
		if err := s.read(ctx, region, actListBalancers, params{"LoadBalancerIds": part, "Limit": pageSize}, &got); err != nil {
			return nil, err
		}
		if got.Total == nil {
			return nil, fault.New(fault.Unavailable, "the answer of %s has no list", actListBalancers)
		}
		out = append(out, placedIn(region, got.Balancers)...)
	}
	return out, nil
}

// placedIn gives load balancers of an answer the identifiers that they have in stacks.
func placedIn(region string, all []balancerDoc) []balancerDoc {
	for i := range all {
		all[i].ID, all[i].region = model.IDIn(region, all[i].ID), region
	}
	return all
}

// byRegion returns the identifiers of the API, by region.
func byRegion(ids []string) map[string][]string {
	out := map[string][]string{}
	for _, id := range ids {
		region, plain := model.SplitID(id)
		out[region] = append(out[region], plain)
	}
	return out
}
