package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Orphans implements providers.Sweeper. There are two kinds of marks.
//
// Newer names hold a hash of the cluster's identity; which Service they are of, the
// descriptions say, and the name must follow from that.
//
// Older names, a<uid>, tell a Service but no cluster. They count as this cluster's
// if what has them refers to something that only this cluster has, has one of its
// nodes behind it, or is a firewall for machines that are all its nodes. What none
// of this is true of may be another cluster's, and is left.
//
// What Services share is an orphan's only as far as it would go with the release of
// the last Service that uses it.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	if s.config.SystemUID == "" && s.config.ClusterID == "" {
		return nil, errors.New("cluster id: there is none, so nothing in the cloud is marked as this cluster's")
	}
	r := newRead(ctx, s, nil)
	if err := r.listMarked(); err != nil {
		return nil, err
	}
	w := newSweep(r, live)
	w.newer()
	if err := w.older(); err != nil {
		return nil, err
	}
	orphans := append(w.sorted(), &orphan{owner: stack.Owner{Name: sharedOrphan}})
	scopes := make([]providers.Scope, 0, len(orphans))
	for _, o := range orphans {
		scopes = append(scopes, o.scope(s.config))
	}
	var out []*stack.Stack
	for i, found := range s.Read(ctx, scopes) {
		switch {
		case found.Err != nil:
			return nil, found.Err
		case len(found.Blind) > 0:
			return nil, found.Blind.Err()
		}
		have := found.Have
		have.Owner = orphans[i].owner
		shared := have.Owner.Name == sharedOrphan
		have.Resources = slices.DeleteFunc(have.Resources, func(res stack.Resource) bool {
			return res.Proof == stack.None || shared && res.Key.Kind == model.KindGroup // other controllers keep them
		})
		owned := slices.ContainsFunc(have.Resources, func(res stack.Resource) bool { return res.Ownership == stack.Owned })
		if owned || shared && len(out) == 0 && len(have.Resources) > 0 {
			out = append(out, have)
		}
	}
	return out, nil
}

// sharedOrphan stands for resources that the cluster's Services shared and nothing in
// the project refers to. Where something else is left, they are deleted with that.
const sharedOrphan = "what Services shared"

// markedNames are the forms of all names that Services have, for filters.
func markedNames() []string { return []string{"a[0-9a-f]{31}.{0,31}", "k8s.{1,60}"} }

// listMarked lists everything that could carry marks. What cannot be seen as a whole
// is an error, since the marks of one thing may be on another.
func (r *read) listMarked() error {
	names := markedNames()
	kit.ForEach([]task{
		{familyRules, r.listRules}, {familyAddresses, r.listAddresses}, {familyPools, r.listPools}, {familyBackends, r.listBackends},
		{familyChecks, r.listChecks}, {familyHTTPChecks, r.listHTTPChecks}, {familyFirewalls, r.listFirewalls}, {familyNEGs, r.listNEGs},
	}, func(t task) {
		if err := t.run(names); err != nil {
			r.fail(t.family, err)
		}
	})
	var all []error
	for _, f := range slices.Sorted(maps.Keys(r.failed)) {
		all = append(all, fmt.Errorf("read %s: %w", f, r.failed[f]))
	}
	if err := r.blind.Err(); err != nil {
		all = append(all, err)
	}
	return fault.Listed(all...)
}

// orphan is a deleted Service, as the marks describe it, and its location.
type orphan struct {
	owner stack.Owner
	own   []providers.Lookup
}

// scope looks the orphan's resources up, and with them shared ones, by their use.
func (o *orphan) scope(c model.Config) providers.Scope {
	own := slices.Clone(o.own)
	for _, l := range model.OwnLookups(providers.Identity[model.Config]{Owner: o.owner, Config: c}, nil) {
		if l.By == model.ByUse {
			own = append(own, l)
		}
	}
	return providers.Scope{Owner: o.owner, Own: own}
}

// sweep sorts what is marked into what belongs to live Services and the rest.
type sweep struct {
	*read
	lbs      map[string]bool // names of live Services' load balancers
	services map[string]bool // live Services, namespace/name
	machines map[string]bool // nodes, as zone/instance
	known    model.Names     // the names of what the cluster's Services share
	found    map[string]*orphan
	tags     map[string]bool // see ownTags; nil: not asked for yet
}

func newSweep(r *read, live providers.Live) *sweep {
	w := &sweep{
		read: r, lbs: map[string]bool{}, services: map[string]bool{}, machines: map[string]bool{},
		known: model.NamesOf(r.config, stack.Owner{}), found: map[string]*orphan{},
	}
	for _, o := range live.Services {
		w.lbs[model.LoadBalancerName(o.UID)] = true
		w.services[model.ServiceName(o)] = true
	}
	for _, n := range live.Nodes {
		if m := model.MemberOf(n); m.Zone != "" {
			w.machines[m.Zone+"/"+m.Instance] = true
		}
	}
	return w
}

// newer finds what has a newer name: every Service that a description names, and
// that does not live, is looked up by its names.
func (w *sweep) newer() {
	if w.config.SystemUID == "" {
		return
	}
	for _, d := range w.described() {
		service := serviceIn(d.text)
		namespace, name, ok := strings.Cut(service, "/")
		if !ok || w.services[service] || w.found[service] != nil {
			continue
		}
		owner := stack.Owner{Namespace: namespace, Name: name}
		if own := w.lookups(owner, func(n model.Name) bool { return !n.OfUID() }); len(own) > 0 {
			w.found[service] = &orphan{owner: owner, own: own}
		}
	}
}

// lookups are those of the owner's names that there is something of.
func (w *sweep) lookups(o stack.Owner, which func(model.Name) bool) []providers.Lookup {
	var out []providers.Lookup
	for _, n := range model.OwnNames(w.config, o) {
		if !which(n) || len(w.things(n)) == 0 {
			continue
		}
		by := model.ByName
		if n.Pattern {
			by = model.ByPattern
		}
		out = append(out, providers.Lookup{Kind: n.Key.Kind, By: by, Value: n.Name})
	}
	return out
}

// older finds resources with an older name. They join the ones with newer names of the
// same Service, unless another load balancer of a Service of that name existed first.
func (w *sweep) older() error {
	balancers := w.balancers()
	for _, lb := range slices.Sorted(maps.Keys(balancers)) {
		o := &orphan{owner: ownerOfName(lb)}
		o.own = w.lookups(o.owner, model.Name.OfUID)
		ours, err := w.marked(lb)
		if err != nil {
			return err
		}
		if !ours || len(o.own) == 0 {
			continue
		}
		service := serviceOf(balancers[lb])
		namespace, name, ok := strings.Cut(service, "/")
		if ok && !w.services[service] { // else the newer names are those of the Service that lives
			o.owner.Namespace, o.owner.Name = namespace, name
			if rest := w.found[service]; rest != nil && rest.owner.UID == "" {
				o.own = append(o.own, rest.own...)
				delete(w.found, service)
			}
		}
		w.found[lb] = o
	}
	return nil
}

func (w *sweep) sorted() []*orphan {
	return slices.SortedFunc(maps.Values(w.found), func(a, b *orphan) int { return a.owner.Compare(b.owner) })
}
