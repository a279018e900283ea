package wire

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
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
		asks[i] = listsFor(scope)
		needed = needed || asks[i][listBalancers]
	}
	net := &netLists{}
	lists := net.lists(ctx, s, scopes)
	if needed {
		lists = append(lists, kit.List{Name: listBalancers, Run: func() (err error) {
			balancers, err = s.allBalancers(ctx)
			return err
		}})
	}
	batch.Lists(lists...)
	facts, unanswered := s.readFacts(ctx, scopes)
	finders := make([]*finder, len(scopes))
	var details []kit.Detail
	for i, scope := range scopes {
		finders[i] = &finder{session: s, scope: scope, out: &stack.Stack{Owner: scope.Owner}}
		finders[i].find(candidatesOf(balancers), model.KindBalancer, model.KindAttributes)
		finders[i].takeSecurity(net.security, net.balancers)
		finders[i].find(netCandidates(net.balancers, finders[i].security), model.KindNetBalancer, model.KindNetAttributes)
		details = append(details, finders[i].details(ctx)...)
	}
	batch.Details(append(details, net.details(ctx, s, finders)...))
	batch.Details(net.certificates(ctx, s, finders))
	for _, f := range finders {
		f.putNet(net)
		f.finish()
	}
	out := make([]providers.Found[*model.Facts], len(scopes))
	for i, f := range finders {
		blind, err := batch.Faults(asks[i], f.things)
		if err == nil {
			err = f.err
		}
		if err == nil {
			err = unanswered.Of(f.scope)
		}
		out[i] = providers.Found[*model.Facts]{At: s.now(), Facts: facts, Have: f.out, Blind: blind, Err: err}
		batch.DropGone(f.out)
	}
	return out
}

// listsFor returns the lists that a scope needs. A read of some kinds needs the lists of these, and of what they
// are found by: the security group of a served Service is one that its load balancer has joined.
func listsFor(scope providers.Scope) map[string]bool {
	if len(scope.Own) == 0 {
		return nil
	}
	served := slices.ContainsFunc(scope.Own, func(l providers.Lookup) bool { return l.By == model.ByServed })
	return map[string]bool{
		listBalancers:      asksFor(scope, model.KindBalancer, model.KindAttributes, model.KindGroup, model.KindListener, model.KindDomain, model.KindPublic, model.KindList),
		listNets:           asksFor(scope, model.KindNetBalancer, model.KindNetAttributes, model.KindNetListener, model.KindServerGroup),
		listServerGroups:   asksFor(scope, model.KindServerGroup, model.KindNetListener),
		listSecurityGroups: asksFor(scope, model.KindSecurityGroup) || served && asksFor(scope, model.KindNetBalancer),
	}
}

// asksFor reports whether a scope asks for resources of one of some kinds.
func asksFor(scope providers.Scope, kinds ...stack.Kind) bool {
	return len(scope.Only) == 0 || slices.ContainsFunc(kinds, func(k stack.Kind) bool { return slices.Contains(scope.Only, k) })
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

// Orphans implements providers.Sweeper. The tags tell the cluster and the Service's UID.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	all, err := s.allBalancers(ctx)
	net := &netLists{}
	scope := model.OwnedScope(providers.Identity[model.Config]{Config: s.config})
	for _, l := range net.lists(ctx, s, []providers.Scope{scope}) {
		if err == nil {
			err = l.Run()
		}
	}
	if err != nil {
		return nil, err
	}
	marked := map[string]string{} // names of resources, by owner tags
	mark := func(name string, tags map[string]string) {
		if owner := tags[model.TagOwner]; tags[model.TagCluster] == s.config.ClusterID && marked[owner] == "" {
			marked[owner] = name
		}
	}
	for _, d := range all {
		mark(d.Name, balancerSpec(d).Tags)
	}
	for _, d := range net.balancers {
		mark(d.Name, tagsByKey(d.Tags))
	}
	for _, d := range net.groups {
		mark(d.Name, tagsByKey(d.Tags))
	}
	for _, d := range net.security {
		mark(d.Name, d.tags())
	}
	var scopes []providers.Scope
	for _, name := range slices.Sorted(maps.Keys(marked)) {
		uid, ok := model.OwnerOf(name)
		belongs := func(o stack.Owner) bool { return strings.EqualFold(model.DefaultName(o), name) }
		if !ok || slices.ContainsFunc(live.Services, belongs) {
			continue
		}
		owner := stack.Owner{Name: marked[name], UID: uid}
		scopes = append(scopes, model.OwnedScope(providers.Identity[model.Config]{Owner: owner, Config: s.config}))
	}
	return kit.Orphans(s.Read(ctx, scopes), func(*stack.Stack) (bool, error) { return true, nil })
}
