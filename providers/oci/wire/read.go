package wire

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"sync"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
)

// place is a collection of a compartment.
type place struct {
	kind        stack.Kind
	compartment string
}

// view is what one read has brought of the tenancy.
type view struct {
	mu        sync.Mutex
	balancers map[place][]balancerDoc
	groups    map[string][]groupDoc // by compartment
	rules     map[string][]ruleDoc  // of groups, by id
	lists     map[string]list
	failed    map[any]error // by place, or identifier
}

// keep notes what a call has brought, or that it failed.
func (v *view) keep(what any, err error, f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.failed[what] = err
		return
	}
	f()
}

// Read returns the observed state and facts of many Services at once. It makes one list
// call of each sort per compartment; a listed load balancer includes its parts.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*model.Facts] {
	v := &view{
		balancers: map[place][]balancerDoc{}, groups: map[string][]groupDoc{}, rules: map[string][]ruleDoc{}, lists: map[string]list{}, failed: map[any]error{},
	}
	var facts *model.Facts
	var unanswered kit.Unanswered
	kit.Together(
		func() { s.look(ctx, v, scopes) },
		func() { facts, unanswered = s.factsOf(ctx, scopes) },
	)
	finders := make([]*finder, len(scopes))
	for i, sc := range scopes {
		finders[i] = &finder{session: s, view: v, scope: sc, facts: facts, blind: providers.Blind{}, out: &stack.Stack{Owner: sc.Owner}}
		if len(sc.Own) > 0 {
			finders[i].find()
		}
	}
	for _, f := range finders {
		f.homes(ctx)
	}
	s.lookFurther(ctx, v, finders)
	out := make([]providers.Found[*model.Facts], len(scopes))
	for i, f := range finders {
		out[i] = providers.Found[*model.Facts]{At: s.now(), Facts: facts, Have: f.out}
		f.err = cmp.Or(f.err, unanswered.Of(f.scope))
		if f.err == nil && len(f.scope.Own) > 0 {
			f.rules()
		}
		out[i].Err, out[i].Blind = f.err, f.blind
	}
	return out
}

// look reads the lists.
func (s *Session) look(ctx context.Context, v *view, scopes []providers.Scope) {
	var places []place
	for _, sc := range scopes {
		for _, l := range sc.Own {
			if p := (place{l.Kind, l.By}); isPlace(l.Kind) && l.By != "" && !slices.Contains(places, p) {
				places = append(places, p)
			}
		}
	}
	kit.ForEach(places, func(p place) {
		if p.kind == model.KindGroup {
			found, err := listAll[groupDoc](ctx, s, s.core, "/networkSecurityGroups", url.Values{"compartmentId": {p.compartment}}, false)
			v.keep(p, err, func() { v.groups[p.compartment] = found })
			return
		}
		found, err := s.listBalancers(ctx, p)
		v.keep(p, err, func() { v.balancers[p] = found })
	})
}

// isPlace reports whether resources of the kind are listed by compartment.
func isPlace(k stack.Kind) bool {
	return k == model.KindGroup || k == model.KindBalancer || k == model.KindNetBalancer
}

func (s *Session) listBalancers(ctx context.Context, p place) ([]balancerDoc, error) {
	product, _ := model.ProductOf(p.kind)
	api := s.kinds[product.Name]
	found, err := listAll[balancerDoc](ctx, s, api.api, api.balancers, url.Values{"compartmentId": {p.compartment}}, product.Name == model.NLB)
	s.recordPlaces(found...)
	return found, err
}

// lookFurther reads what the lists have led to: security lists of subnets, and rules of
// groups.
func (s *Session) lookFurther(ctx context.Context, v *view, finders []*finder) {
	var lists, groups []string
	for _, f := range finders {
		if f.err != nil || f.scope.Depth == providers.Shallow {
			continue
		}
		f.places(ctx)
		for _, sub := range slices.Concat(f.front, f.behind) {
			lists = append(lists, sub.List)
		}
		groups = append(groups, f.groups...)
	}
	each := func(ids []string, read func(string)) {
		slices.Sort(ids)
		kit.ForEach(slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" }), read)
	}
	each(lists, func(id string) {
		found, err := s.getList(ctx, id)
		v.keep(id, err, func() { v.lists[id] = found })
	})
	each(groups, func(id string) {
		found, err := s.groupRules(ctx, id)
		v.keep(id, err, func() { v.rules[id] = found })
	})
	// Groups of nodes are known by the rules of the Service's own one.
	var more []string
	for _, f := range finders {
		for _, r := range v.rules[f.own] {
			if r.Peer() != "" && r.PeerType() == peerGroup && r.Description == model.RuleMark(f.scope.Owner) && v.rules[r.Peer()] == nil {
				more = append(more, r.Peer())
				f.groups = append(f.groups, r.Peer())
			}
		}
	}
	each(more, func(id string) {
		found, err := s.groupRules(ctx, id)
		if fault.Is(err, fault.NotFound) {
			return
		}
		v.keep(id, err, func() { v.rules[id] = found })
	})
}
