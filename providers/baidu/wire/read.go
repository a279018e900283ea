package wire

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Names of lists, in errors.
const (
	listBalancers = "lists of load balancers"
	listAddresses = "list of EIPs"
)

// Read returns the observed state of many Services at once: the lists for all of them, and the parts of
// each load balancer that a Service uses.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*model.Facts] {
	batch := kit.NewReadBatch()
	var balancers []balancerDoc
	var addresses []addressDoc
	asks := make([]map[string]bool, len(scopes))
	needed := false
	for i, scope := range scopes {
		if len(scope.Own) > 0 {
			needed, asks[i] = true, map[string]bool{listBalancers: true, listAddresses: true}
		}
	}
	if needed {
		batch.Lists(
			kit.List{Name: listBalancers, Run: func() (err error) { balancers, err = s.allBalancers(ctx); return err }},
			kit.List{Name: listAddresses, Run: func() (err error) { addresses, err = s.allAddresses(ctx); return err }},
		)
	}
	finders := make([]*finder, len(scopes))
	var details []kit.Detail
	for i, scope := range scopes {
		finders[i] = &finder{session: s, scope: scope, out: &stack.Stack{Owner: scope.Owner}}
		finders[i].find(ctx, balancers, addresses)
		details = append(details, finders[i].details(ctx)...)
	}
	batch.Details(details)
	out := make([]providers.Found[*model.Facts], len(scopes))
	for i, f := range finders {
		blind, err := batch.Faults(asks[i], f.things)
		if err == nil {
			err = f.err
		}
		for _, id := range f.things {
			switch {
			case err != nil || !batch.Gone(id):
			case s.missing(id) == stateGone:
				f.forget(id)
			default:
				err = fault.New(fault.Unavailable, "the load balancer %s is listed, and was not found when its parts were read", id)
			}
		}
		out[i] = providers.Found[*model.Facts]{At: s.now(), Facts: &model.Facts{}, Have: f.out, Blind: blind, Err: err}
	}
	return out
}

// allBalancers returns the load balancers of both kinds. Lists without a type may lack those of IPv6.
func (s *Session) allBalancers(ctx context.Context) ([]balancerDoc, error) {
	var out []balancerDoc
	listed := map[string]bool{}
	for _, root := range []string{rootApp, rootNormal} {
		for _, of := range [][]string{nil, {"type", "ipv6"}} {
			page, err := listAll[balancerDoc](ctx, s, "blbList", newRequest(apiBLB, http.MethodGet, root, nil, of...))
			if err != nil {
				return nil, err
			}
			for _, d := range page {
				if d.kind = strings.TrimPrefix(root, "/v1/"); !listed[d.kind+d.ID] {
					out = append(out, d)
				}
				listed[d.kind+d.ID] = true
			}
		}
	}
	more, err := s.unlisted(ctx, listed)
	out = append(out, more...)
	s.noteBalancers(out)
	return out, err
}

// noteBalancers notes which load balancers are normal ones, and which are busy with a change.
func (s *Session) noteBalancers(all []balancerDoc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range all {
		if d.kind == model.BLB {
			s.normal[d.ID] = true
		}
		if isBusy(d.Status) {
			s.running[d.ID] = true
		}
	}
}

func (s *Session) allAddresses(ctx context.Context) ([]addressDoc, error) {
	return listAll[addressDoc](ctx, s, "eipList", newRequest(apiEIP, http.MethodGet, rootEIP, nil))
}

// finder assembles what was found of one Service.
type finder struct {
	session *Session
	scope   providers.Scope
	out     *stack.Stack
	things  []string // ids of the load balancers that were looked at
	parts   []place
	address string // the Service's own
	err     error
}

// place is a load balancer with what its parts are judged by.
type place struct {
	owner    stack.Owner
	balancer stack.Resource
	kind     string
	mark     string
	// exclusive says that the load balancer is the Service's alone.
	exclusive bool
	external  bool            // its parts stay
	noted     map[string]bool // names of ports
	// evident are names of ports with node ports: the controller of CCE has created their listeners.
	evident map[string]bool
}

// isEvident reports whether a listener sends to the node port of a port of the Service.
func (p place) isEvident(protocol string, port, nodePort int32) bool {
	return nodePort != 0 && p.evident[model.NodePortName(protocol, port, nodePort)]
}

// mayUse reports whether a listener of the Service that has no mark may send to a group.
func (p place) mayUse(d groupDoc) bool {
	return len(p.noted) > 0 || slices.ContainsFunc(d.Ports, func(t targetDoc) bool {
		end := fmt.Sprintf("-%d", t.Port)
		return slices.ContainsFunc(sortedKeys(p.evident), func(name string) bool { return strings.HasSuffix(name, end) })
	})
}

// find selects the Service's resources of the lists. The address and the load balancer are looked for
// independently.
func (f *finder) find(ctx context.Context, balancers []balancerDoc, addresses []addressDoc) {
	for _, l := range f.scope.Own {
		if l.Kind == model.KindAddress {
			f.findAddress(addresses, balancers)
		}
	}
	for _, l := range f.scope.Own {
		switch {
		case f.err != nil || l.Kind != model.KindBalancer:
		case l.By == model.ByTag, l.By == model.ByReserve:
			f.findOwn(ctx, balancers, l.By == model.ByReserve)
		case l.By == model.ByID, l.By == model.ByAddedID:
			f.findNamed(ctx, balancers, l)
		case l.By == model.ByName:
			f.findByName(ctx, balancers, l.Value)
		}
	}
}

func (f *finder) markOf(tags []tagDoc) model.Mark {
	return model.MarkOf(tagsOf(tags), f.session.config.ClusterID, f.scope.Owner.UID)
}

// findAddress selects the address with the tag of the Service. Of several one stays, and the others are deleted. A
// prepaid one cannot be deleted.
func (f *finder) findAddress(all []addressDoc, balancers []balancerDoc) {
	own := slices.DeleteFunc(slices.Clone(all), func(d addressDoc) bool { return f.markOf(d.Tags) != model.Ours })
	kit.SortMarked(own, func(d addressDoc) kit.Marked {
		bound := slices.ContainsFunc(balancers, func(lb balancerDoc) bool { return lb.ID == d.Instance && f.markOf(lb.Tags) == model.Ours })
		return kit.Marked{ID: d.Address, Created: d.Created, Recorded: bound || kit.IsRecorded(f.scope, d.Address)}
	})
	for i, d := range own {
		r := stack.Resource{Key: model.AddressKey(), ID: d.Address, Proof: stack.Tag, Spec: d.spec()}
		switch prepaid := d.Payment == "Prepaid"; {
		case i == 0:
			f.address = d.Address
			if prepaid {
				r.Ownership = stack.External
			}
		case prepaid:
			continue
		default:
			r.Key = providers.DuplicateKey(model.KindAddress, d.Address)
		}
		f.out.Put(r)
	}
}

// findOwn selects the load balancer with the tags of the Service. Of several one stays, and the others are deleted.
// One with a part of the tags has no proof.
func (f *finder) findOwn(ctx context.Context, all []balancerDoc, stays bool) {
	var own, partial []balancerDoc
	for _, d := range all {
		switch f.markOf(d.Tags) {
		case model.Ours:
			own = append(own, d)
		case model.Partial:
			partial = append(partial, d)
		case model.Foreign, model.Unmarked:
		}
	}
	normal := slices.IndexFunc(own, func(d balancerDoc) bool { return d.kind == model.BLB })
	if len(own) > 1 && normal < 0 {
		if own, f.err = f.sortOwn(ctx, own); f.err != nil {
			return
		}
	}
	switch {
	case normal >= 0:
		f.err = fault.New(fault.Conflict, "the normal load balancer %s has the tag of the Service, which controllers give to application load balancers; remove the tag to keep it, or delete it", own[normal].ID)
	case len(own) > 0:
		r := stack.Resource{Key: model.OwnKey(), ID: own[0].ID, Proof: stack.Tag, Spec: own[0].spec(f.address)}
		if stays {
			r.Ownership = stack.External
		}
		f.take(place{balancer: r, kind: model.AppBLB, exclusive: true, external: stays})
		for _, d := range own[1:] {
			f.out.Put(stack.Resource{Key: providers.DuplicateKey(model.KindBalancer, d.ID), ID: d.ID, Proof: stack.Tag, Spec: d.spec(f.address)})
		}
	case len(partial) > 0:
		f.out.Put(stack.Resource{Key: model.OwnKey(), ID: partial[0].ID, Spec: partial[0].spec(f.address)})
	}
}

// sortOwn orders several load balancers with the tags of the Service, the one that stays first: it has the Service's
// address, or that of its status, or is the oldest. Lists do not show when one was created.
func (f *finder) sortOwn(ctx context.Context, own []balancerDoc) (out []balancerDoc, err error) {
	for _, d := range own {
		var got balancerDoc
		err := f.session.read(ctx, newRequest(apiBLB, http.MethodGet, rootApp+"/"+d.ID, nil), &got)
		switch {
		case fault.Is(err, fault.NotFound): // deleted since it was listed
		case err != nil:
			return nil, err
		default:
			d.Created = got.Created
			out = append(out, d)
		}
	}
	kit.SortMarked(out, func(d balancerDoc) kit.Marked {
		bound := d.PublicIP != "" && d.PublicIP == f.address
		return kit.Marked{ID: d.ID, Created: d.Created, Recorded: bound || kit.IsRecorded(f.scope, d.PublicIP, d.Address)}
	})
	return out, nil
}

func (f *finder) take(p place) {
	p.owner, p.mark = f.scope.Owner, model.OwnerMark(f.session.config.ClusterID, f.scope.Owner.UID)
	f.things = append(f.things, p.balancer.ID)
	f.out.Put(p.balancer)
	f.parts = append(f.parts, p)
}

// hasBalancer reports whether a load balancer of the Service was found.
func (f *finder) hasBalancer() bool { return len(f.things) > 0 }

// findNamed adds a load balancer that an annotation names, unless it is the Service's own. An id of both
// kinds is none: nothing says what it would be written as.
func (f *finder) findNamed(ctx context.Context, all []balancerDoc, l providers.Lookup) {
	var found []balancerDoc
	for _, d := range all {
		if d.ID == l.Value {
			found = append(found, d)
		}
	}
	switch {
	case len(found) > 1:
		f.err = fault.New(fault.Conflict, "the load balancer %s is listed as an application and as a normal load balancer; remove the annotation that names it", l.Value)
	case len(found) == 0 || slices.Contains(f.things, l.Value):
	case l.By == model.ByAddedID && (f.hasBalancer() || found[0].kind != model.BLB || f.markOf(found[0].Tags) != model.Unmarked):
		// a copied manifest
	case !f.hasBalancer():
		f.takeExisting(ctx, found[0])
	}
}

// findByName adds the normal load balancer that an open controller has created for the Service.
func (f *finder) findByName(ctx context.Context, all []balancerDoc, name string) {
	var found []balancerDoc
	for _, d := range all {
		if d.kind == model.BLB && d.Name == name && f.markOf(d.Tags) == model.Unmarked {
			found = append(found, d)
		}
	}
	switch {
	case f.hasBalancer():
	case len(found) > 1:
		f.err = fault.New(fault.Conflict, "the normal load balancers %s and %s both have the name %s; name one by %s", found[0].ID, found[1].ID, name, model.IDKeyName())
	case len(found) == 1:
		f.takeExisting(ctx, found[0])
	}
}

// takeExisting adds a load balancer that is not the Service's own.
func (f *finder) takeExisting(ctx context.Context, d balancerDoc) {
	r := stack.Resource{Key: model.ExistingKey(d.ID), ID: d.ID, Ownership: stack.External, Spec: d.spec(f.address)}
	p := place{balancer: r, kind: d.kind, evident: f.evidence(d)}
	if d.kind == model.BLB || p.evident != nil {
		noted, err := f.session.notedOf(ctx, f.scope.Owner, d.ID)
		if err != nil {
			f.err = err
			return
		}
		if p.noted = noted; noted != nil {
			f.out.Put(stack.Resource{
				Key: model.ClaimKey(), ID: model.NoteOf(f.scope.Owner), Proof: stack.Derived, Spec: model.Claim{Balancer: d.ID, Listeners: sortedKeys(noted)},
			})
		}
	}
	f.take(p)
}

// evidence returns the ports of the Service with their node ports, by which listeners on a load balancer are the
// Service's that the controller of CCE has created. Its tag says that only this cluster uses the load balancer.
func (f *finder) evidence(d balancerDoc) map[string]bool {
	used, cluster := tagsOf(d.Tags)[model.TagUsed], f.session.config.ClusterID
	if d.kind != model.AppBLB || used != cluster && used != model.OwnerMark(cluster, f.scope.Owner.UID) {
		return nil
	}
	out := map[string]bool{}
	for _, l := range f.scope.Own {
		if l.By == model.ByNodePort {
			out[l.Value] = true
		}
	}
	return out
}

// notedOf returns the listeners that a Service has noted on a load balancer; nil: there is no note.
func (s *Session) notedOf(ctx context.Context, o stack.Owner, id string) (map[string]bool, error) {
	if s.notes == nil {
		return nil, nil //nolint:nilnil // without a cluster there are no notes
	}
	note, err := s.notes.Read(ctx, o.Namespace, model.NoteOf(o))
	if err != nil || note[model.NoteBalancer] != id {
		return nil, err
	}
	out := map[string]bool{}
	for _, name := range splitNames(note[model.NoteListeners]) {
		out[name] = true
	}
	return out, nil
}

// forget removes a load balancer that was deleted after it was listed, and its parts.
func (f *finder) forget(id string) {
	for _, p := range f.parts {
		if p.balancer.ID == id {
			f.out.Drop(p.balancer.Key)
		}
	}
}

// Orphans implements providers.Sweeper. The tag tells the cluster and the Service's UID.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	balancers, err := s.allBalancers(ctx)
	if err != nil {
		return nil, err
	}
	addresses, err := s.allAddresses(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]string{} // by UID
	for _, d := range addresses {
		names[model.UIDOf(tagsOf(d.Tags), s.config.ClusterID)] = d.Name
	}
	for _, d := range balancers {
		names[model.UIDOf(tagsOf(d.Tags), s.config.ClusterID)] = d.Name
	}
	delete(names, "")
	for _, o := range live.Services {
		delete(names, o.UID)
	}
	var scopes []providers.Scope
	for _, uid := range sortedKeys(names) {
		scopes = append(scopes, model.OwnedScope(model.Identity{Owner: stack.Owner{Name: names[uid], UID: uid}, Config: s.config}))
	}
	return kit.Orphans(s.Read(ctx, scopes), func(*stack.Stack) (bool, error) { return true, nil })
}
