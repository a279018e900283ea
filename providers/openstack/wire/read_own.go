package wire

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// candidates are the load balancers that a Service may use as its own.
type candidates struct {
	kept *balancer // nil: there is none
	// foreign reports that kept has the Service's name and belongs to another cluster.
	foreign bool
	// duplicates are further ones of the Service, by creations that took effect late.
	duplicates []*balancer
}

// candidates finds the Service's load balancers: the one of the id if there is one, else
// those of the Service's name that are proven to be this cluster's. A creation is not
// idempotent, and one of a previous process may take effect late: of several that agree in
// name, tag and description the recorded one is kept, or else the oldest, and the others
// become duplicates. The error says that several do not agree.
func (f *finder) candidates(names []string, id string) (c candidates, err error) {
	named, foreign, err := f.ofNames(names, id, &c)
	if err != nil {
		return c, err
	}
	if len(named) > 1 { // one that is being deleted leaves its name to the others
		named = slices.DeleteFunc(named, func(lb *balancer) bool { return lb.Provisioning == pendingDelete })
	}
	kit.SortMarked(named, func(lb *balancer) kit.Marked {
		return kit.Marked{ID: lb.ID, Created: lb.Created, Failed: lb.Provisioning == failed}
	})
	if len(named) > 0 && f.isReplacement(named[0], c.kept) {
		c.kept, named[0] = named[0], c.kept
	}
	switch {
	case c.kept == nil && len(named) > 0:
		c.kept, named = named[0], named[1:]
		if i := slices.IndexFunc(named, func(lb *balancer) bool { return !sameService(c.kept, lb) }); i >= 0 {
			return c, fault.New(fault.Invalid, "load balancers %s and %s are both named %q, and differ in description or tags, so that nothing shows which is this Service's; delete one, or name one by its id in the annotation %s",
				c.kept.ID, named[i].ID, c.kept.Spec.Name, model.IDKey())
		}
	case c.kept == nil && len(foreign) > 0:
		c.kept, c.foreign = foreign[0], true
		return c, nil
	case c.kept == nil || !slices.Contains(names, c.kept.Spec.Name):
		return c, nil // see former
	}
	for _, lb := range named {
		if sameService(c.kept, lb) && f.disposable(lb) {
			c.duplicates = append(c.duplicates, lb)
			f.out.Put(stack.Resource{Key: providers.DuplicateKey(model.KindBalancer, lb.ID), ID: lb.ID, State: stateOf(lb.Provisioning), Proof: stack.Name, Spec: f.spec(lb)})
		}
	}
	return c, nil
}

// ofNames returns the load balancers of these names, those of this cluster and those of
// another one, and keeps the one of the id.
func (f *finder) ofNames(names []string, id string, c *candidates) (named, foreign []*balancer, err error) {
	for i := range f.view.balancers {
		lb := &f.view.balancers[i]
		switch {
		case lb.ID == id:
			c.kept = lb
			continue
		case !slices.Contains(names, lb.Spec.Name) || lb.Provisioning == deleted:
			continue
		}
		proven, err := f.proven(lb)
		if err != nil {
			return nil, nil, err
		}
		if proven {
			named = append(named, lb)
		} else {
			foreign = append(foreign, lb)
		}
	}
	return named, foreign, nil
}

// isReplacement reports whether a load balancer replaces the recorded one, which is in ERROR and
// forwards nothing. A process that ended in between has recorded the old one.
func (f *finder) isReplacement(lb, recorded *balancer) bool {
	return recorded != nil && recorded.Provisioning == failed && f.isDark(recorded) && lb.Provisioning != failed && sameService(recorded, lb)
}

// sameService reports whether two load balancers were created for the same Service, and no other
// Service uses them.
func sameService(a, b *balancer) bool {
	own := func(lb *balancer) bool { return len(model.OtherTags(lb.Tags, lb.Spec.Name)) == 0 }
	return a.Spec.Name == b.Spec.Name && a.Spec.Description == b.Spec.Description && slices.Contains(a.Tags, a.Spec.Name) == slices.Contains(b.Tags, b.Spec.Name) && own(b)
}

// proven reports whether a load balancer of the Service's name is this cluster's, since
// clusters of one name may share a project: it has no members, or one of them is a node of
// this cluster. A name that has the Service's UID is proof enough.
func (f *finder) proven(lb *balancer) (bool, error) {
	if f.scope.Depth == providers.Shallow || lb.Spec.Name == model.LegacyName(f.scope.Owner) {
		return true, nil
	}
	empty := true
	for _, p := range f.view.poolsOf(lb) {
		if err := f.view.missing[p.ID]; err != nil {
			return false, err
		}
		empty = empty && len(f.view.members[p.ID]) == 0
	}
	return empty || f.behind(lb), nil
}

// disposable reports whether a duplicate may be deleted: it has nodes of this cluster
// behind it, or nothing listens on it.
func (f *finder) disposable(lb *balancer) bool {
	return f.behind(lb) || len(lb.Listeners) == 0 && len(f.view.poolsOf(lb)) == 0
}

// behind reports whether nodes of this cluster are behind a load balancer. It tells clusters
// of one name apart.
func (f *finder) behind(lb *balancer) bool {
	isNode := func(m member) bool {
		for node := range f.scope.Nodes.All() {
			if m.Spec.Name == node.Name || strings.HasPrefix(m.Spec.Name, model.SerialPrefix+node.Name+"_") {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(f.view.poolsOf(lb), func(p pool) bool { return slices.ContainsFunc(f.view.members[p.ID], isNode) })
}

// poolsOf returns the pools of a load balancer.
func (v *view) poolsOf(lb *balancer) []pool { return v.byBalancer[lb.ID] }

// indexPools fills byBalancer.
func (v *view) indexPools() {
	v.byBalancer = map[string][]pool{}
	for _, p := range v.pools {
		if len(p.Balancers) > 0 {
			id := p.Balancers[0].ID
			v.byBalancer[id] = append(v.byBalancer[id], p)
		}
	}
}

// balancer puts the Service's load balancer into the stack.
func (f *finder) balancer(lb *balancer, names []string) {
	f.session.ports.Set(lb.ID, lb.Spec.Port)
	f.claim(lb, names)
	spec := f.spec(lb)
	r := stack.Resource{Key: stack.Key{Kind: model.KindBalancer}, ID: lb.ID, State: stateOf(lb.Provisioning), Proof: stack.Name, Spec: spec}
	switch {
	case f.own && spec.Lost:
		r.Slot = model.SlotAddress + spec.Address
	case f.own && r.State == stack.Failed && !spec.Stuck:
		r.State = stack.Ready // a failover is a change that it takes
	}
	if !f.own {
		r.Ownership, r.Proof = stack.External, stack.None
		if slices.Contains(lb.Tags, f.name) {
			f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindShare}, ID: lb.ID, Proof: stack.Tag, Spec: model.Share{Balancer: lb.ID, Tag: f.name}})
		}
	}
	f.out.Put(r)
}
