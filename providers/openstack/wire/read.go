package wire

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// Resources in answers, by their kinds.
type (
	listener   = item[model.Listener]
	pool       = item[model.Pool]
	floatingIP = item[model.FloatingIP]
)

// view is what one read has brought of the project.
type view struct {
	balancers  []balancer
	listeners  []listener
	pools      []pool
	byBalancer map[string][]pool
	monitors   []item[model.Monitor]
	floating   []floatingIP
	groups     []item[model.Group]
	groupPorts map[string][]string // ids of the ports that have a group, by its id

	mu      sync.Mutex
	members map[string][]member // by pool
	missing map[string]error    // pools whose members could not be read
}

// Read returns the observed state and facts of many Services at once. It makes one list
// call of each sort for all of them, and lists the members of each pool.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*model.Facts] {
	out := make([]providers.Found[*model.Facts], len(scopes))
	v := &view{members: map[string][]member{}, missing: map[string]error{}}
	var err error
	if slices.ContainsFunc(scopes, func(sc providers.Scope) bool { return len(sc.Own) > 0 }) {
		err = s.look(ctx, v, scopes)
	}
	facts, unanswered := s.factsOf(ctx, scopes)
	for i, sc := range scopes {
		out[i] = providers.Found[*model.Facts]{At: s.now(), Facts: facts, Have: &stack.Stack{Owner: sc.Owner}, Err: unanswered.Of(sc)}
		switch {
		case len(sc.Own) == 0:
		case err != nil:
			out[i].Err = err
		case out[i].Err == nil:
			f := &finder{session: s, view: v, scope: sc, out: out[i].Have}
			if out[i].Err = f.find(); out[i].Err == nil {
				out[i].Err = s.memberRanges(ctx, out[i].Have)
			}
		}
	}
	return out
}

// look reads the lists. What is below load balancers is read if one of them is asked
// for, and not at a glance only.
func (s *Session) look(ctx context.Context, v *view, scopes []providers.Scope) error {
	var noBalancers, noFloating, noGroups error
	kit.Together(
		func() { v.balancers, noBalancers = s.listBalancers(ctx) },
		func() { v.floating, noFloating = listItems(ctx, s, model.FloatingIPCodec(), nil) },
		func() { noGroups = s.lookGroups(ctx, v, scopes) },
	)
	if err := cmp.Or(noBalancers, noFloating, noGroups); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, sc := range scopes {
		if sc.Depth == providers.Shallow {
			continue
		}
		for _, lb := range v.balancers {
			if looksUp(sc, lb) {
				wanted[lb.ID] = true
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	var noListeners, noPools, noMonitors error
	kit.Together(
		func() { v.listeners, noListeners = listItems(ctx, s, model.ListenerCodec(), nil) },
		func() { v.pools, noPools = listItems(ctx, s, model.PoolCodec(), nil) },
		func() { v.monitors, noMonitors = listItems(ctx, s, model.MonitorCodec(), nil) },
	)
	if err := cmp.Or(noListeners, noPools, noMonitors); err != nil {
		return err
	}
	v.indexPools()
	s.readMembers(ctx, v, wanted)
	return nil
}

// looksUp reports whether a scope looks up a load balancer.
func looksUp(sc providers.Scope, lb balancer) bool {
	return slices.ContainsFunc(sc.Own, func(l providers.Lookup) bool {
		switch {
		case l.Kind == model.KindBalancer && l.By == model.ByName:
			return lb.Spec.Name == l.Value
		case l.Kind == model.KindBalancer && l.By == model.ByID:
			return lb.ID == l.Value
		case l.Kind == model.KindShare:
			return slices.Contains(lb.Tags, l.Value)
		}
		return false
	})
}

// readMembers reads the members of the pools of some load balancers. An unreadable pool is
// recorded, and fails only the Services that asked for it.
func (s *Session) readMembers(ctx context.Context, v *view, balancers map[string]bool) {
	asked := slices.DeleteFunc(slices.Clone(v.pools), func(p pool) bool { return len(p.Balancers) == 0 || !balancers[p.Balancers[0].ID] })
	kit.ForEach(asked, func(p pool) {
		found, err := s.listMembers(ctx, p.ID)
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.members[p.ID] = found; err != nil {
			v.missing[p.ID] = err
		}
	})
}
