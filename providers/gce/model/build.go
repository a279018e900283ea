package model

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// buildStack computes the desired stack of the Service. If a problem is an error there
// is no stack, and the last valid one stays in force. The kind, the IP, and settings
// where a change has no benefit, are adopted from the observed state.
func buildStack(in input, facts *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	if facts == nil {
		return nil, nil, fault.New(fault.Internal, "gce: facts were not read")
	}
	if in.Config.SystemUID == "" || in.Config.ClusterID == "" {
		return nil, nil, fault.New(fault.Internal, "gce: neither the cluster nor the configuration says by which ids load balancers are named")
	}
	if beyond := providers.Exceeds(kindCapabilities(), computeReach(in)); len(beyond) > 0 {
		return nil, beyond, nil
	}
	b := newBuilder(in, facts, have)
	b.problems = append(b.problems, validateService(b.in)...)
	b.network()
	b.members()
	switch b.in.Kind {
	case TargetPool:
		b.targetPool()
	case InternalIG:
		b.internalIG()
	default:
		b.newer()
	}
	b.followOld()
	b.refuseConflicts()
	b.problems = b.problems.Distinct()
	if b.problems.Errors() {
		return nil, b.problems, nil
	}
	b.out.Sort()
	return b.out, b.problems, nil
}

// builder is the state of one build.
type builder struct {
	in    input
	facts *Facts
	have  *stack.Stack
	names Names
	rules func() diff.Rules // made when they are first needed, without orders

	choices
	nodes []member
	tags  []string // of the nodes, for firewalls
	ips   map[string]ipChoice

	out      *stack.Stack
	problems annotations.Problems
}

// choices are what the load balancer of a Service is, by its request and what exists.
type choices struct {
	scheme     string // EXTERNAL, INTERNAL
	tier       string // of external load balancers
	subnet     string // of internal load balancers, path with project
	subnetIPv6 string // of external IPv6 rules, path with project
	local      bool   // the traffic policy is Local, and its check can be asked
	neg        bool   // endpoint groups, not instance groups
}

func newBuilder(in input, facts *Facts, have *stack.Stack) *builder {
	if have == nil {
		have = &stack.Stack{}
	}
	in = withEffectiveKind(in, have)
	b := &builder{
		in: in, facts: facts, have: have, names: NamesOf(in.Config, in.Owner), rules: sync.OnceValue(func() diff.Rules { return diff.Rules{Kinds: ruleOfKinds()} }),
		choices: choices{scheme: schemeOf(in.Kind), neg: usesNEG(in, have)}, ips: map[string]ipChoice{},
		out: &stack.Stack{Owner: in.Owner},
	}
	b.local = nodeports.LocalOnly(in.Service)
	// The older external kind treats Local without a check port as Cluster.
	// Source: kubernetes/kubernetes, service.NeedsHealthCheck as used by cloud-provider-gcp.
	if in.Kind == TargetPool && in.Service.Spec.HealthCheckNodePort == 0 {
		b.local = false
	}
	return b
}

// found is a resource that was found and is proven to be ours.
func (b *builder) found(k stack.Key) (stack.Resource, bool) {
	r, ok := b.have.Get(k)
	if !ok || r.Proof == stack.None {
		return stack.Resource{}, false
	}
	return r, true
}

func (b *builder) report(p ...annotations.Problem) { b.problems = append(b.problems, p...) }

func (b *builder) put(k stack.Key, spec stack.Spec) { b.out.Put(stack.Resource{Key: k, Spec: spec}) }

// share wants what the Services of the cluster have together.
func (b *builder) share(k stack.Key, spec stack.Spec) {
	b.out.Put(stack.Resource{Key: k, Ownership: stack.Shared, Spec: spec})
}

// network finds tier and subnets.
func (b *builder) network() {
	b.subnet = b.facts.Subnet
	b.subnetIPv6 = b.facts.Subnet
	b.tier = b.wantedTier()
	if b.scheme == SchemeExternal {
		if name := subnetKeyV2.Get(b.in.Values); b.in.Kind == NetLB && name != "" {
			b.subnetIPv6 = b.in.Config.SubnetPath(name)
		}
	} else {
		b.internalSubnet()
	}
	b.checkSubnets()
}

// internalSubnet: the newer key hides the older one on kind ilb-neg, also if it
// is empty. Source: kubernetes/ingress-gce:pkg/l4/annotations/service.go.
func (b *builder) internalSubnet() {
	name := internalSubnetKey.Get(b.in.Values)
	if newer, _, there := subnetKeyV2.Lookup(b.in.Values); there && b.in.Kind == InternalNEG {
		name = newer
	}
	if name == "" {
		return
	}
	if b.facts.Legacy {
		b.report(internalSubnetKey.Warning(b.in.Values, "has no effect, because the network has no subnets", ""))
		return
	}
	b.subnet = b.in.Config.SubnetPath(name)
}

// subnetSource is the key that has named the subnet, for messages about it.
func (b *builder) subnetSource() string {
	_, _, newer := subnetKeyV2.Lookup(b.in.Values)
	switch {
	case newer && (b.in.Kind == NetLB || b.in.Kind == InternalNEG):
		return subnetKeyV2.Name
	case b.scheme == SchemeInternal && internalSubnetKey.Get(b.in.Values) != "":
		return internalSubnetKey.Name
	}
	return "subnetwork-name" // of the cloud configuration
}

// checkSubnets reports which subnets do not exist or cannot have the addresses.
func (b *builder) checkSubnets() {
	if len(b.facts.Subnets) == 0 {
		return // they cannot be read: the cloud will tell
	}
	path, access := b.subnet, SchemeInternal
	if b.scheme == SchemeExternal {
		if !b.hasIPv6() || b.collection(VersionIPv6) != "" {
			return
		}
		path, access = b.subnetIPv6, SchemeExternal
	}
	s, ok := b.facts.subnet(path)
	switch {
	case path == "", !ok && len(b.facts.Subnets) == 1 && b.facts.Subnets[0].Path == b.facts.Subnet:
		// Not asked for, or only the configured one may be read: the cloud will tell.
	case !ok:
		b.report(annotations.ProblemOf(b.subnetSource(), LastOf(path), "is no subnet of the region in the network", "one of "+b.subnetNames(), annotations.Error))
	case b.hasIPv6() && (s.IPv6Access != access || s.StackType == "IPV4_ONLY"):
		b.report(annotations.ProblemOf(b.subnetSource(), s.Name, "has no "+strings.ToLower(access)+" IPv6 range, which the Service needs; name another by "+subnetKeyV2.Name, "", annotations.Error))
	}
}

func (b *builder) subnetNames() string {
	var out []string
	for _, s := range b.facts.Subnets {
		out = append(out, s.Name)
	}
	return shortList(out)
}

// wantedTier is the one the user says; without a word a live load balancer keeps
// its own, since a change would cost it its address.
func (b *builder) wantedTier() string {
	tier, _, told := tierKey.Lookup(b.in.Values)
	if !told {
		for r, rule := range stack.Each[Rule](b.have, KindExternalRule) {
			if r.Proof != stack.None && rule.Tier != "" && rule.IPVersion == VersionIPv4 {
				return rule.Tier
			}
		}
	}
	if tier == "Standard" {
		return tierStandard
	}
	return TierPremium
}

// collection is the prefix that external IPv6 addresses are from.
func (b *builder) collection(version string) string {
	if b.in.Kind != NetLB || version != VersionIPv6 {
		return ""
	}
	return collectionKey.Get(b.in.Values)
}

// hasIPv4 and hasIPv6 say which families the load balancer has; the older kinds
// have IPv4 whatever the Service says.
func (b *builder) hasIPv4() bool { return !isNewer(b.in.Kind) || hasFamily(b.in, corev1.IPv4Protocol) }
func (b *builder) hasIPv6() bool { return isNewer(b.in.Kind) && hasFamily(b.in, corev1.IPv6Protocol) }

func isNewer(kind string) bool { return kind == NetLB || kind == InternalNEG }

// hasFamily: an empty list of families means IPv4.
// Source: kubernetes/ingress-gce:pkg/l4/utils.
func hasFamily(in input, family corev1.IPFamily) bool {
	list := in.Service.Spec.IPFamilies
	return slices.Contains(list, family) || len(list) == 0 && family == corev1.IPv4Protocol
}

// shortList names the first few of a list.
func shortList(list []string) string {
	const shown = 5
	if len(list) <= shown {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:shown], ", ") + " and " + strconv.Itoa(len(list)-shown) + " more"
}
