package model

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// buildStack computes the desired stack of the Service. If a problem is an error there is no
// stack, and the last valid one stays in force. Choices of Azure, and settings where a
// change has no benefit, are adopted from the observed state.
//
// Values that are unknown before the first write, such as the address of a new public IP,
// are left out and added by the next build. Until then, entries in the security group for
// the previous address are retained; later holds the forecast of the missing values.
func buildStack(in input, facts *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	if beyond := capabilityOf(in.Kind).Exceeds(sizeOf(in)); len(beyond) > 0 {
		return nil, beyond, nil
	}
	if in.Config.PodIP() {
		return buildPods(in, facts, have)
	}
	if facts == nil {
		return nil, nil, fault.New(fault.Internal, "azure: facts were not read")
	}
	want, problems := newBuilder(in, facts, have).stack()
	return want, problems, nil
}

func newBuilder(in input, facts *Facts, have *stack.Stack) *builder {
	return &builder{
		in: in, facts: facts, have: have, cluster: clusterName(in.Identity), base: BaseName(in.Owner.UID),
		out: &stack.Stack{Owner: in.Owner}, families: in.Backends.Families, addresses: map[corev1.IPFamily]string{},
	}
}

func (b *builder) stack() (*stack.Stack, annotations.Problems) {
	b.problems = append(b.problems, validateService(b.in)...)
	b.balancer()
	if b.problems.Errors() {
		return nil, b.problems.Sorted()
	}
	b.entries.Group, b.entries.Balancer = b.in.Config.GroupOfBalancers(), b.lb
	for _, family := range b.families {
		b.frontend(family)
	}
	for _, family := range b.families {
		b.rules(family)
	}
	b.refuseTaken()
	if b.problems.Errors() {
		return nil, b.problems.Sorted()
	}
	if b.recreate {
		b.out.Resources = nil
		return b.out, b.problems.Sorted()
	}
	if !b.leaveFirst() {
		b.putEntries()
		for _, family := range b.families {
			b.pool(family)
		}
		b.tellPlaces()
		b.link()
	}
	b.access()
	if b.problems.Errors() {
		return nil, b.problems.Sorted()
	}
	if b.awaitsMove() && b.in.Kind == Public {
		return b.keepAddresses(), b.problems.Sorted()
	}
	b.out.Sort()
	return b.out, b.problems.Sorted()
}

// builder is the state of one build.
type builder struct {
	in       input
	facts    *Facts
	have     *stack.Stack
	cluster  string
	base     string
	lb       string // the load balancer that the Service is on
	families []corev1.IPFamily
	entries  Entries
	// addresses are those of the frontends, as far as they are known.
	addresses map[corev1.IPFamily]string
	// recreate reports that a public IP must be deleted, with all its users, before it can
	// be recreated. The next build creates them again.
	recreate bool
	// foresees: what follows once the addresses are known is put in as well; see later.
	foresees bool
	// places are those of the nodes, once they are known; see placed.
	places *placement

	out      *stack.Stack
	problems annotations.Problems
}

func (b *builder) report(p ...annotations.Problem) { b.problems = append(b.problems, p...) }

func (b *builder) fail(key, value, message, legal string) {
	b.report(annotations.ProblemOf(key, value, message, legal, annotations.Error))
}

// found is a resource that was found and is proven to be the Service's own.
func (b *builder) found(k stack.Key) (stack.Resource, bool) {
	r, ok := b.have.Get(k)
	return r, ok && r.Proof != stack.None
}

// foundEntries are those in the load balancer that the Service is on.
func (b *builder) foundEntries() Entries {
	r, _ := b.found(EntriesKey(b.lb))
	e, _ := r.Spec.(Entries)
	return e
}

func (b *builder) dual() bool { return len(b.families) > 1 }

func (b *builder) suffix(family corev1.IPFamily) string { return familySuffix(family, b.dual()) }

// subnetPart is what the subnet adds to names: only one that the user names.
func (b *builder) subnetPart() string {
	if b.in.Kind != Internal {
		return ""
	}
	return subnetKey.Get(b.in.Values)
}

// onBalancer is the load balancer that the Service is on, as found.
func (b *builder) onBalancer() (FoundBalancer, bool) { return b.facts.balancer(b.lb) }

func (f *Facts) balancer(name string) (FoundBalancer, bool) {
	for _, lb := range f.Balancers {
		if strings.EqualFold(lb.Name, name) {
			return lb, true
		}
	}
	return FoundBalancer{}, false
}

// balancer chooses the load balancer.
func (b *builder) balancer() {
	b.lb = singleBalancer(b.in)
	if len(b.in.Config.Multi) > 0 {
		b.lb = b.chosen()
	}
	if lb, ok := b.onBalancer(); ok {
		b.lb = lb.Name // in its own case
		if lb.SKU != "" && !strings.EqualFold(lb.SKU, skuStandard) {
			b.fail("load balancer "+lb.Name, lb.SKU, "is its SKU, and only Standard load balancers are served", "a Standard load balancer; Azure has retired the Basic SKU")
		}
	}
}

// putEntries takes over what does not depend on the Service.
func (b *builder) putEntries() {
	found, there := b.onBalancer()
	if b.in.Config.Tags != nil || there {
		b.entries.Tags = mergeTags(found.Tags, b.in.Config.Tags, b.in.Config.SystemTags)
	}
	if had, ok := b.found(EntriesKey(b.lb)); ok {
		had, _ := had.Spec.(Entries)
		b.entries.Tags = mergeTags(had.Tags, b.in.Config.Tags, b.in.Config.SystemTags)
	}
	for _, r := range b.entries.Rules {
		if r.Pool != "" && !slices.Contains(b.entries.Pools, r.Pool) {
			b.entries.Pools = append(b.entries.Pools, r.Pool)
		}
	}
	for _, pool := range b.entries.Pools {
		if _, ok := b.have.Get(PoolKey(b.lb, pool)); ok {
			b.entries.Expect = append(b.entries.Expect, pool)
		}
	}
	b.entries.Probes = distinctProbes(b.entries.Probes)
	b.entries.sort()
	slices.Sort(b.entries.Expect)
	if len(b.entries.Rules) == 0 {
		// Another Service's frontend is not ours to want without a rule.
		b.entries.Frontends = slices.DeleteFunc(b.entries.Frontends, func(f Frontend) bool { return !ownedBy(b.base, f.Name) })
	}
	if len(b.entries.Rules)+len(b.entries.Frontends) == 0 {
		return
	}
	b.out.Put(stack.Resource{Key: EntriesKey(b.lb), In: BalancerKey(b.lb), Spec: b.entries})
}

func distinctProbes(in []Probe) []Probe {
	out := slices.Clone(in)
	slices.SortFunc(out, func(a, b Probe) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b Probe) bool { return a.Name == b.Name })
}

// leaveFirst tells that the Service has an address on another load balancer, which
// it must leave before the address can be on this one: Azure takes no address on
// two frontends. The next build puts it there.
func (b *builder) leaveFirst() bool {
	if b.have == nil {
		return false
	}
	for r, e := range stack.Each[Entries](b.have, KindEntries) {
		if r.Key == EntriesKey(b.lb) || r.Proof == stack.None {
			continue
		}
		for _, had := range e.Frontends {
			for _, want := range b.entries.Frontends {
				if want.PublicIP == had.PublicIP && (!want.PublicIP.IsZero() || want.Address != "" && want.Address == had.Address) {
					return b.mayLeave(e)
				}
			}
		}
	}
	return false
}

// mayLeave refuses a move from a load balancer where others use the frontend.
func (b *builder) mayLeave(e Entries) bool {
	lb, _ := b.facts.balancer(e.Balancer)
	for _, f := range lb.Frontends {
		mine := func(u string) bool { return ownedBy(b.base, u) }
		used := f.Held || slices.ContainsFunc(f.Users, func(u string) bool { return !mine(u) })
		if used && slices.ContainsFunc(f.Users, mine) {
			b.fail(configurationsKey.Name, strings.Join(configurationsKey.Get(b.in.Values), ","),
				"asks for another load balancer than "+e.Balancer+", where the frontend "+f.Name+" is used by others as well", "a list with "+e.Balancer+" in it, or no list")
		}
	}
	return true
}
