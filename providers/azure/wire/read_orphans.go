package wire

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Orphans implements providers.Sweeper. The cluster's load balancers have its name;
// frontends, rules and probes in them are a Service's by its UID. Tags of public IPs and
// private link services name their cluster and Service. An entry of the security group is
// an orphan's if it is for an address that the orphan has. A resource that does not name
// the cluster may belong to another one, and is retained.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	w := newSweep(s, live)
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	orphans := w.sorted()
	scopes := make([]providers.Scope, 0, len(orphans))
	for _, o := range orphans {
		scope := model.OwnedScope(providers.Identity[model.Config]{Owner: o.owner, Cluster: s.cluster, Config: s.config})
		scope.Nodes = nodeports.Select(live.Nodes, nodeports.Filter{}) // their addresses are in use
		scopes = append(scopes, scope)
	}
	var out []*stack.Stack
	for i, found := range s.Read(ctx, scopes) {
		switch {
		case found.Err != nil:
			return nil, found.Err
		case len(found.Blind) > 0:
			return nil, found.Blind.Err()
		}
		if have := w.leftOf(orphans[i], found.Have); len(have.Resources) > 0 {
			out = append(out, have)
		}
	}
	return out, nil
}

// orphan holds the marks of a Service that no longer exists.
type orphan struct {
	owner stack.Owner
	pools []poolAt // of its own, in which its rules send
}

// poolAt is a pool in a load balancer.
type poolAt struct {
	lb   model.Object
	name string
}

// sweep sorts what is marked into what belongs to live Services and the rest.
type sweep struct {
	*Session
	read     *read
	bases    map[string]bool // base names of live Services, in lower case
	uids     map[string]bool // their UIDs, in lower case
	services map[string]bool // namespace/name
	nodes    map[string]bool // addresses
	found    map[string]*orphan
}

func newSweep(s *Session, live providers.Live) *sweep {
	w := &sweep{Session: s, bases: map[string]bool{}, uids: map[string]bool{}, services: map[string]bool{}, nodes: addressesOf(slices.Values(live.Nodes)), found: map[string]*orphan{}}
	for _, o := range live.Services {
		w.bases[strings.ToLower(model.BaseName(o.UID))], w.uids[strings.ToLower(o.UID)], w.services[model.ServiceKey(o)] = true, true, true
	}
	return w
}

// look reads what could carry marks. What cannot be seen as a whole is an error,
// since marks of one thing may be on another.
func (w *sweep) look(ctx context.Context) error {
	scope := model.OwnedScope(providers.Identity[model.Config]{Cluster: w.cluster, Config: w.config})
	w.read = newRead(ctx, w.Session, []providers.Scope{scope})
	if w.config.PodIP() {
		kit.Together(
			func() { w.read.note(w.read.listBalancers(w.config.Group, true), model.KindContainer) },
			func() { w.read.note(w.read.listGateway(pathServices), model.KindRegistered) },
			func() { w.read.note(w.read.listGateway(pathLocations), model.KindPods) },
		)
		w.containers()
	} else {
		kit.Together(w.read.shareds()...)
		w.balancers()
		w.tagged()
	}
	blind, err := w.read.faults(scope)
	if err == nil {
		err = blind.Err()
	}
	return err
}

// orphanOf returns the orphan of a base name. So much of the UID as is in the name gives
// the same name again.
func (w *sweep) orphanOf(base string) *orphan {
	if w.found[base] == nil {
		w.found[base] = &orphan{owner: stack.Owner{Name: base, UID: strings.TrimPrefix(base, "a")}}
	}
	return w.found[base]
}

// gone is the base name of a part that no live Service has; "" for all others.
func (w *sweep) gone(name string) string {
	if base := model.BaseOf(name); !w.bases[base] {
		return base
	}
	return ""
}

// balancers looks at the parts of the cluster's load balancers.
func (w *sweep) balancers() {
	for _, lb := range w.read.balancers {
		for _, list := range []string{model.ListFrontends, model.ListRules, model.ListProbes} {
			for _, part := range lb.Props().List(list) {
				base := w.gone(part.Text("name"))
				if base == "" {
					continue
				}
				o := w.orphanOf(base)
				if pool := model.PoolOf(part); list == model.ListRules && pool != "" && !model.IsClusterPool(w.cluster, pool) {
					o.pools = append(o.pools, poolAt{lb, pool})
				}
			}
		}
	}
}

// tagged looks at public IPs and private link services that name this cluster and a
// Service that does not live. Where only one load balancer of a gone Service is on
// them, tag and name are of the same Service.
func (w *sweep) tagged() {
	var alone []string
	note := func(gone, bases []string) {
		if len(gone) == 1 && len(bases) == 1 {
			w.orphanOf(bases[0]).noteName(gone[0])
			return
		}
		alone = append(alone, gone...)
	}
	for _, group := range slices.Sorted(maps.Keys(w.read.byGroup)) {
		for _, o := range w.read.byGroup[group] {
			f := model.PublicIPOf(o)
			if !w.ofThis(f.Tags) {
				continue
			}
			name := f.BaseIn(w.cluster)
			if base := w.gone(name); base != "" && len(f.Services) == 0 {
				w.orphanOf(base) // see GivenUp
				continue
			}
			gone := slices.DeleteFunc(slices.Clone(f.Services), func(s string) bool { return w.services[s] })
			note(gone, w.basesOn(f.Attached, name))
		}
	}
	for _, group := range slices.Sorted(maps.Keys(w.read.linksIn)) {
		for _, o := range w.read.linksIn[group] {
			service, _ := o.Tags().Get(model.TagOwner)
			if !w.ofThis(o.Tags()) || w.services[service] {
				continue
			}
			for _, f := range o.Props().List("loadBalancerFrontendIpConfigurations") {
				note([]string{service}, w.basesOn(f.Text("id"), ""))
			}
		}
	}
	for _, service := range alone {
		w.alone(service)
	}
}

// basesOn are the base names of gone Services that have a frontend or send from it,
// and the one that begins another name, if it does.
func (w *sweep) basesOn(frontend, name string) []string {
	names := []string{name, model.LastSegment(frontend)}
	for _, lb := range w.read.balancers {
		if strings.EqualFold(model.SegmentAfter(frontend, "loadbalancers"), lb.Text("name")) {
			rules, _ := model.UsersOf(lb, model.LastSegment(frontend))
			names = append(names, rules...)
		}
	}
	var out []string
	for _, n := range names {
		if base := w.gone(n); base != "" {
			out = append(out, base)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ofThis reports whether tags name this cluster.
func (w *sweep) ofThis(t model.Tags) bool { return t.Cluster() != "" && t.OfCluster(w.cluster) }

// noteName notes what a tag says of the Service's name.
func (o *orphan) noteName(service string) {
	if namespace, name, ok := strings.Cut(service, "/"); ok {
		o.owner.Namespace, o.owner.Name = namespace, name
	}
}

// alone is the orphan of a Service of which a tag tells the name only.
func (w *sweep) alone(service string) {
	for _, o := range w.found {
		if model.ServiceKey(o.owner) == service {
			return
		}
	}
	o := &orphan{}
	o.noteName(service)
	if o.owner.Name != "" {
		w.found[service] = o
	}
}

// containers looks, where pools are of pods, at load balancers of that SKU and at the
// Services that the cluster's gateway has: both have a UID as their name.
func (w *sweep) containers() {
	uid := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	note := func(name string) {
		if name = strings.ToLower(name); uid.MatchString(name) && !w.uids[name] {
			w.found[name] = &orphan{owner: stack.Owner{Name: name, UID: name}}
		}
	}
	for _, lb := range w.read.balancers {
		if strings.EqualFold(lb.In("sku").Text("name"), model.SKUService) {
			note(lb.Text("name"))
		}
	}
	for _, service := range w.read.gateway.Services {
		if model.ServesInbound(service) {
			note(service.Text("name"))
		}
	}
	for _, location := range w.read.gateway.Locations {
		for _, address := range location.List(model.FieldAddresses) {
			for _, service := range address.Texts(model.FieldServices) {
				note(service)
			}
		}
	}
}

func (w *sweep) sorted() []*orphan {
	return slices.SortedFunc(maps.Values(w.found), func(a, b *orphan) int { return a.owner.Compare(b.owner) })
}

// leftOf leaves out what was found beside the orphan: public IPs that do not name the
// cluster, and entries of the security group for addresses that it does not have.
func (w *sweep) leftOf(o *orphan, have *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: o.owner}
	addresses := maps.Clone(w.nodes)
	for _, r := range have.Resources {
		switch spec := r.Spec.(type) {
		case model.PublicIP:
			addresses[spec.Address] = true
		case model.Entries:
			for _, f := range spec.Frontends {
				addresses[f.Address] = true
			}
		}
	}
	for _, r := range have.Resources {
		access, isAccess := r.Spec.(model.Access)
		if r.Proof != stack.None && (!isAccess || addresses[access.Destination]) && !w.unnamed(have, r) {
			out.Resources = append(out.Resources, r)
		}
	}
	if len(out.Resources) > 0 {
		for _, p := range o.pools {
			base := model.BaseName(o.owner.UID)
			if _, there := out.Get(model.PoolKey(p.lb.Text("name"), p.name)); !there && model.PoolOwned(p.lb, p.name, base) && !model.PoolInUse(p.lb, p.name, base) {
				w.read.putPool(out, p.lb, p.name, stack.Derived)
			}
		}
	}
	out.Sort()
	return out
}

// unnamed reports whether a public IP, or its binding, belongs to an unnamed cluster.
func (w *sweep) unnamed(have *stack.Stack, r stack.Resource) bool {
	key := r.Key
	if key.Kind != model.KindPublicIP && key.Kind != model.KindBinding {
		return false
	}
	key.Kind = model.KindPublicIP
	spec, ok := stack.SpecOf[model.PublicIP](have, key)
	return !ok || !w.ofThis(spec.Tags)
}
