package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
)

// finder puts what was read of one Service into a stack.
type finder struct {
	session *Session
	view    *view
	scope   providers.Scope
	facts   *model.Facts
	out     *stack.Stack
	err     error

	blind         providers.Blind
	own           string         // OCID of the Service's own group; empty: there is none
	groups        []string       // groups whose rules matter
	front, behind []model.Subnet // subnets of the load balancers, and of the nodes
}

// find fills the stack with what the lists have brought.
func (f *finder) find() {
	compartments := map[stack.Kind]string{} // the one that is meant, by product
	var marked []groupDoc
	for _, l := range f.scope.Own {
		at := place{l.Kind, l.By}
		err := f.view.failed[at]
		if l.Kind == model.KindGroup && fault.Is(err, fault.NotFound) {
			if f.wantsOwnGroup() {
				f.blind.Add(unseenOf(err), model.KindGroup, model.KindGroupRules)
			}
			continue // without the right to read groups none was created
		}
		if isPlace(l.Kind) && fault.Is(err, fault.NotFound) && slices.Contains(f.scope.Facts, providers.Lookup{Kind: model.FactCompartment, By: model.ByID, Value: l.By}) {
			f.facts.Unseen[l.By] = true // reported to the Service, which keeps its resources elsewhere
			continue
		}
		if err != nil {
			f.err = err
			return
		}
		switch l.Kind {
		case model.KindBalancer, model.KindNetBalancer:
			product, _ := model.ProductOf(l.Kind)
			if compartments[l.Kind] == "" {
				compartments[l.Kind] = l.By
			}
			if f.err = f.balancers(product, l, compartments[l.Kind] != l.By); f.err != nil {
				return
			}
		case model.KindGroup:
			marked = append(marked, slices.DeleteFunc(slices.Clone(f.view.groups[l.By]), func(g groupDoc) bool { return g.gone() || !model.IsGroupOf(g.Tags, l.Value) })...)
		case model.KindGroupRules:
			f.groups = append(f.groups, l.Value)
		}
	}
	f.ownGroup(marked)
}

// Lifecycle states that matter. Sources: API references of both products.
const (
	creating = "CREATING"
	active   = "ACTIVE"
	updating = "UPDATING"
	deleting = "DELETING"
	deleted  = "DELETED"
	failed   = "FAILED"
)

// balancers finds the load balancers with the Service's name. The Service keeps the one that it records, or else the
// oldest one: any other is the result of a repeated create call.
func (f *finder) balancers(p model.Product, l providers.Lookup, former bool) error {
	var found []balancerDoc
	for _, d := range f.view.balancers[place{l.Kind, l.By}] {
		if d.Name == l.Value && d.State != deleting && d.State != deleted {
			found = append(found, d)
		}
	}
	kit.SortMarked(found, func(d balancerDoc) kit.Marked {
		return kit.Marked{ID: d.ID, Created: d.Created, Recorded: slices.ContainsFunc(d.Addresses, func(a addressDoc) bool { return kit.IsRecorded(f.scope, a.IP) })}
	})
	for i, d := range found {
		key := stack.Key{Kind: p.Balancer}
		switch {
		case former && i == 0:
			key.Name = model.Former
		case former || i > 0:
			key = providers.DuplicateKey(p.Balancer, d.ID)
		}
		spec := balancerSpec(p, d)
		f.out.Put(stack.Resource{Key: key, ID: d.ID, State: stateOf(d), Proof: stack.Name, Spec: spec})
		if key.Name != "" {
			continue
		}
		if err := f.parts(p, key, d); err != nil {
			return fault.New(fault.Internal, "load balancer %s: what is in it cannot be read: %v", d.ID, err)
		}
	}
	return nil
}

func stateOf(d balancerDoc) stack.State {
	switch {
	case d.State == creating || d.State == updating:
		return stack.Pending
	case d.State == failed && len(d.Addresses) == 0:
		return stack.Failed
	}
	return stack.Ready
}

// parts finds what is in a load balancer. The identifier of each is its name.
func (f *finder) parts(p model.Product, in stack.Key, d balancerDoc) error {
	for name, raw := range d.Sets {
		spec, err := setSpec(p, name, raw)
		if err != nil {
			return err
		}
		f.out.Put(stack.Resource{Key: stack.Key{Kind: p.Set, Name: name}, ID: name, In: in, Proof: stack.Derived, Spec: spec})
	}
	for name, raw := range d.Listeners {
		spec, err := listenerSpec(p, name, raw)
		if err != nil {
			return err
		}
		key := stack.Key{Kind: p.Listener, Name: model.PortKey(spec.Port, spec.Version == model.V6)}
		f.out.Put(stack.Resource{Key: key, ID: name, In: in, Slot: "port " + key.Name, Proof: stack.Derived, Spec: spec})
	}
	for name, set := range d.RuleSets {
		f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindRuleSet, Name: name}, ID: name, In: in, Proof: stack.Derived, Spec: model.RuleSet{Name: name, Items: compactJSON(set.Items)}})
	}
	if err := f.certificates(in, d); err != nil {
		return err
	}
	f.out.Sort()
	return nil
}

// certificates finds those of a load balancer. Others than our own are only looked at:
// they go with it.
func (f *finder) certificates(in stack.Key, d balancerDoc) error {
	kind := model.CertificateCodec()
	for name, raw := range d.Certs {
		c, err := kind.Decode(raw)
		if err != nil {
			return err
		}
		r := stack.Resource{Key: stack.Key{Kind: model.KindCertificate, Name: name}, ID: name, In: in, Ownership: stack.External, Spec: model.Certificate{Name: name, Public: c.Public, Authority: c.Authority}}
		if model.IsOwnCertificate(name) {
			r.Ownership, r.Proof = stack.Owned, stack.Derived
		}
		f.out.Put(r)
	}
	return nil
}

// compactJSON returns JSON in one form, regardless of blanks and the order of keys.
func compactJSON(raw json.RawMessage) string {
	var items []map[string]any
	if json.Unmarshal(raw, &items) != nil {
		return string(raw)
	}
	text, err := json.Marshal(items)
	if err != nil {
		return string(raw)
	}
	return string(text)
}

// ownGroup selects the Service's own network security group: the one that its load balancer is in, or else the oldest
// one. Any other is the result of a repeated create call.
func (f *finder) ownGroup(marked []groupDoc) {
	kit.SortMarked(marked, func(g groupDoc) kit.Marked {
		return kit.Marked{ID: g.ID, Created: g.Created, Recorded: slices.ContainsFunc(model.Products(), func(p model.Product) bool {
			lb, _ := stack.SpecOf[model.Balancer](f.out, stack.Key{Kind: p.Balancer})
			return slices.Contains(lb.Groups, g.ID)
		})}
	})
	for i, g := range marked {
		key := stack.Key{Kind: model.KindGroup}
		if i > 0 {
			key = providers.DuplicateKey(model.KindGroup, g.ID)
		} else {
			f.own = g.ID
			f.groups = append(f.groups, g.ID)
		}
		f.out.Put(stack.Resource{Key: key, ID: g.ID, Proof: stack.Tag, Spec: model.Group{Name: g.Name, Compartment: g.Compartment, VCN: g.VCN, Tags: g.Tags}})
	}
	// A load balancer that is in it knows it by its OCID.
	for _, p := range model.Products() {
		r, ok := f.out.Get(stack.Key{Kind: p.Balancer})
		spec, is := r.Spec.(model.Balancer)
		if at := slices.Index(spec.Groups, f.own); ok && is && f.own != "" && at >= 0 {
			spec.Groups, spec.Own = slices.Delete(slices.Clone(spec.Groups), at, at+1), stack.RefTo(stack.Key{Kind: model.KindGroup})
			r.Spec = spec
			f.out.Put(r)
		}
	}
}

// wantsOwnGroup reports whether the Service is to have a group of its own.
func (f *finder) wantsOwnGroup() bool {
	return slices.ContainsFunc(f.scope.Facts, func(l providers.Lookup) bool { return l.Kind == model.FactOwnGroup })
}

// unseenOf returns the refusal of a read of what a Service needs. Oracle does not reveal whether
// something exists that the credentials may not read.
func unseenOf(err error) error {
	f, is := errors.AsType[*fault.Fault](err)
	if !is {
		return err
	}
	denied := f.With(fault.Denied, "")
	denied.Helps = "it does not exist, or the controller's credentials may not read it: correct the identifier, or grant the right, see docs/permissions"
	return fmt.Errorf("%s%w", strings.TrimSuffix(err.Error(), f.Error()), denied)
}

// guarded are the products for whose load balancers the Service keeps security lists.
func (f *finder) guarded() []model.Product {
	return slices.DeleteFunc(model.Products(), func(p model.Product) bool {
		return !slices.Contains(f.scope.Own, providers.Lookup{Kind: model.KindEntry, By: model.ByOwner, Value: p.Name})
	})
}

// places finds out in which subnets the Service's rules can be.
func (f *finder) places(ctx context.Context) {
	if !slices.ContainsFunc(f.scope.Own, func(l providers.Lookup) bool { return l.Kind == model.KindEntry }) {
		return
	}
	ids, addresses := f.spots()
	for _, id := range ids {
		sub, err := f.session.subnet(ctx, id)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			f.err = err
			return
		}
		f.front = append(f.front, sub)
	}
	if len(f.front) == 0 || len(addresses) == 0 {
		return
	}
	machines, err := f.session.machineSubnets(ctx, f.scope)
	if err != nil && !fault.Is(err, fault.NotFound) { // without the right to read instances it has no rules for them
		f.err = err
		return
	}
	f.behind = model.Of(machines, f.front[0].VCN, addresses)
}

// homes adds the subnets of the found load balancers to the facts of each Service that asks
// for subnets: an existing load balancer keeps its subnet, whatever the Service names.
func (f *finder) homes(ctx context.Context) {
	if !slices.ContainsFunc(f.scope.Facts, func(l providers.Lookup) bool { return l.Kind == model.FactSubnet }) {
		return
	}
	for _, p := range model.Products() {
		for _, spec := range stack.Each[model.Balancer](f.out, p.Balancer) {
			for _, id := range spec.Subnets {
				sub, err := f.session.subnet(ctx, id)
				switch {
				case err == nil:
					f.facts.Subnets[id] = sub
				case !fault.Is(err, fault.NotFound):
					f.err = cmp.Or(f.err, err)
				}
			}
		}
	}
}

// spots are the subnets that the Service's load balancers are in or come to, in order,
// and the addresses behind them.
func (f *finder) spots() (subnets []string, addresses []netip.Addr) {
	for _, p := range f.guarded() {
		for _, r := range f.out.Of(p.Balancer) {
			if spec, is := r.Spec.(model.Balancer); is {
				subnets = append(subnets, spec.Subnets...)
			}
		}
		for _, spec := range stack.Each[model.BackendSet](f.out, p.Set) {
			for _, b := range spec.Backends {
				if a, err := netip.ParseAddr(b.Address); err == nil {
					addresses = append(addresses, a)
				}
			}
		}
	}
	wanted := f.wantsEntries()
	for _, l := range f.scope.Facts {
		if l.Kind == model.FactSubnet && wanted {
			subnets = append(subnets, l.Value)
		}
	}
	for node := range f.scope.Nodes.All() {
		addresses = append(append(addresses, node.Internal...), node.External...)
	}
	slices.Sort(subnets)
	return slices.Compact(subnets), addresses
}

// rules finds those in groups and security lists.
func (f *finder) rules() {
	for _, id := range f.groups {
		if err := f.view.failed[id]; err != nil {
			if !fault.Is(err, fault.NotFound) {
				f.err = err
				return
			}
			continue
		}
		f.rulesOf(id)
	}
	for _, sub := range slices.Concat(f.front, f.behind) {
		err := f.view.failed[sub.List]
		switch {
		case fault.Is(err, fault.NotFound) && f.wantsEntries():
			f.blind.Add(unseenOf(err), model.KindEntry)
		case err != nil && !fault.Is(err, fault.NotFound): // without the right to read lists it has no rules in them
			f.err = err
			return
		}
	}
	f.entries()
	f.guards()
}

// rulesOf finds the Service's rules in one group.
func (f *finder) rulesOf(id string) {
	spec := model.GroupRules{Group: stack.RefID(id)}
	r := stack.Resource{Key: stack.Key{Kind: model.KindGroupRules, Name: id}, ID: id, Proof: stack.Description}
	if id == f.own {
		spec.Group, r.Key.Name, r.In = stack.RefTo(stack.Key{Kind: model.KindGroup}), "own", stack.Key{Kind: model.KindGroup}
	}
	for _, rule := range f.view.rules[id] {
		port, ok := rule.TCPPort()
		if rule.Description != model.RuleMark(f.scope.Owner) || !ok {
			continue
		}
		one := model.GroupRule{Direction: rule.Direction, Peer: rule.Peer(), Port: port}
		if one.Peer == f.own && f.own != "" {
			one.Peer, one.Of = "", stack.RefTo(stack.Key{Kind: model.KindGroup})
		}
		spec.Rules = append(spec.Rules, one)
	}
	if len(spec.Rules) == 0 {
		return
	}
	slices.SortFunc(spec.Rules, model.GroupRule.Compare)
	r.Spec = spec
	f.out.Put(r)
}
