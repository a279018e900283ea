package azure

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Read reads for many Services at once: one list for every collection, whatever
// the number of Services, and none where all of them can do with what is
// remembered. The security group comes first, so that an address in
// one of its rules is never newer than the lists that tell whose it is.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*Facts] {
	r := newRead(ctx, s, scopes)
	if s.config.podIP() {
		return r.readPods()
	}
	if r.recall() {
		kit.Together(r.others()...)
	} else {
		mark := s.memory.begin(r.at)
		r.note(r.readSecurity(), KindAccess)
		kit.Together(append(r.shareds(), r.others()...)...)
		s.memory.end(mark, r.lists, r.at, r.whole())
	}
	r.note(r.frontendAddresses(), KindEntries)
	r.facts()
	out := make([]providers.Found[*Facts], 0, len(scopes))
	for _, scope := range scopes {
		out = append(out, r.found(scope))
	}
	return out
}

func newRead(ctx context.Context, s *Session, scopes []providers.Scope) *read {
	return &read{
		Session: s, ctx: ctx, scopes: scopes, at: s.now(), lists: lists{byGroup: map[string][]Object{}, linksIn: map[string][]Object{}},
		blind: map[stack.Kind]bool{}, failed: map[providers.Lookup]error{}, subnets: map[string]FoundSubnet{}, names: nodeNames(scopes),
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
	subnets map[string]FoundSubnet
	zones   []string
	fleet   *fleet
	names   map[string]string // of nodes, by provider id in lower case
	blind   map[stack.Kind]bool
	failed  map[providers.Lookup]error // what only those who asked for it miss
	err     error

	shared Facts
	ahead  map[stack.Owner][]Wish
}

// note keeps the fault of a call: a refusal makes kinds blind, anything else makes
// the read fail.
func (r *read) note(err error, kinds ...stack.Kind) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !fault.Is(err, fault.Denied) || len(kinds) == 0 {
		r.err = cmp.Or(r.err, err)
		return
	}
	for _, k := range kinds {
		r.blind[k] = true
	}
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
func (r *read) faults(scope providers.Scope) ([]stack.Kind, error) {
	blind, err := maps.Clone(r.blind), r.err
	for _, l := range scope.Facts {
		l.Value = strings.ToLower(l.Value)
		failure := r.failed[l]
		switch {
		case failure == nil, fault.Is(failure, fault.Denied) && l.By == byToldGroup:
			// Nothing of ours can be in a group that we have no right to, and a Service
			// with a slip in it must be able to go.
		case fault.Is(failure, fault.Denied) && l.Kind == KindPublicIP:
			blind[KindPublicIP], blind[KindBinding], blind[KindAccess] = true, true, true
		case fault.Is(failure, fault.Denied) && l.Kind == KindLink:
			blind[KindLink] = true
		default:
			err = cmp.Or(err, failure)
		}
	}
	return slices.Sorted(maps.Keys(blind)), err
}

// wanted are the values of all look-ups of a sort, each once, in lower case.
func (r *read) wanted(kind stack.Kind, bys ...string) []string {
	found := map[string]bool{}
	for _, scope := range r.scopes {
		for _, by := range bys {
			for _, v := range values(scope, kind, by) {
				found[v] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// values are those of one scope.
func values(scope providers.Scope, kind stack.Kind, by string) []string {
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
	r.security, err = r.get(r.ctx, c.securityID(), networkVersion)
	if err != nil {
		return fmt.Errorf("network security group %s: %w", c.Security, err)
	}
	return nil
}

func (r *read) listBalancers() error {
	c := r.config
	items, _, err := r.list(r.ctx, groupPath(c.networkSubscription(), c.balancerGroup(), "loadBalancers"), networkVersion, nil)
	if err != nil {
		return fmt.Errorf("load balancers: %w", err)
	}
	names := c.balancers(r.cluster)
	items = slices.DeleteFunc(items, func(o Object) bool { return !containsFold(names, o.text("name")) })
	slices.SortFunc(items, byNameAndID)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.balancers = items
	return nil
}

func byNameAndID(a, b Object) int {
	return cmp.Or(cmp.Compare(groupOf(a.text("id")), groupOf(b.text("id"))), cmp.Compare(strings.ToLower(a.text("name")), strings.ToLower(b.text("name"))))
}

func (r *read) listPublicIPs(group string) error {
	items, exists, err := r.list(r.ctx, groupPath(r.config.networkSubscription(), group, "publicIPAddresses"), networkVersion, nil)
	if err != nil {
		return fmt.Errorf("public IPs of %s: %w", group, err)
	}
	slices.SortFunc(items, byNameAndID)
	for _, o := range items {
		r.Session.facts.learnIP(o)
	}
	if !exists {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byGroup[group] = items
	return nil
}

func (r *read) listLinks(group string) error {
	items, _, err := r.list(r.ctx, groupPath(r.config.networkSubscription(), group, "privateLinkServices"), networkVersion, nil)
	if err != nil {
		return fmt.Errorf("private link services of %s: %w", group, err)
	}
	slices.SortFunc(items, byNameAndID)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.linksIn[group] = items
	return nil
}

// frontendAddresses looks up public IPs of frontends that are in no list: those
// of users in other groups.
func (r *read) frontendAddresses() error {
	var unknown []stack.Key
	for _, lb := range r.balancers {
		for _, f := range lb.props().list(listFrontends) {
			id := f.ref("publicIPAddress")
			if id == "" || segmentAfter(id, "subscriptions") != strings.ToLower(r.config.networkSubscription()) {
				continue // what is in another subscription is nobody's here
			}
			if ip, known := r.Session.facts.ip(publicIPKeyOf(id)); !known || ip.address == "" && r.at.Sub(ip.denied) >= deniedAge {
				unknown = append(unknown, publicIPKeyOf(id))
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
		o, err := s.get(ctx, s.config.publicIPID(k), networkVersion)
		if o != nil {
			s.facts.learnIP(o)
		}
		if fault.Is(err, fault.Denied) {
			s.facts.learnDenied(k, s.now()) // its address stays unknown
			return
		}
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			first = cmp.Or(first, fmt.Errorf("public IP %s: %w", k.Name, err))
		}
	})
	return first
}

// found puts together what was read for one scope.
func (r *read) found(scope providers.Scope) providers.Found[*Facts] {
	out := providers.Found[*Facts]{At: r.at, Have: &stack.Stack{Owner: scope.Owner}}
	out.Blind, out.Err = r.faults(scope)
	facts := r.factsOf(scope)
	out.Facts = facts
	entries := r.putBalancers(scope, out.Have)
	r.putPublicIPs(scope, out.Have)
	r.putAccess(scope, out.Have, entries, facts)
	r.putLinks(scope, out.Have)
	for _, s := range facts.Subnets {
		if s.PolicyDisabled {
			spec := Policy{Group: r.config.networkGroup(), Network: r.config.VNet, Subnet: s.Name, Disabled: true}
			out.Have.Put(stack.Resource{Key: policyKey(spec.Group, spec.Network, spec.Subnet), ID: s.ID, Hold: stack.Counted, Spec: spec})
		}
	}
	out.Have.Sort()
	return out
}

// putBalancers finds the entries of the Service and the pools next to them.
func (r *read) putBalancers(scope providers.Scope, have *stack.Stack) []Entries {
	var all []Entries
	wanted := values(scope, KindBalancer, byWanted)
	for _, lb := range r.balancers {
		name := lb.text("name")
		e, there := entriesOf(r.config, lb, baseName(scope.Owner.UID), r.Session.facts.address)
		if there {
			all = append(all, e)
			have.Put(stack.Resource{Key: entriesKey(name), ID: lb.text("id"), In: balancerKey(name), Proof: stack.Name, Spec: e})
		}
		if (there || slices.Contains(wanted, strings.ToLower(name))) && !r.config.preConfigured(kindOf(name)) {
			r.putPools(scope, have, lb, there)
		}
	}
	return all
}

func (r *read) putPools(scope providers.Scope, have *stack.Stack, lb Object, there bool) {
	var names []string
	for _, family := range []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
		names = append(names, poolName(r.cluster, family), localPoolName(scope.Owner, family))
	}
	for _, name := range names {
		r.putPool(have, lb, name, poolProof(r.cluster, baseName(scope.Owner.UID), lb, name, there))
	}
}

// putPool finds a pool with its members; nothing if there is none of the name.
func (r *read) putPool(have *stack.Stack, lb Object, name string, proof stack.Proof) {
	spec, ok := poolSpecOf(r.config, lb, name)
	if !ok {
		return
	}
	have.Put(stack.Resource{
		Key: poolKey(lb.text("name"), name), ID: lb.text("id") + "/" + listPools + "/" + spec.Name, In: balancerKey(lb.text("name")),
		Hold: stack.Counted, Proof: proof, Spec: spec,
	})
	pools := lb.props().list(listPools)
	r.putMembers(have, lb, pools[named(pools, name)], proof)
}

func (r *read) putPublicIPs(scope providers.Scope, have *stack.Stack) {
	addresses := values(scope, KindPublicIP, byAddress)
	var names []string
	for _, n := range values(scope, KindPublicIP, byName) {
		names = append(names, lastSegment(n))
	}
	known := r.ipsOf(groupsOf(scope))
	for i, o := range r.publicIPs(scope) {
		f := known[i]
		asked := slices.Contains(addresses, f.Address) || slices.Contains(names, strings.ToLower(f.Name))
		for _, res := range publicIPResources(o, f, r.cluster, scope.Owner, asked) {
			have.Put(res)
		}
	}
}

func (r *read) putAccess(scope providers.Scope, have *stack.Stack, entries []Entries, facts *Facts) {
	if r.security == nil {
		return
	}
	var asked []string
	for _, a := range values(scope, KindAccess, byDestination) {
		asked = append(asked, canonical(a))
	}
	all := slices.Clone(r.shared.PublicIPs)
	for i, f := range all {
		if !f.Tags.ofCluster(r.cluster) {
			all[i].Services = nil // another cluster has Services of the same names
		}
	}
	who := seekerOf(baseName(scope.Owner.UID), entries, facts.Balancers, all, r.nodeAddresses(scope), asked, scope.Owner)
	who.Going = len(values(scope, KindBalancer, byWanted)) == 0
	for _, res := range accessOf(r.config, r.security, who) {
		if entry, ok := res.Spec.(Access); ok {
			entry.Trouble = troubleOf(r.security)
			res.Spec = entry
		}
		have.Put(res)
	}
}

func (r *read) nodeAddresses(scope providers.Scope) []string {
	now := map[string]bool{}
	for n := range scope.Nodes.All() {
		for _, family := range []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
			if a, ok := n.Address(family); ok {
				now[a.String()] = true
			}
		}
	}
	return r.Session.facts.seeNodes(now)
}

func (r *read) putLinks(scope providers.Scope, have *stack.Stack) {
	for _, group := range slices.Sorted(maps.Keys(r.linksIn)) {
		for _, o := range r.linksIn[group] {
			if by, _ := o.tags().get(tagOwner); by != serviceKey(scope.Owner) || !o.tags().ofCluster(r.cluster) {
				continue
			}
			have.Put(stack.Resource{Key: linkKey(), ID: o.text("id"), Proof: stack.Tag, State: stateOf(o), Spec: linkOf(o, r.shared.Balancers)})
		}
	}
}
