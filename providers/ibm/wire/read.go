package wire

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Names of what a read asks for, in errors.
const (
	listBalancers = "list of load balancers"
	listSubnets   = "list of subnets"
	listGroups    = "list of security groups"
	listRules     = "rules of the nodes' security group"
)

// Read returns the observed state and facts of many Services at once: one list of load
// balancers for all of them, and the parts of each load balancer that is a Service's.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*model.Facts] {
	batch := kit.NewReadBatch()
	facts := &model.Facts{}
	asks := make([]map[string]bool, len(scopes))
	needed := map[string]bool{}
	for i, scope := range scopes {
		asks[i] = asksOf(scope)
		for name, asked := range asks[i] {
			needed[name] = needed[name] || asked
		}
	}
	var got listed
	runs := s.listRuns(ctx, scopes, facts, &got)
	var lists []kit.List
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if !needed[name] {
			continue
		}
		lists = append(lists, kit.List{Name: name, Blinds: blindsOf(name), Run: runs[name]})
	}
	batch.Lists(lists...)
	finders := make([]*finder, len(scopes))
	var details []kit.Detail
	for i, scope := range scopes {
		finders[i] = &finder{session: s, scope: scope, out: &stack.Stack{Owner: scope.Owner}, cluster: s.config.ClusterID}
		finders[i].find(ctx, got.balancers)
		finders[i].rules(got.rules)
		details = append(details, finders[i].details(ctx)...)
	}
	batch.Details(details)
	out := make([]providers.Found[*model.Facts], len(scopes))
	for i, f := range finders {
		blind, err := batch.Faults(asks[i], f.things)
		if err == nil {
			err = f.err
		}
		out[i] = providers.Found[*model.Facts]{At: s.now(), Facts: facts, Have: f.out, Blind: blind, Err: err}
		batch.DropGone(f.out)
	}
	return out
}

// listed is what the lists of a read return besides facts.
type listed struct {
	balancers []balancerDoc
	rules     groupDoc // of the nodes' security group
}

// listRuns returns the calls of the lists by their name. Each fills a part of the facts or of what is listed.
func (s *Session) listRuns(ctx context.Context, scopes []providers.Scope, facts *model.Facts, got *listed) map[string]func() error {
	subnets, groups := factsOf(scopes)
	return map[string]func() error{
		listBalancers: func() (err error) {
			got.balancers, err = listAll[balancerDoc](ctx, s, "load_balancers")
			facts.Networks = s.countNetworks(got.balancers)
			return err
		},
		listSubnets: func() (err error) {
			facts.Subnets, err = s.subnetsWith(ctx, subnets)
			return err
		},
		listGroups: func() (err error) {
			facts.Groups, err = s.groupsWith(ctx, groups)
			return err
		},
		listRules: func() (err error) {
			got.rules, err = s.nodeRules(ctx)
			facts.Outbound = listUnmarked(got.rules)
			return err
		},
	}
}

// factsOf returns the subnets and the security groups that scopes look up.
func factsOf(scopes []providers.Scope) (subnets, groups []string) {
	for _, scope := range scopes {
		for _, l := range scope.Facts {
			switch {
			case l.Value == "":
			case l.Kind == model.FactGroups:
				groups = append(groups, l.Value)
			default:
				subnets = append(subnets, l.Value)
			}
		}
	}
	return subnets, groups
}

// blindsOf returns the kinds that are unreadable without a list.
func blindsOf(list string) []stack.Kind {
	if list == listRules {
		return []stack.Kind{model.KindRule}
	}
	return nil
}

// asksOf returns the lists that a scope needs.
func asksOf(scope providers.Scope) map[string]bool {
	out := map[string]bool{}
	if len(scope.Own) > 0 {
		out[listBalancers] = true
		out[listRules] = scope.Depth != providers.Shallow
	}
	lists := map[stack.Kind]string{model.FactSubnets: listSubnets, model.FactGroups: listGroups, model.FactOutbound: listRules, model.FactNetworks: listBalancers}
	for _, l := range scope.Facts {
		out[lists[l.Kind]] = true
	}
	return out
}

// finder assembles what was found of one Service.
type finder struct {
	session *Session
	scope   providers.Scope
	cluster string
	out     *stack.Stack
	things  []string // ids of the load balancers that were looked at
	err     error
}

// candidate is a load balancer with a name of the Service.
type candidate struct {
	doc balancerDoc
	by  string // which name
}

// find selects the Service's load balancer of a list: the one whose host name its status has, else the
// one with its default name, else the one with the name that it chose. The official controller creates
// another one when the name changes, and leaves the first. One that is being deleted exists only for a
// release, which waits for its end: its subnets and its name are in use until then.
func (f *finder) find(ctx context.Context, all []balancerDoc) {
	var found []candidate
	for _, by := range []string{model.ByName, model.ByGivenName} {
		for _, l := range f.scope.Own {
			if l.Kind != model.KindBalancer || l.By != by {
				continue
			}
			at := slices.IndexFunc(all, func(d balancerDoc) bool { return d.Name == l.Value })
			if at < 0 || all[at].Provisioning == deletePending && f.serves() {
				continue
			}
			found = append(found, candidate{all[at], by})
		}
	}
	if len(found) == 0 {
		return
	}
	used := max(0, slices.IndexFunc(found, func(c candidate) bool {
		return slices.Contains(f.scope.Own, providers.Lookup{Kind: model.KindBalancer, By: model.ByHost, Value: c.doc.Hostname})
	}))
	f.take(ctx, found[used].doc, found[used].by)
}

// serves reports whether the read is for a Service that is served: only that needs facts.
func (f *finder) serves() bool { return len(f.scope.Facts) > 0 }

// take adds a load balancer to the observed state.
func (f *finder) take(ctx context.Context, d balancerDoc, by string) {
	proof := stack.Name
	if by == model.ByGivenName && !model.IsDefaultName(d.Name, f.cluster, f.scope.Owner) {
		own, err := f.proven(ctx, d)
		if err != nil {
			f.err = err
		}
		if !own {
			proof = stack.None
		}
	}
	f.things = append(f.things, d.ID)
	if isPending(d.Provisioning) {
		f.session.busy.Set(d.ID, true)
	} else {
		f.session.busy.Forget(d.ID)
	}
	f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindBalancer}, ID: d.ID, State: stateOf(d), Proof: proof, Spec: balancerSpec(d)})
}

// proven reports whether a load balancer with a name of the Service's choice is its own: a
// note has its id, or all of its pools are those of the Service. Then a note is written: the
// ports of a Service are not known any more when it is released.
func (f *finder) proven(ctx context.Context, d balancerDoc) (bool, error) {
	notes, owner := f.session.notes, f.scope.Owner
	if notes != nil {
		note, err := notes.Read(ctx, owner.Namespace, model.NoteOf(owner))
		if err != nil {
			return false, err
		}
		if note[model.NoteID] == d.ID {
			return true, nil
		}
	}
	own := len(d.Pools) > 0 && !slices.ContainsFunc(d.Pools, func(p nameDoc) bool {
		return !slices.Contains(f.scope.Own, providers.Lookup{Kind: model.KindPool, By: model.ByName, Value: p.Name})
	})
	if !own || notes == nil {
		return own, nil
	}
	return true, noteID(ctx, notes, owner, d.ID)
}

// details are the calls for the parts of a load balancer.
func (f *finder) details(ctx context.Context) []kit.Detail {
	lb, ok := f.out.Get(stack.Key{Kind: model.KindBalancer})
	if !ok || f.scope.Depth == providers.Shallow || lb.Proof == stack.None || lb.State == stack.Pending {
		return nil
	}
	return []kit.Detail{{Of: []string{lb.ID}, Run: func() error {
		parts, err := f.session.partsOf(ctx, lb.ID)
		for _, r := range parts {
			f.out.Put(r)
		}
		return err
	}}}
}

// partsOf reads the pools with their members, and the listeners, of a load balancer.
func (s *Session) partsOf(ctx context.Context, id string) ([]stack.Resource, error) {
	pools, err := listParts[poolDoc](ctx, s, "pools", "load_balancers", id)
	if err != nil {
		return nil, err
	}
	listeners, err := listParts[listenerDoc](ctx, s, "listeners", "load_balancers", id)
	if err != nil {
		return nil, err
	}
	members := make([][]memberDoc, len(pools))
	failed := make([]error, len(pools))
	indices := make([]int, len(pools))
	for i := range indices {
		indices[i] = i
	}
	kit.ForEach(indices, func(i int) {
		members[i], failed[i] = listParts[memberDoc](ctx, s, "members", "load_balancers", id, "pools", pools[i].ID)
	})
	var out []stack.Resource
	keys := map[string]stack.Key{}
	in := stack.Key{Kind: model.KindBalancer}
	for i, p := range pools {
		if failed[i] != nil {
			return nil, failed[i]
		}
		r := stack.Resource{Key: stack.Key{Kind: model.KindPool, Name: "other/" + p.ID}, ID: p.ID, In: in, Spec: poolSpec(p, members[i])}
		if protocol, port, ok := model.ParsePoolName(p.Name); ok {
			r.Key, r.Proof = model.PoolKey(protocol, port), stack.Derived
		}
		keys[p.ID] = r.Key
		out = append(out, r)
	}
	for _, l := range listeners {
		out = append(out, foundListener(l, keys, in))
	}
	return out, nil
}

// foundListener returns a listener that was found. It is ours if its pool has a name that
// controllers give.
func foundListener(l listenerDoc, pools map[string]stack.Key, in stack.Key) stack.Resource {
	key := model.ListenerKey(l.Port)
	r := stack.Resource{Key: key, ID: l.ID, In: in, Slot: "port " + key.Name}
	var pool stack.Ref
	if l.Pool != nil {
		pool = stack.RefID(l.Pool.ID)
		if to, ok := pools[l.Pool.ID]; ok {
			pool = stack.RefTo(to)
			if _, _, named := model.ParsePoolName(l.Pool.Name); named {
				r.Proof = stack.Derived
			}
		}
	}
	r.Spec = listenerSpec(l, pool)
	return r
}

// The states of load balancers. Source: VPC API reference, LoadBalancer.
const (
	active        = "active"
	failed        = "failed"
	deletePending = "delete_pending"
	gone          = "" // not found any more
)

// isPending reports whether a load balancer refuses writes for now.
func isPending(status string) bool { return status != active && status != failed && status != gone }

func stateOf(d balancerDoc) stack.State {
	switch d.Provisioning {
	case failed:
		return stack.Failed
	case deletePending:
		return stack.Pending // its parts are deleted with it
	}
	return stack.Ready
}

// statuses reads how load balancers are, with one list for several.
func (s *Session) statuses(ctx context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	if len(ids) == 1 {
		var d balancerDoc
		_, err := s.read(ctx, s.vpc(http.MethodGet, nil, "load_balancers", ids[0]), &d)
		switch {
		case fault.Is(err, fault.NotFound):
			out[ids[0]], err = gone, nil
		case err == nil:
			out[ids[0]] = d.Provisioning
		}
		return out, err
	}
	all, err := listAll[balancerDoc](ctx, s, "load_balancers")
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		out[id] = gone
	}
	for _, d := range all {
		if _, asked := out[d.ID]; asked {
			out[d.ID] = d.Provisioning
		}
	}
	return out, nil
}
