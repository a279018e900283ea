package wire

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// finder assembles what was found of one Service.
type finder struct {
	session *Session
	scope   providers.Scope
	out     *stack.Stack
	things  []string // ids of the load balancers that were looked at
	former  string   // id of the load balancer that the Service was on last
	served  bool     // it is not released
	groups  []namedGroup
	// netGroups are those of network load balancers.
	netGroups []namedGroup
	security  string // id of the Service's security group
	err       error
	mu        sync.Mutex // of out, while details are read
}

// namedGroup is a server group of others that the Service uses for a port.
type namedGroup struct {
	id, port string
	listener int32
	name     string // of the Service's servers
}

func (f *finder) lookup(kind stack.Kind, by string) (string, bool) {
	for _, l := range f.scope.Own {
		if l.Kind == kind && l.By == by {
			return l.Value, true
		}
	}
	return "", false
}

// candidate is a load balancer of a list, of either kind.
type candidate struct {
	id, name string
	address  string // or host name
	created  string
	tags     map[string]string
	state    stack.State
	spec     stack.Spec
	settable stack.Spec // what a Service may set on it if it is of others
}

func candidatesOf(docs []balancerDoc) []candidate {
	var out []candidate
	for _, d := range docs {
		spec := balancerSpec(d)
		out = append(out, candidate{id: d.ID, name: d.Name, address: d.Address, created: d.Created, tags: spec.Tags, spec: spec, settable: attributesOf(spec)})
	}
	return out
}

func netCandidates(docs []netDoc, security string) []candidate {
	var out []candidate
	for _, d := range docs {
		spec := netSpec(d, security)
		c := candidate{id: d.ID, name: d.Name, address: d.Host, created: d.Created, tags: spec.Tags, spec: spec, settable: model.NetBalancer{
			Name: spec.Name, AddressType: spec.AddressType, IPv6Type: spec.IPv6Type, Zones: spec.Zones, CrossZone: spec.CrossZone, Security: spec.Security, Package: spec.Package, Tags: spec.Tags,
		}}
		switch d.Status {
		case netPending:
			c.state = stack.Pending
		case netFailed:
			c.state = stack.Failed
		}
		out = append(out, c)
	}
	return out
}

// find selects the Service's load balancer of a list: the one with its owner tag, else the one
// with its default name that has no owner tag, else the one that it names.
func (f *finder) find(all []candidate, kind, attributes stack.Kind) {
	_, f.served = f.lookup(kind, model.ByServed)
	if kind == model.KindBalancer {
		f.readGroups()
	}
	id, _ := f.lookup(kind, model.ByID)
	named := slices.IndexFunc(all, func(d candidate) bool { return id != "" && d.id == id })
	own, proof := f.findOwn(all, kind, id)
	switch {
	case f.err != nil:
		return
	case own >= 0 && own != named:
		f.take(all[own], stack.Key{Kind: kind}, proof)
		if named >= 0 {
			f.takeExternal(all[named], stack.Key{Kind: kind, Name: model.NamedBalancer}, attributes)
		}
	case named >= 0:
		f.takeExternal(all[named], stack.Key{Kind: kind}, attributes)
	}
	last, ok := f.lookup(kind, model.ByLabel)
	at := slices.IndexFunc(all, func(d candidate) bool { return ok && d.id == last })
	if at >= 0 && at != own && at != named {
		f.former = last
		f.takeExternal(all[at], stack.Key{Kind: kind, Name: model.FormerBalancer}, attributes)
	}
}

// readGroups reads which server groups of others the Service names.
func (f *finder) readGroups() {
	for _, l := range f.scope.Own {
		if l.Kind != model.KindGroup && l.Kind != model.KindServerGroup || l.By != model.ByID {
			continue
		}
		if parts := strings.Fields(l.Value); len(parts) == 4 {
			port, _ := strconv.ParseInt(parts[2], 10, 32) // it is written as a number
			one := namedGroup{parts[0], parts[1], int32(port), parts[3]}
			if l.Kind == model.KindGroup {
				f.groups = append(f.groups, one)
			} else {
				f.netGroups = append(f.netGroups, one)
			}
		}
	}
}

// findOwn returns the place of the Service's own load balancer in a list; -1: it has none. Of several with its
// complete mark one stays, and the others are deleted, except one that the Service names. Of several others none can be chosen.
func (f *finder) findOwn(all []candidate, kind stack.Kind, named string) (int, stack.Proof) {
	for _, by := range []struct {
		lookup string
		proof  stack.Proof
	}{{model.ByTag, stack.Tag}, {model.ByName, stack.Name}} {
		value, ok := f.lookup(kind, by.lookup)
		if !ok {
			continue
		}
		var found []int
		for i, d := range all {
			if f.fits(d, by.lookup, value) {
				found = append(found, i)
			}
		}
		if len(found) > 1 && named != "" {
			found = slices.DeleteFunc(found, func(i int) bool { return all[i].id == named })
		}
		if len(found) == 0 {
			continue
		}
		last, _ := f.lookup(kind, model.ByLabel)
		unsure := kit.SortMarked(found, func(i int) kit.Marked {
			d := all[i]
			partial := by.lookup != model.ByTag || d.tags[model.TagCluster] == ""
			return kit.Marked{ID: d.id, Created: d.created, Recorded: d.id == last || kit.IsRecorded(f.scope, d.address), Partial: partial, Failed: d.state == stack.Failed}
		})
		if unsure != nil {
			f.err = fault.New(fault.Conflict, "the load balancers %s and %s both have the %s %s; change that of the one that is not the Service's", all[found[0]].id, all[*unsure].id, by.lookup, value)
			return -1, stack.None
		}
		for _, i := range found[1:] {
			d := all[i]
			f.out.Put(stack.Resource{Key: providers.DuplicateKey(kind, d.id), ID: d.id, Proof: stack.Tag, State: d.state, Spec: d.spec})
		}
		return found[0], by.proof
	}
	return -1, stack.None
}

// fits reports whether a load balancer is the one that a lookup asks for.
func (f *finder) fits(d candidate, by, value string) bool {
	owner, marked := d.tags[model.TagOwner]
	if by == model.ByTag {
		return owner == value && f.isCluster(d.tags)
	}
	return d.name == value && !marked
}

// isCluster reports whether the tags of a load balancer tell no other cluster.
func (f *finder) isCluster(tags map[string]string) bool {
	cluster, ok := tags[model.TagCluster]
	return !ok || cluster == f.session.config.ClusterID
}

// take adds a load balancer to the observed state.
func (f *finder) take(d candidate, key stack.Key, proof stack.Proof) {
	f.things = append(f.things, d.id)
	f.out.Put(stack.Resource{Key: key, ID: d.id, Proof: proof, State: d.state, Spec: d.spec})
}

// takeExternal adds a load balancer of others, with what the Service may set on it.
func (f *finder) takeExternal(d candidate, key stack.Key, attributes stack.Kind) {
	f.take(d, key, stack.None)
	lb, _ := f.out.Get(key)
	lb.Ownership = stack.External
	f.out.Put(lb)
	if key.Name == "" {
		f.out.Put(stack.Resource{Key: stack.Key{Kind: attributes}, ID: d.id, In: key, Proof: stack.Derived, Spec: d.settable})
	}
}

// attributesOf returns what a Service may set on a load balancer of others.
func attributesOf(b model.Balancer) model.Balancer {
	return model.Balancer{
		Name: b.Name, ChargeType: b.ChargeType, Size: b.Size, TrafficCharge: b.TrafficCharge, Bandwidth: b.Bandwidth,
		DeleteProtection: b.DeleteProtection, ModificationProtection: b.ModificationProtection, Tags: b.Tags,
	}
}

// details are the calls for the parts of load balancers.
func (f *finder) details(ctx context.Context) []kit.Detail {
	var out []kit.Detail
	for _, name := range []string{"", model.FormerBalancer} {
		key := stack.Key{Kind: model.KindBalancer, Name: name}
		lb, ok := f.out.Get(key)
		if !ok {
			continue
		}
		parts := &parts{finder: f, ctx: ctx, balancer: lb.ID, in: key}
		if f.scope.Depth != providers.Shallow {
			out = append(out, kit.Detail{Of: []string{lb.ID}, Run: parts.read})
		}
		if _, asks := f.lookup(model.KindPublic, model.ByAssociation); asks && name == "" {
			out = append(out, kit.Detail{Of: []string{lb.ID}, Run: parts.readPublic})
		}
	}
	return out
}

// finish removes what was read only to find parts of the Service on a former load balancer. A
// Service that is released has these parts.
func (f *finder) finish() {
	isFormer := func(k stack.Key) bool {
		return k.Name == model.FormerBalancer && (k.Kind == model.KindBalancer || k.Kind == model.KindNetBalancer)
	}
	if f.former == "" {
		return
	}
	own := slices.ContainsFunc(f.out.Resources, func(r stack.Resource) bool { return isFormer(r.In) && r.Proof != stack.None })
	f.out.Resources = slices.DeleteFunc(slices.Clone(f.out.Resources), func(r stack.Resource) bool {
		return isFormer(r.In) && (f.served || r.Proof == stack.None) || isFormer(r.Key) && !own
	})
	f.out = f.out.Clone()
}
