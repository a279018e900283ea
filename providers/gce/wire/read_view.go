package wire

import (
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"

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
	object object
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
	return r.listed(check.Kind, check.Name) != nil || !r.complete(familyOf(check.Kind))
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
	out := make([]*computepb.ForwardingRule, 0, len(r.objects[familyRules]))
	for _, o := range r.objects[familyRules] {
		if f, is := o.(*computepb.ForwardingRule); is {
			out = append(out, f)
		}
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
	if n.Key.Kind != model.KindGroup && n.Key.Kind != model.KindNEG {
		if o := r.listed(n.Key.Kind, n.Name); o != nil {
			return []thing{thingOf(n, o)}
		}
		return nil
	}
	var out []thing
	for path, o := range r.objects[familyOf(n.Key.Kind)] {
		if key, fits := n.KeyAt(path); fits {
			t := thingOf(n, o)
			t.key = key
			out = append(out, t)
		}
	}
	return out
}

func thingOf(n model.Name, object object) thing {
	t := thing{key: n.Key, id: model.PathOf(object.GetSelfLink()), name: n, object: object}
	switch o := object.(type) {
	case *computepb.ForwardingRule:
		t.key.Kind = model.RuleKind(o.GetLoadBalancingScheme())
		t.refs = pathsOf(o.GetBackendService(), o.GetTarget())
	case *computepb.TargetPool:
		t.refs = pathsOf(o.GetHealthChecks()...)
	case *computepb.BackendService:
		t.refs = pathsOf(append(groupsOf(o), o.GetHealthChecks()...)...)
	}
	return t
}

// groupsOf are the URLs of the groups of a backend service.
func groupsOf(b *computepb.BackendService) []string {
	var out []string
	for _, backend := range b.GetBackends() {
		out = append(out, backend.GetGroup())
	}
	return out
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
