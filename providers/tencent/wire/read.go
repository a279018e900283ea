package wire

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/stack"
)

// Read returns the observed state of many Services at once: one list of load balancers of each region for all of
// them, and the parts of each load balancer that a Service uses.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*model.Facts] {
	batch := kit.NewReadBatch()
	balancers := map[string][]balancerDoc{} // by region
	asks, places := make([]map[string]bool, len(scopes)), make([][]string, len(scopes))
	var lists []kit.List
	for i, scope := range scopes {
		asks[i], places[i] = map[string]bool{}, s.regions.of(scope)
		for _, region := range places[i] {
			asks[i][listName(region)] = true
			if _, listed := balancers[region]; listed {
				continue
			}
			balancers[region] = nil
			lists = append(lists, kit.List{Name: listName(region), Run: func() error {
				all, err := s.allBalancers(ctx, region)
				batch.Keep(func() { balancers[region] = all })
				return err
			}})
		}
	}
	batch.Lists(lists...)
	finders := make([]*finder, len(scopes))
	var details []kit.Detail
	for i, scope := range scopes {
		finders[i] = &finder{session: s, scope: scope, out: &stack.Stack{Owner: scope.Owner}}
		for _, region := range places[i] {
			finders[i].lists = append(finders[i].lists, balancers[region])
		}
		finders[i].find(ctx)
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
		batch.DropGone(f.out)
	}
	return out
}

// Greatest numbers of a call. Source: CLB API 2018-03-17, DescribeLoadBalancers, DescribeTargets.
const (
	pageSize = 100
	mostIDs  = 20
)

// page is the answer of a list of load balancers.
type page struct {
	Total     *int          `json:"TotalCount"`
	Balancers []balancerDoc `json:"LoadBalancerSet"`
}

// finder assembles what was found of one Service.
type finder struct {
	session *Session
	scope   providers.Scope
	lists   [][]balancerDoc // of the regions of the Service
	out     *stack.Stack
	things  []string // ids of the load balancers that were looked at
	parts   []in
	err     error
}

// find selects the Service's load balancers of the lists.
func (f *finder) find(ctx context.Context) {
	all := slices.Concat(f.lists...)
	if len(f.lists) == 1 {
		all = f.lists[0] // shared with other Services
	}
	cluster, uid := f.session.config.ClusterID, f.scope.Owner.UID
	for _, l := range f.scope.Own {
		switch l.By {
		case model.ByTag:
			f.findOwn(all, cluster, uid)
		case model.ByID, model.ByHint:
			at := slices.IndexFunc(all, func(d balancerDoc) bool { return d.ID == l.Value })
			if at >= 0 && !slices.Contains(f.things, l.Value) {
				f.findExisting(ctx, all[at], l.By == model.ByHint)
			}
		}
	}
}

// findOwn selects the load balancer with the tags of the Service. Of several one stays, and the others are deleted,
// unless they have lost a tag. One with a part of the tags has no proof.
func (f *finder) findOwn(all []balancerDoc, cluster, uid string) {
	var partial []balancerDoc
	var own []balancerDoc
	for _, d := range all {
		switch model.MarkOf(d.tags(), cluster, uid) {
		case model.Ours, model.Kept:
			own = append(own, d)
		case model.Partial:
			partial = append(partial, d)
		case model.Foreign, model.Unmarked:
		}
	}
	unsure := kit.SortMarked(own, f.marked)
	switch {
	case unsure != nil:
		f.err = fault.New(fault.Conflict, "the load balancers %s and %s both have tags of the Service; change those of the one that is not the Service's", own[0].ID, unsure.ID)
	case len(own) > 0:
		f.take(own[0], model.MarkOf(own[0].tags(), cluster, uid))
		for _, d := range own[1:] {
			f.out.Put(stack.Resource{Key: providers.DuplicateKey(model.KindBalancer, d.ID), ID: d.ID, Proof: stack.Tag, State: stateOf(d), Spec: d.spec()})
		}
	case len(partial) > 0:
		f.out.Put(stack.Resource{Key: model.OwnKey(), ID: partial[0].ID, Spec: partial[0].spec()})
	}
}

// marked returns by what one of several load balancers of a Service is selected. The Service names it, or records it.
func (f *finder) marked(d balancerDoc) kit.Marked {
	named := func(l providers.Lookup) bool { return l.By != model.ByTag && l.Value == d.ID }
	recorded := slices.ContainsFunc(f.scope.Own, named) || kit.IsRecorded(f.scope, append(slices.Clone(d.Addresses), d.Domain, d.OldDomain, d.Address6)...)
	partial := model.MarkOf(d.tags(), f.session.config.ClusterID, f.scope.Owner.UID) != model.Ours
	return kit.Marked{ID: d.ID, Created: d.Created, Recorded: recorded, Partial: partial}
}

func (f *finder) take(d balancerDoc, mark model.Mark) {
	f.things = append(f.things, d.ID)
	f.session.regions.place(f.scope.Owner.UID, d.ID)
	r := stack.Resource{Key: model.OwnKey(), ID: d.ID, Proof: stack.Tag, State: stateOf(d), Spec: d.spec()}
	if mark == model.Kept {
		r.Ownership = stack.External
	}
	f.out.Put(r)
	f.parts = append(f.parts, in{owner: f.scope.Owner, balancer: r, exclusive: true})
}

func stateOf(d balancerDoc) stack.State {
	if d.isReady() {
		return stack.Ready
	}
	return stack.Pending
}

// findExisting adds a load balancer that the Service names, or that a controller has written on it. The
// latter counts only if the Service has noted listeners of it, or if there is no other.
func (f *finder) findExisting(ctx context.Context, d balancerDoc, hint bool) {
	id, noted, err := f.session.notedOf(ctx, f.scope.Owner)
	if err != nil {
		f.err = err
		return
	}
	_, own := f.out.Get(model.OwnKey())
	mark := model.MarkOf(d.tags(), f.session.config.ClusterID, f.scope.Owner.UID)
	switch {
	case hint && id != d.ID && (own || mark == model.Foreign):
		return // a copied manifest
	case hint && id != d.ID:
		f.out.Put(stack.Resource{Key: model.OwnKey(), ID: d.ID, Spec: d.spec()})
		return
	case id != d.ID:
		noted = nil
	}
	r := stack.Resource{Key: model.ExistingKey(d.ID), ID: d.ID, Ownership: stack.External, State: stateOf(d), Spec: d.spec()}
	f.things = append(f.things, d.ID)
	f.out.Put(r)
	f.parts = append(f.parts, in{owner: f.scope.Owner, balancer: r, noted: noted, early: !f.scope.OthersRead})
	if noted != nil {
		var ids []string
		for id := range noted {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		f.out.Put(stack.Resource{Key: model.ClaimKey(), ID: model.NoteOf(f.scope.Owner), Proof: stack.Derived, Spec: model.Claim{Balancer: d.ID, Listeners: ids}})
	}
}

// notedOf returns the existing load balancer and its listeners that a Service has noted.
func (s *Session) notedOf(ctx context.Context, o stack.Owner) (id string, listeners map[string]bool, err error) {
	if s.notes == nil {
		return "", nil, nil
	}
	note, err := s.notes.Read(ctx, o.Namespace, model.NoteOf(o))
	if err != nil || note == nil {
		return "", nil, err
	}
	listeners = map[string]bool{}
	for one := range strings.SplitSeq(note[model.NoteListeners], ",") {
		if one != "" {
			listeners[one] = true
		}
	}
	s.enterNoted(o, maps.Keys(listeners))
	return note[model.NoteBalancer], listeners, nil
}

// enterNoted records which listeners a Service has noted: no other one adopts them.
func (s *Session) enterNoted(o stack.Owner, listeners iter.Seq[string]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range listeners {
		s.noted[one] = o.UID
	}
}

// details are the calls for the parts of load balancers.
func (f *finder) details(ctx context.Context) []kit.Detail {
	if f.scope.Depth == providers.Shallow {
		return nil
	}
	var out []kit.Detail
	for _, of := range f.parts {
		out = append(out, kit.Detail{Of: []string{of.balancer.ID}, Run: func() error {
			parts, err := f.session.partsOf(ctx, of)
			for _, r := range parts {
				f.out.Put(r)
			}
			return err
		}})
	}
	return out
}

// partsOf reads the listeners of a load balancer, with their rules and targets.
func (s *Session) partsOf(ctx context.Context, of in) ([]stack.Resource, error) {
	var got struct {
		Listeners *[]listenerDoc `json:"Listeners"`
	}
	if err := s.readOf(ctx, of.balancer.ID, actListListeners, params{}, &got); err != nil {
		return nil, err
	}
	if got.Listeners == nil {
		return nil, fault.New(fault.Unavailable, "the answer of %s has no list", actListListeners)
	}
	var ids []string
	for _, d := range *got.Listeners {
		if d.Name == model.ListenerName { // targets of others are not needed
			ids = append(ids, d.ID)
		}
	}
	bound, err := s.boundTo(ctx, of.balancer.ID, ids)
	if err != nil {
		return nil, err
	}
	var out []stack.Resource
	for _, d := range *got.Listeners {
		out = append(out, s.foundListener(d, of, bound)...)
	}
	return out, nil
}

// boundTo returns the targets of listeners and rules, by their ids.
func (s *Session) boundTo(ctx context.Context, balancer string, ids []string) (map[string][]model.Member, error) {
	out := map[string][]model.Member{}
	for part := range slices.Chunk(ids, mostIDs) {
		var got struct {
			Listeners *[]boundDoc `json:"Listeners"`
		}
		if err := s.readOf(ctx, balancer, actListTargets, params{"ListenerIds": part}, &got); err != nil {
			return nil, err
		}
		if got.Listeners == nil {
			return nil, fault.New(fault.Unavailable, "the answer of %s has no list", actListTargets)
		}
		for _, d := range *got.Listeners {
			out[d.ID] = membersOf(d.Targets)
			for _, r := range d.Rules {
				out[r.ID] = membersOf(r.Targets)
			}
		}
	}
	return out, nil
}

// foundListener returns a listener with its rules and targets. It is the Service's if it has the name
// that controllers give, on a load balancer of the Service's alone or by the note.
func (s *Session) foundListener(d listenerDoc, of in, bound map[string][]model.Member) []stack.Resource {
	batch := of.owner.UID
	key, proof := model.ListenerKey(d.Protocol, d.Port), stack.Derived
	if d.Name != model.ListenerName || !of.exclusive && !of.noted[d.ID] {
		key.Name, proof = "other/"+d.ID, stack.None
	}
	spec := model.Listener{Protocol: d.Protocol, Port: d.Port, Name: d.Name, Certificate: certificateOf(d.Certificate), SNI: d.SNI == 1, Batch: batch}
	if !of.exclusive {
		spec.User = s.notedByOther(d.ID, of.owner)
		spec.Claimed, spec.Early = spec.User != "", of.early
	}
	if !model.HasRules(d.Protocol) {
		spec.Settings, spec.Members = d.settings, bound[d.ID]
	}
	out := []stack.Resource{{Key: key, ID: d.ID, In: of.balancer.Key, Slot: model.SlotOf(d.Protocol, d.Port), Proof: proof, Spec: spec}}
	for _, r := range d.Rules {
		out = append(out, stack.Resource{Key: model.RuleKey(key, r.Domain, r.URL), ID: r.ID, In: key, Slot: r.Domain, Proof: proof, Spec: model.Rule{
			Domain: r.Domain, URL: r.URL, Certificate: certificateOf(r.Certificate), Settings: r.settings, Members: bound[r.ID], Balancer: of.balancer.Key, Batch: batch,
		}})
	}
	return out
}

// notedByOther returns the UID of another Service that has noted a listener, as far as this process knows.
func (s *Session) notedByOther(id string, o stack.Owner) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if by := s.noted[id]; by != o.UID {
		return by
	}
	return ""
}

// Orphans implements providers.Sweeper. The tags tell the cluster and the Service's UID. Other regions than that of the
// cluster are searched if the configuration names them, or a Service that the session has read.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	var all []balancerDoc
	for _, region := range s.regions.names(append(s.config.OtherRegions(), "")...) {
		some, err := s.allBalancers(ctx, region)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", listName(region), err)
		}
		all = append(all, some...)
	}
	var scopes []providers.Scope
	for _, d := range all {
		tags := d.tags()
		uid := tags[model.TagService]
		lives := slices.ContainsFunc(live.Services, func(o stack.Owner) bool { return o.UID == uid })
		if uid == "" || lives || model.MarkOf(tags, s.config.ClusterID, uid) != model.Ours {
			continue
		}
		scope := model.OwnedScope(model.Identity{Owner: stack.Owner{Name: d.Name, UID: uid}, Config: s.config})
		scope.Own = append(scope.Own, providers.Lookup{Kind: model.KindBalancer, By: model.ByRegion, Value: d.region})
		scopes = append(scopes, scope)
	}
	return kit.Orphans(s.Read(ctx, scopes), func(*stack.Stack) (bool, error) { return true, nil })
}
