package model

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// buildStack computes the desired stack of the Service. If a problem is an error there
// is no stack, and the last valid one stays in force. Choices that AWS cannot change,
// and settings where a change has no benefit, are adopted from the observed state.
func buildStack(in input, facts *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	if facts == nil {
		return nil, nil, fault.New(fault.Internal, "aws: facts were not read")
	}
	b := &builder{
		in: in, facts: facts, have: have,
		lb:  LoadBalancerName(in.Owner.UID),
		out: &stack.Stack{Owner: in.Owner},
	}
	if in.Kind != LBC {
		b.ranges = b.clientRanges()
	}
	b.problems = append(b.problems, validateService(in)...)
	if beyond := capabilityOf(in.Kind).Exceeds(sizeOf(in)); len(beyond) > 0 {
		return nil, append(b.problems, beyond...).Distinct(), nil
	}
	b.demandUnlisted()
	switch in.Kind {
	case LBC:
		b.controlled()
	case NLB:
		b.backends()
		b.network()
	default:
		b.backends()
		b.classic()
	}
	b.problems = b.problems.Distinct()
	if b.problems.Errors() {
		return nil, b.problems, nil
	}
	b.followFound()
	b.markMoves()
	b.markOpening()
	b.keepRules()
	b.countRules()
	b.tellServers()
	b.tellPorts()
	b.out.Sort()
	return b.out, b.problems, nil
}

// builder is the state of one build.
type builder struct {
	in      input
	facts   *Facts
	have    *stack.Stack
	lb      string           // the load balancer's name
	ranges  []string         // clients that may connect, sorted, IPv4
	ids     []string         // instances behind the load balancer, sorted
	groups  []string         // groups of the nodes that get rules, sorted
	leaving []stack.Resource // target groups that listeners are about to leave

	out      *stack.Stack
	problems annotations.Problems
}

// found is a resource that was found and is proven to be the Service's own.
func (b *builder) found(k stack.Key) (stack.Resource, bool) {
	r, ok := b.have.Get(k)
	if !ok || r.Proof == stack.None {
		return stack.Resource{}, false
	}
	return r, true
}

func (b *builder) put(kind stack.Kind, name string, in stack.Key, spec stack.Spec) {
	b.out.Put(stack.Resource{Key: stack.Key{Kind: kind, Name: name}, In: in, Spec: spec})
}

func (b *builder) report(p ...annotations.Problem) { b.problems = append(b.problems, p...) }

// extraTags are the tags that the user wants on everything.
func (b *builder) extraTags() map[string]string { return tagsKey.Get(b.in.Values) }

// backends finds the instances and their groups. A Service that would lose all of its
// backends keeps the existing ones until the cause is plain: a selector that matches no
// pod, or instances that AWS does not list yet.
func (b *builder) backends() {
	ids, unknown := nodeInstances(b.in, b.facts)
	if len(unknown) > 0 {
		b.report(annotations.ProblemOf("nodes", "", "have instances that AWS does not know: "+shortList(unknown)+", so they get no traffic", "", annotations.Warning))
	}
	nodes := b.in.Backends.Nodes
	var keptGroups []string
	if len(ids) == 0 && (nodes.FilteredOut() || len(unknown) > 0) {
		if kept := b.lastInstances(); len(kept) > 0 {
			ids, keptGroups = kept, b.lastNodeGroups()
			b.report(annotations.ProblemOf(nodeLabelsKey.Name, "", "matches no node of the cluster; the load balancer keeps its present nodes", "labels that some node has", annotations.Warning))
		}
	}
	b.ids = ids
	if b.in.Config.DisableNodeRules {
		return
	}
	var doubts annotations.Problems
	b.groups, doubts = groupsOf(ids, b.facts)
	b.groups = sortedSet(slices.Concat(b.groups, keptGroups))
	b.report(doubts...)
}

// lastNodeGroups are the groups of the nodes that let the load balancer in now.
// Instances that are kept were not asked about, so their groups are not known.
func (b *builder) lastNodeGroups() []string {
	var out []string
	for _, r := range b.have.Resources {
		if rule, ok := r.Spec.(NodeRule); ok && r.Proof != stack.None {
			out = append(out, rule.Group)
		}
	}
	return out
}

// lastInstances are the instances that stand behind the load balancer now.
func (b *builder) lastInstances() []string {
	ids := map[string]bool{}
	if b.have == nil {
		return nil
	}
	for _, r := range b.have.Resources {
		switch spec := r.Spec.(type) {
		case ClassicInstances:
			for _, id := range spec.Instances {
				ids[id] = true
			}
		case Targets:
			for _, t := range spec.Targets {
				ids[t.ID] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// otherScheme reports that the load balancer does not have the scheme that is asked for.
func otherScheme(from annotations.Origin, wanted, found string) annotations.Problems {
	return notApplied(from, "asks for an "+wanted+" load balancer, but the load balancer is "+found+", and AWS cannot change the scheme of a live one; delete the Service and create it again, or ask for "+found, "")
}

// scheme is the one the user asks for, unless the load balancer has another: AWS
// cannot change it, and a new one would have another name and address.
func (b *builder) scheme(found string) string {
	wanted := schemePublic
	internal, from, said := internalSaid(b.in.Values)
	if internal {
		wanted = SchemeInternal
	}
	if found == "" || found == wanted {
		return wanted
	}
	if !said {
		from = annotations.Origin{Key: internalKey.Name}
	}
	b.report(otherScheme(from, wanted, found)...)
	return found
}
