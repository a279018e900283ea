package wire

import (
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"
	raw "google.golang.org/api/compute/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/stack"
)

// view is what one Service may see of what was read.
type view struct {
	scope  providers.Scope
	deep   bool
	things []thing
	keys   map[string]stack.Key // of things in the answer, by path
}

// thing is one found object that belongs to an answer.
type thing struct {
	key    stack.Key
	id     string
	name   model.Name
	object any      // of the library
	refs   []string // paths that it refers to
}

// view chooses what belongs to the answer: what has the Service's own names or
// shared ones that it wants, and then those shared ones whose use brings them in.
func (r *read) view(scope providers.Scope) *view {
	v := &view{scope: scope, deep: scope.Depth == providers.Deep, keys: map[string]stack.Key{}}
	known := knownNames(r.config, scope.Owner)
	var later []model.Name
	for _, l := range scope.Own {
		if !v.deep && l.Kind != model.KindRules {
			continue
		}
		n, ok := known[nameID{l.Kind, l.Value}]
		switch {
		case !ok:
		case l.By == model.ByUse:
			later = append(later, n)
		default:
			v.add(r.things(n)...)
		}
	}
	// Checks and groups follow from backend services, firewalls from checks.
	for _, kind := range []stack.Kind{model.KindBackend, model.KindCheck, model.KindRegionalCheck, model.KindHTTPCheck, model.KindGroup, model.KindCheckFirewall} {
		for _, n := range later {
			if n.Key.Kind == kind {
				v.add(r.inUse(v, r.things(n))...)
			}
		}
	}
	r.nameUnseen(v, known)
	return v
}

// nameUnseen gives keys to groups that backend services refer to and a list could not show.
// The path of a group has its zone and its name, from which its key follows.
func (r *read) nameUnseen(v *view, known map[nameID]model.Name) {
	unseen := slices.DeleteFunc(slices.Clone(v.scope.Own), func(l providers.Lookup) bool {
		return (l.Kind != model.KindGroup || r.complete(familyGroups)) && (l.Kind != model.KindNEG || r.complete(familyNEGs))
	})
	for _, t := range v.things {
		for _, path := range t.refs {
			for _, l := range unseen {
				n, ok := known[nameID{l.Kind, l.Value}]
				if key, fits := n.KeyAt(path); ok && fits && v.keys[path] == (stack.Key{}) {
					v.keys[path] = key
				}
			}
		}
	}
}

func (v *view) add(things ...thing) {
	for _, t := range things {
		if _, twice := v.keys[t.id]; !twice {
			v.keys[t.id] = t.key
			v.things = append(v.things, t)
		}
	}
}

// inUse leaves those things that something in the answer refers to, or nothing
// in the project at all.
func (r *read) inUse(v *view, things []thing) []thing {
	return slices.DeleteFunc(things, func(t thing) bool {
		if t.key.Kind == model.KindCheckFirewall {
			return !r.bringsFirewall(v, t.key.Name)
		}
		referred := slices.ContainsFunc(v.things, func(o thing) bool { return slices.Contains(o.refs, t.id) })
		return !referred && !r.leftOver(t)
	})
}

// bringsFirewall: a shared firewall is found with its checks, and is a left-over when
// none of them exists.
func (r *read) bringsFirewall(v *view, name string) bool {
	gone := true
	for _, k := range model.FirewallChecks(name) {
		if slices.ContainsFunc(v.things, func(t thing) bool { return t.key == k }) {
			return true
		}
		gone = gone && !r.mayExist(k)
	}
	return gone
}

// mayExist errs on yes where the list is not complete.
func (r *read) mayExist(check stack.Key) bool {
	family, there := familyChecks, false
	switch check.Kind {
	case model.KindHTTPCheck:
		family = familyHTTPChecks
		_, there = r.httpChecks[check.Name]
	case model.KindRegionalCheck:
		_, there = r.regionChecks[check.Name]
	default:
		_, there = r.checks[check.Name]
	}
	return there || !r.complete(family)
}

func (r *read) complete(f family) bool { return r.asked[f] && r.failed[f] == nil && !r.unsure[f] }

// leftOver reports whether nothing in the project refers to the resource.
func (r *read) leftOver(t thing) bool {
	if t.key.Kind == model.KindBackend {
		return r.complete(familyRules) && !slices.ContainsFunc(r.allRules(), func(f *computepb.ForwardingRule) bool { return model.PathOf(f.GetBackendService()) == t.id })
	}
	sure := r.complete(familyBackends)
	if t.key.Kind == model.KindHTTPCheck {
		sure = sure && r.complete(familyPools)
	}
	return sure && !r.users[t.id]
}

func (r *read) allRules() []*computepb.ForwardingRule {
	out := make([]*computepb.ForwardingRule, 0, len(r.forwarding))
	for _, f := range r.forwarding {
		out = append(out, f)
	}
	return out
}

// nameID is how a look-up names a name.
type nameID struct {
	kind stack.Kind
	name string
}

// knownNames are all names that the Service may use, its own and shared ones.
func knownNames(c model.Config, o stack.Owner) map[nameID]model.Name {
	out := map[nameID]model.Name{}
	for _, n := range slices.Concat(model.OwnNames(c, o), model.SharedNames(c)) {
		out[nameID{n.Key.Kind, n.Name}] = n
	}
	return out
}

// things are the found objects of a name: one, or for zonal kinds some.
func (r *read) things(n model.Name) []thing {
	switch n.Key.Kind {
	case model.KindRules:
		return oneThing(r.forwarding[n.Name], n, ruleThing)
	case model.KindAddress:
		return oneThing(r.addressList[n.Name], n, func(a *computepb.Address, n model.Name) thing { return plainThing(n, a.GetSelfLink(), a) })
	case model.KindPool:
		return oneThing(r.pools[n.Name], n, poolThing)
	case model.KindBackend:
		return oneThing(r.backends[n.Name], n, backendThing)
	case model.KindCheck:
		return oneThing(r.checks[n.Name], n, checkThing)
	case model.KindRegionalCheck:
		return oneThing(r.regionChecks[n.Name], n, checkThing)
	case model.KindHTTPCheck:
		return oneThing(r.httpChecks[n.Name], n, func(c *raw.HttpHealthCheck, n model.Name) thing { return plainThing(n, c.SelfLink, c) })
	case model.KindFirewall, model.KindCheckFirewall, model.KindDeny:
		return oneThing(r.firewalls[n.Name], n, func(f *computepb.Firewall, n model.Name) thing { return plainThing(n, f.GetSelfLink(), f) })
	case model.KindGroup:
		return r.groupThings(n)
	default:
		return r.negThings(n)
	}
}

func oneThing[T any](object *T, n model.Name, make func(*T, model.Name) thing) []thing {
	if object == nil {
		return nil
	}
	return []thing{make(object, n)}
}

func plainThing(n model.Name, link string, object any) thing {
	return thing{key: n.Key, id: model.PathOf(link), name: n, object: object}
}

func ruleThing(f *computepb.ForwardingRule, n model.Name) thing {
	t := plainThing(n, f.GetSelfLink(), f)
	t.key.Kind = model.RuleKind(f.GetLoadBalancingScheme())
	t.refs = pathsOf(f.GetBackendService(), f.GetTarget())
	return t
}

func poolThing(p *computepb.TargetPool, n model.Name) thing {
	t := plainThing(n, p.GetSelfLink(), p)
	t.refs = pathsOf(p.GetHealthChecks()...)
	return t
}

func backendThing(b *computepb.BackendService, n model.Name) thing {
	t := plainThing(n, b.GetSelfLink(), b)
	t.refs = pathsOf(b.GetHealthChecks()...)
	for _, backend := range b.GetBackends() {
		t.refs = append(t.refs, model.PathOf(backend.GetGroup()))
	}
	return t
}

func checkThing(c *computepb.HealthCheck, n model.Name) thing {
	return plainThing(n, c.GetSelfLink(), c)
}

func (r *read) groupThings(n model.Name) []thing {
	var out []thing
	for _, g := range r.groupList {
		out = append(out, zonalThing(n, g.GetSelfLink(), g)...)
	}
	return out
}

func (r *read) negThings(n model.Name) []thing {
	var out []thing
	for _, g := range r.negs {
		out = append(out, zonalThing(n, g.GetSelfLink(), g)...)
	}
	return out
}

// zonalThing returns a group if it has the name.
func zonalThing(n model.Name, link string, object any) []thing {
	t := plainThing(n, link, object)
	key, fits := n.KeyAt(t.id)
	if !fits {
		return nil
	}
	t.key = key
	return []thing{t}
}

func pathsOf(urls ...string) []string {
	var out []string
	for _, u := range urls {
		if u != "" {
			out = append(out, model.PathOf(u))
		}
	}
	return out
}
