package wire

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// listBalancers is the name of the list of load balancers, in errors.
const listBalancers = "list of load balancers"

// Read returns the observed state of many Services at once: one list of load balancers for all
// of them, and the parts of each load balancer that is a Service's.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*model.Facts] {
	batch := kit.NewReadBatch()
	var balancers []balancerDoc
	asks := make([]map[string]bool, len(scopes))
	needed := false
	for i, scope := range scopes {
		asks[i] = map[string]bool{listBalancers: len(scope.Own) > 0}
		needed = needed || len(scope.Own) > 0
	}
	if needed {
		batch.Lists(kit.List{Name: listBalancers, Run: func() (err error) {
			balancers, err = s.allBalancers(ctx)
			return err
		}})
	}
	finders := make([]*finder, len(scopes))
	var details []kit.Detail
	for i, scope := range scopes {
		finders[i] = &finder{session: s, scope: scope, out: &stack.Stack{Owner: scope.Owner}}
		finders[i].find(balancers)
		details = append(details, finders[i].details(ctx)...)
	}
	batch.Details(details)
	out := make([]providers.Found[*model.Facts], len(scopes))
	for i, f := range finders {
		blind, err := batch.Faults(asks[i], f.things)
		if err == nil {
			err = f.err
		}
		out[i] = providers.Found[*model.Facts]{At: s.now(), Facts: &model.Facts{}, Have: f.out, Blind: blind, Err: err}
		if err == nil && len(f.things) > 0 && batch.Gone(f.things[0]) {
			out[i].Have = &stack.Stack{Owner: f.scope.Owner}
		}
	}
	return out
}

// pageSize is the most load balancers of a page, and pageListeners the most listeners.
// Source: API of SLB, DescribeLoadBalancers and DescribeLoadBalancerListeners.
const (
	pageSize      = 100
	pageListeners = 50
)

// allBalancers returns the load balancers of the region.
func (s *Session) allBalancers(ctx context.Context) ([]balancerDoc, error) {
	var out []balancerDoc
	for page := 1; ; page++ {
		var answer struct {
			Total     int `json:"TotalCount"`
			Balancers struct {
				All []balancerDoc `json:"LoadBalancer"`
			} `json:"LoadBalancers"`
		}
		if err := s.read(ctx, actListBalancers, url.Values{"PageNumber": {strconv.Itoa(page)}, "PageSize": {strconv.Itoa(pageSize)}}, &answer); err != nil {
			return nil, err
		}
		out = append(out, answer.Balancers.All...)
		if len(answer.Balancers.All) == 0 || len(out) >= answer.Total {
			return out, nil
		}
	}
}

// finder assembles what was found of one Service.
type finder struct {
	session *Session
	scope   providers.Scope
	out     *stack.Stack
	things  []string // ids of the load balancers that were looked at
	err     error
}

// find selects the Service's load balancer of a list: the one with its owner tag, else the one
// with its default name that has no owner tag. Of several none can be chosen.
func (f *finder) find(all []balancerDoc) {
	for _, by := range []struct {
		lookup string
		proof  stack.Proof
	}{{model.ByTag, stack.Tag}, {model.ByName, stack.Name}} {
		for _, l := range f.scope.Own {
			if l.Kind != model.KindBalancer || l.By != by.lookup {
				continue
			}
			found := slices.DeleteFunc(slices.Clone(all), func(d balancerDoc) bool { return !f.fits(d, l) })
			if len(found) > 1 {
				f.err = fault.New(fault.Conflict, "the load balancers %s and %s both have the %s %s; change that of the one that is not the Service's", found[0].ID, found[1].ID, by.lookup, l.Value)
				return
			}
			if len(found) == 1 {
				f.take(found[0], by.proof)
				return
			}
		}
	}
}

// fits reports whether a load balancer is the one that a lookup asks for.
func (f *finder) fits(d balancerDoc, l providers.Lookup) bool {
	tags := balancerSpec(d).Tags
	owner, marked := tags[model.TagOwner]
	if l.By == model.ByTag {
		return owner == l.Value && f.isCluster(tags)
	}
	return d.Name == l.Value && !marked
}

// isCluster reports whether the tags of a load balancer tell no other cluster.
func (f *finder) isCluster(tags map[string]string) bool {
	cluster, ok := tags[model.TagCluster]
	return !ok || cluster == f.session.config.ClusterID
}

// take adds a load balancer to the observed state.
func (f *finder) take(d balancerDoc, proof stack.Proof) {
	f.things = append(f.things, d.ID)
	f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindBalancer}, ID: d.ID, Proof: proof, Spec: balancerSpec(d)})
}

// details are the calls for the parts of a load balancer.
func (f *finder) details(ctx context.Context) []kit.Detail {
	lb, ok := f.out.Get(stack.Key{Kind: model.KindBalancer})
	if !ok || f.scope.Depth == providers.Shallow {
		return nil
	}
	return []kit.Detail{{Of: []string{lb.ID}, Run: func() error {
		parts, err := f.session.partsOf(ctx, lb.ID, f.scope.Owner)
		for _, r := range parts {
			f.out.Put(r)
		}
		return err
	}}}
}

// partsOf reads the server groups and the listeners of a load balancer.
func (s *Session) partsOf(ctx context.Context, id string, o stack.Owner) ([]stack.Resource, error) {
	listeners, err := s.listenersOf(ctx, id)
	if err != nil {
		return nil, err
	}
	groups, err := s.groupsOf(ctx, id, o, listeners)
	if err != nil {
		return nil, err
	}
	keys := map[string]stack.Key{}
	for _, g := range groups {
		keys[g.ID] = g.Key
	}
	out := groups
	for _, d := range listeners {
		out = append(out, s.foundListener(d, o, keys))
	}
	return out, nil
}

// listenersOf returns the listeners of a load balancer.
func (s *Session) listenersOf(ctx context.Context, id string) ([]listenerDoc, error) {
	var out []listenerDoc
	params := url.Values{"LoadBalancerId.1": {id}, "MaxResults": {strconv.Itoa(pageListeners)}}
	for {
		var answer struct {
			Next      string        `json:"NextToken"`
			Listeners []listenerDoc `json:"Listeners"`
		}
		if err := s.read(ctx, actListListeners, params, &answer); err != nil {
			return nil, err
		}
		out = append(out, answer.Listeners...)
		if answer.Next == "" {
			return out, nil
		}
		params.Set("NextToken", answer.Next)
	}
}

// foundListener returns a listener that was found. Its description says whose it is.
func (s *Session) foundListener(d listenerDoc, o stack.Owner, groups map[string]stack.Key) stack.Resource {
	r := stack.Resource{
		Key: model.ListenerKey(d.Protocol, d.Port), ID: listenerID(d.Balancer, d.Protocol, d.Port), In: stack.Key{Kind: model.KindBalancer},
		Slot: model.SlotOf(d.Protocol, d.Port), Proof: stack.Derived,
	}
	if port, ok := model.IsNameOf(d.Description, o, s.config.ClusterID); !ok || port != strconv.Itoa(int(d.Port)) {
		r.Key.Name, r.Proof = "other/"+r.Key.Name, stack.None
	}
	group := stack.RefID(d.Group)
	if key, ok := groups[d.Group]; ok {
		group = stack.RefTo(key)
	}
	if d.Group == "" {
		group = stack.Ref{}
	}
	r.Spec = listenerSpec(d, group)
	return r
}

// groupsOf returns the server groups of a load balancer, with the servers of the
// Service's own groups. Of several with one name the one that a listener uses is the Service's present
// one.
func (s *Session) groupsOf(ctx context.Context, id string, o stack.Owner, listeners []listenerDoc) ([]stack.Resource, error) {
	var answer struct {
		Groups struct {
			All []groupDoc `json:"VServerGroup"`
		} `json:"VServerGroups"`
	}
	if err := s.read(ctx, actListGroups, url.Values{"LoadBalancerId": {id}}, &answer); err != nil {
		return nil, err
	}
	all := answer.Groups.All
	isUsed := func(g groupDoc) int {
		if slices.ContainsFunc(listeners, func(l listenerDoc) bool { return l.Group == g.ID }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b groupDoc) int { return isUsed(a) - isUsed(b) })
	out := make([]stack.Resource, len(all))
	failed := make([]error, len(all))
	var own []int
	taken := map[stack.Key]bool{}
	for i, d := range all {
		out[i] = stack.Resource{Key: stack.Key{Kind: model.KindGroup, Name: "other/" + d.ID}, ID: d.ID, In: stack.Key{Kind: model.KindBalancer}, Spec: model.VServerGroup{Name: d.Name}}
		port, ok := model.IsNameOf(d.Name, o, s.config.ClusterID)
		if !ok {
			continue
		}
		own = append(own, i)
		out[i].Proof = stack.Derived
		if key := model.GroupKey(port); !taken[key] {
			out[i].Key, taken[key] = key, true
		}
	}
	kit.ForEach(own, func(i int) {
		servers, err := s.serversOf(ctx, all[i].ID)
		out[i].Spec, failed[i] = groupSpec(all[i], servers), err
	})
	for i, err := range failed {
		if err != nil && !fault.Is(err, fault.NotFound) {
			return nil, fmt.Errorf("server group %s: %w", all[i].ID, err)
		}
	}
	return out, nil
}

func (s *Session) serversOf(ctx context.Context, id string) ([]serverDoc, error) {
	var answer struct {
		Servers struct {
			All []serverDoc `json:"BackendServer"`
		} `json:"BackendServers"`
	}
	err := s.read(ctx, actGetGroup, url.Values{"VServerGroupId": {id}}, &answer)
	return answer.Servers.All, err
}

// Orphans implements providers.Sweeper. The tags tell the cluster and the Service's UID.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	all, err := s.allBalancers(ctx)
	if err != nil {
		return nil, err
	}
	var scopes []providers.Scope
	for _, d := range all {
		tags := balancerSpec(d).Tags
		name := tags[model.TagOwner]
		uid, ok := model.OwnerOf(name)
		belongs := func(o stack.Owner) bool { return strings.EqualFold(model.DefaultName(o), name) }
		if !ok || tags[model.TagCluster] != s.config.ClusterID || slices.ContainsFunc(live.Services, belongs) {
			continue
		}
		owner := stack.Owner{Name: d.Name, UID: uid}
		scopes = append(scopes, model.OwnedScope(providers.Identity[model.Config]{Owner: owner, Config: s.config}))
	}
	return kit.Orphans(s.Read(ctx, scopes), func(*stack.Stack) (bool, error) { return true, nil })
}
