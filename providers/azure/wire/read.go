package wire

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Read reads for many Services at once: one list for every collection, whatever the number
// of Services, and none where the cache suffices for all of them. The security group is
// read first, so that an address in one of its rules is never newer than the lists that
// show its owner.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*model.Facts] {
	r := newRead(ctx, s, scopes)
	if s.config.PodIP() {
		return r.readPods()
	}
	if r.recall() {
		kit.Together(r.others()...)
	} else {
		mark := s.memory.begin(r.at)
		r.note(r.readSecurity(), model.KindAccess)
		kit.Together(append(r.shareds(), r.others()...)...)
		s.memory.end(mark, r.lists, r.at, r.whole())
	}
	r.note(r.frontendAddresses(), model.KindEntries)
	r.facts()
	out := make([]providers.Found[*model.Facts], 0, len(scopes))
	for _, scope := range scopes {
		out = append(out, r.found(scope))
	}
	return out
}

func newRead(ctx context.Context, s *Session, scopes []providers.Scope) *read {
	return &read{
		Session: s, ctx: ctx, scopes: scopes, at: s.now(), lists: lists{byGroup: map[string][]model.Object{}, linksIn: map[string][]model.Object{}},
		failures: failures{blind: providers.Blind{}, failed: map[providers.Lookup]error{}}, subnets: map[string]model.FoundSubnet{}, names: nodeNames(scopes),
	}
}

// read is one Read at work. Its fields are written under mu while lists run.
type read struct {
	*Session
	ctx    context.Context // lives for one call of Read
	scopes []providers.Scope
	at     time.Time // when the lists were read
	// recalled is whether they come from memory.
	recalled bool

	mu sync.Mutex
	lists
	subnets map[string]model.FoundSubnet
	zones   []string
	fleet   *fleet
	names   map[string]string // of nodes, by provider id in lower case
	failures

	shared model.Facts
	ahead  map[stack.Owner][]model.Wish
}

// failures are what a read could not read.
type failures struct {
	blind  providers.Blind
	failed map[providers.Lookup]error // errors that affect only the scopes of the lookup
	err    error
}

// note keeps the fault of a call: a refusal makes kinds blind, anything else makes
// the read fail.
func (r *read) note(err error, kinds ...stack.Kind) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !providers.HidesOnly(err) || len(kinds) == 0 {
		r.err = cmp.Or(r.err, err)
		return
	}
	r.blind.Add(err, kinds...)
}

// noteFor keeps the fault of a call that only some Services asked for: a group or
// subnet that one of them names is nothing to the others.
func (r *read) noteFor(l providers.Lookup, err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed[l] = err
}

// faults are what a scope has to know of what could not be read.
func (r *read) faults(scope providers.Scope) (providers.Blind, error) {
	blind, err := maps.Clone(r.blind), r.err
	for _, l := range scope.Facts {
		l.Value = strings.ToLower(l.Value)
		failure := r.failed[l]
		switch {
		case failure == nil, fault.Is(failure, fault.Denied) && l.By == model.ByToldGroup:
			// Nothing of ours can be in a group that we have no right to, and a Service
			// with a slip in it must be able to go.
		case providers.HidesOnly(failure) && l.Kind == model.KindPublicIP:
			blind.Add(failure, model.KindPublicIP, model.KindBinding, model.KindAccess)
		case providers.HidesOnly(failure) && l.Kind == model.KindLink:
			blind.Add(failure, model.KindLink)
		default:
			err = cmp.Or(err, failure)
		}
	}
	return blind, err
}

// wanted are the values of all look-ups of a sort, each once, in lower case.
func (r *read) wanted(kind stack.Kind, bys ...string) []string {
	found := map[string]bool{}
	for _, scope := range r.scopes {
		for _, by := range bys {
			for _, v := range lookupValues(scope, kind, by) {
				found[v] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// lookupValues returns the values of one scope.
func lookupValues(scope providers.Scope, kind stack.Kind, by string) []string {
	var out []string
	for _, l := range scope.Facts {
		if l.Kind == kind && l.By == by && l.Value != "" {
			out = append(out, strings.ToLower(l.Value))
		}
	}
	return out
}

func groupPath(subscription, group, collection string) string {
	return "/subscriptions/" + subscription + "/resourceGroups/" + group + "/providers/Microsoft.Network/" + collection
}

func (r *read) readSecurity() error {
	c := r.config
	if c.Security == "" {
		return nil
	}
	var err error
	r.security, err = r.get(r.ctx, c.SecurityID(), networkVersion)
	if err != nil {
		return fmt.Errorf("read network security group %s: %w", c.Security, err)
	}
	return nil
}

// collect lists what a group has of the network, sorted, and keeps it under mu. A group that does
// not exist has nothing.
func (r *read) collect(group, collection, what string, keep func(items []model.Object, exists bool)) error {
	items, exists, err := r.list(r.ctx, groupPath(r.config.SubscriptionOfNetwork(), group, collection), networkVersion, nil)
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	slices.SortFunc(items, byNameAndID)
	r.mu.Lock()
	defer r.mu.Unlock()
	keep(items, exists)
	return nil
}

// listBalancers lists the load balancers of a group, or of it those of the cluster.
func (r *read) listBalancers(group string, all bool) error {
	names := r.config.Balancers(r.cluster)
	return r.collect(group, "loadBalancers", "load balancers", func(items []model.Object, _ bool) {
		r.balancers = slices.DeleteFunc(items, func(o model.Object) bool { return !all && !model.ContainsFold(names, o.Text("name")) })
	})
}

func byNameAndID(a, b model.Object) int {
	return cmp.Or(cmp.Compare(model.GroupOf(a.Text("id")), model.GroupOf(b.Text("id"))), cmp.Compare(strings.ToLower(a.Text("name")), strings.ToLower(b.Text("name"))))
}

func (r *read) listPublicIPs(group string) error {
	return r.collect(group, "publicIPAddresses", "public IPs of "+group, func(items []model.Object, exists bool) {
		for _, o := range items {
			r.Session.facts.learnIP(o)
		}
		if exists {
			r.byGroup[group] = items
		}
	})
}

func (r *read) listLinks(group string) error {
	return r.collect(group, "privateLinkServices", "private link services of "+group, func(items []model.Object, exists bool) {
		if exists {
			r.linksIn[group] = items
		}
	})
}

// frontendAddresses looks up public IPs of frontends that are in no list: those
// of users in other groups.
func (r *read) frontendAddresses() error {
	var unknown []stack.Key
	for _, lb := range r.balancers {
		for _, f := range lb.Props().List(model.ListFrontends) {
			id := f.Ref("publicIPAddress")
			if id == "" || model.SegmentAfter(id, "subscriptions") != strings.ToLower(r.config.SubscriptionOfNetwork()) {
				continue // resources in another subscription belong to no Service here
			}
			key := model.PublicIPKeyOf(id)
			ip, known := r.Session.facts.ips.Get(key, 0)
			_, isRecent := r.Session.facts.ips.Get(key, deniedAge)
			if !known || ip.address == "" && (!ip.isDenied || !isRecent) {
				unknown = append(unknown, key)
			}
		}
	}
	return r.learnIPs(r.ctx, unknown)
}

// learnIPs reads public IPs that are not known.
func (s *Session) learnIPs(ctx context.Context, keys []stack.Key) error {
	var mu sync.Mutex
	var first error
	kit.ForEach(keys, func(k stack.Key) {
		o, err := s.get(ctx, s.config.PublicIPID(k), networkVersion)
		if o != nil {
			s.facts.learnIP(o)
		}
		if fault.Is(err, fault.Denied) {
			s.facts.ips.Set(k, knownIP{isDenied: true}) // its address stays unknown
			return
		}
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			first = cmp.Or(first, fmt.Errorf("read public IP %s: %w", k.Name, err))
		}
	})
	return first
}

// found puts together what was read for one scope.
func (r *read) found(scope providers.Scope) providers.Found[*model.Facts] {
	out := providers.Found[*model.Facts]{At: r.at, Have: &stack.Stack{Owner: scope.Owner}}
	out.Blind, out.Err = r.faults(scope)
	facts := r.factsOf(scope)
	out.Facts = facts
	entries := r.putBalancers(scope, out.Have)
	r.putPublicIPs(scope, out.Have)
	r.putAccess(scope, out.Have, entries, facts)
	r.putLinks(scope, out.Have)
	for _, s := range facts.Subnets {
		if s.PolicyDisabled {
			spec := model.Policy{Group: r.config.NetworkGroup(), Network: r.config.VNet, Subnet: s.Name, Disabled: true}
			out.Have.Put(stack.Resource{Key: model.PolicyKey(spec.Group, spec.Network, spec.Subnet), ID: s.ID, Ownership: stack.Shared, Spec: spec})
		}
	}
	out.Have.Sort()
	return out
}

// putBalancers finds the entries of the Service and the pools next to them.
func (r *read) putBalancers(scope providers.Scope, have *stack.Stack) []model.Entries {
	var all []model.Entries
	wanted := lookupValues(scope, model.KindBalancer, model.ByWanted)
	for _, lb := range r.balancers {
		name := lb.Text("name")
		e, there := model.EntriesOf(r.config, lb, model.BaseName(scope.Owner.UID), r.Session.facts.address)
		if there {
			all = append(all, e)
			have.Put(stack.Resource{Key: model.EntriesKey(name), ID: lb.Text("id"), In: model.BalancerKey(name), Proof: model.EntriesProof(r.config, lb, e, r.Session.facts.address), Spec: e})
		}
		if (there || slices.Contains(wanted, strings.ToLower(name))) && !r.config.FilledByOthers(model.KindOf(name)) {
			r.putPools(scope, have, lb, there)
		}
	}
	return all
}

func (r *read) putPools(scope providers.Scope, have *stack.Stack, lb model.Object, there bool) {
	var names []string
	for _, family := range []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
		names = append(names, model.PoolName(r.cluster, family), model.LocalPoolName(scope.Owner, family))
	}
	for _, name := range names {
		r.putPool(have, lb, name, model.PoolProof(r.cluster, model.BaseName(scope.Owner.UID), lb, name, there))
	}
}

// putPool finds a pool with its members; nothing if there is none of the name.
func (r *read) putPool(have *stack.Stack, lb model.Object, name string, proof stack.Proof) {
	spec, ok := model.PoolSpecOf(r.config, lb, name)
	if !ok {
		return
	}
	have.Put(stack.Resource{
		Key: model.PoolKey(lb.Text("name"), name), ID: poolID(lb, spec.Name), In: model.BalancerKey(lb.Text("name")),
		Ownership: stack.Shared, Proof: proof, Spec: spec,
	})
	pools := lb.Props().List(model.ListPools)
	r.putMembers(have, lb, pools[model.Named(pools, name)], proof)
}

func (r *read) putPublicIPs(scope providers.Scope, have *stack.Stack) {
	addresses := lookupValues(scope, model.KindPublicIP, model.ByAddress)
	var names []string
	for _, n := range lookupValues(scope, model.KindPublicIP, model.ByName) {
		names = append(names, model.LastSegment(n))
	}
	known := r.ipsOf(groupsOf(scope))
	for i, o := range r.publicIPs(scope) {
		f := known[i]
		asked := slices.Contains(addresses, f.Address) || slices.Contains(names, strings.ToLower(f.Name))
		for _, res := range model.PublicIPResources(o, f, r.cluster, scope.Owner, asked) {
			have.Put(res)
		}
	}
}

func (r *read) putAccess(scope providers.Scope, have *stack.Stack, entries []model.Entries, facts *model.Facts) {
	if r.security == nil {
		return
	}
	var asked []string
	for _, a := range lookupValues(scope, model.KindAccess, model.ByDestination) {
		asked = append(asked, model.Canonical(a))
	}
	all := slices.Clone(r.shared.PublicIPs)
	for i, f := range all {
		if !f.Tags.OfCluster(r.cluster) {
			all[i].Services = nil // another cluster has Services of the same names
		}
	}
	who := model.SeekerOf(r.config, model.BaseName(scope.Owner.UID), entries, facts.Balancers, all, r.nodeAddresses(scope), asked, scope.Owner)
	who.Going = len(lookupValues(scope, model.KindBalancer, model.ByWanted)) == 0
	for _, res := range model.AccessOf(r.config, r.security, who) {
		if entry, ok := res.Spec.(model.Access); ok {
			entry.Trouble = model.TroubleOf(r.security)
			res.Spec = entry
		}
		have.Put(res)
	}
}

func (r *read) nodeAddresses(scope providers.Scope) []string {
	return r.Session.facts.seeNodes(addressesOf(scope.Nodes.All()))
}

// addressesOf returns the addresses of nodes.
func addressesOf(nodes iter.Seq[nodeports.Node]) map[string]bool {
	out := map[string]bool{}
	for n := range nodes {
		for _, family := range []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
			if a, ok := n.Address(family); ok {
				out[a.String()] = true
			}
		}
	}
	return out
}

func (r *read) putLinks(scope providers.Scope, have *stack.Stack) {
	for _, group := range slices.Sorted(maps.Keys(r.linksIn)) {
		for _, o := range r.linksIn[group] {
			if by, _ := o.Tags().Get(model.TagOwner); by != model.ServiceKey(scope.Owner) || !o.Tags().OfCluster(r.cluster) {
				continue
			}
			have.Put(stack.Resource{Key: model.LinkKey(), ID: o.Text("id"), Proof: stack.Tag, State: model.StateOf(o), Spec: model.LinkOf(o, r.shared.Balancers)})
		}
	}
}
