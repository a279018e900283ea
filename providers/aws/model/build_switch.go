package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// LeavingMark begins the key name of a target group that a listener is about to leave; that
// of its listener follows.
const LeavingMark = "leaving/"

// Targets of a group that no listener sends to are not checked, and a Network Load Balancer
// sends to no target before its first checks are over. So a listener gets a new group beside
// the one that it sends to, with the weight 0, and switches to it once a target of it is
// healthy: the first plan creates the group and adds it to the listener, the second one gives
// it the traffic, the third one deletes the old group. The listener's forward action shows
// which plan is next.
// Sources: AWS, User Guide for Network Load Balancers: "Distribute traffic to multiple target
// groups" (weights from 0 to 999, of which 0 gets nothing, since November 2025; new connections
// follow new weights, old ones stay), "Health checks" (targets are checked as soon as a listener
// names their group), and "Target health status" (unused, initial, healthy).

// handOver has a listener keep the target group that it sends to, if that can still serve,
// until the wanted one can; nodePort is where today's instances are reached. The targets of the
// group that it sends to follow nodes and pods in every case: AWS may refuse the switch.
func (b *builder) handOver(name string, l Listener, nodePort int32) Listener {
	old, joined := b.sendsTo(name)
	was, isGroup := old.Spec.(TargetGroup)
	res, _ := b.out.Get(stack.Key{Kind: KindTargetGroup, Name: name})
	wanted, _ := res.Spec.(TargetGroup)
	switch {
	case !isGroup:
		return l
	case was.served(wanted):
		if joined { // what was about to be left is wanted again
			wanted.Name = was.Name
			res.Spec = wanted
			b.out.Put(res)
		}
		return l
	}
	if !joined && !b.serves(old, was, nodePort) {
		return l
	}
	created, _ := b.found(res.Key)
	fresh, _ := created.Spec.(TargetGroup)
	next, fits := l.beside(old.ID)
	switch {
	case joined && fresh.served(wanted) && !b.in.Config.Controller.NoWeights:
		next = l
	case !fits, b.in.Config.Controller.NoWeights, was.VPC != wanted.VPC, was.Family != wanted.Family, b.protocolOf(name) != l.Protocol:
		b.followOld(name, old)
		return l
	}
	b.keep(name, old)
	return next
}

// served reports whether a desired group is the found one.
func (t TargetGroup) served(wanted TargetGroup) bool {
	return t.Protocol == wanted.Protocol && t.Port == wanted.Port && t.TargetType == wanted.TargetType && t.Family == wanted.Family && t.VPC == wanted.VPC
}

// sendsTo is the target group of the Service that gets the traffic of a listener; joined
// tells that another one stands beside it and gets none.
func (b *builder) sendsTo(name string) (group stack.Resource, joined bool) {
	res, _ := b.found(stack.Key{Kind: KindListener, Name: name})
	l, ok := res.Spec.(Listener)
	if !ok {
		return stack.Resource{}, false
	}
	leaving, there := b.found(stack.Key{Kind: KindTargetGroup, Name: LeavingMark + name})
	if there && slices.ContainsFunc(l.Shares, func(w Weighted) bool { return w.Group == leaving.ID }) {
		return leaving, true
	}
	group, _ = b.found(l.TargetGroup.To)
	return group, false
}

// protocolOf is that of the found listener.
func (b *builder) protocolOf(name string) string {
	res, _ := b.found(stack.Key{Kind: KindListener, Name: name})
	l, _ := res.Spec.(Listener)
	return l.Protocol
}

// serves reports whether the targets of a found group can still be reached: a node port
// that the Service no longer has is closed on all nodes at once.
func (b *builder) serves(res stack.Resource, group TargetGroup, nodePort int32) bool {
	targets := b.targetsIn(res)
	if group.TargetType == targetIP {
		return len(targets) > 0
	}
	return slices.ContainsFunc(targets, func(t Target) bool { return t.Port == nodePort })
}

// targetsIn are the found targets of a found target group.
func (b *builder) targetsIn(group stack.Resource) []Target {
	res, _ := b.found(stack.Key{Kind: KindTargets, Name: group.Key.Name})
	targets, _ := res.Spec.(Targets)
	return targets.Targets
}

// beside is the listener with a group of the Service that keeps its whole share for now;
// false: one group more is not possible, or there is no share.
func (l Listener) beside(old string) (Listener, bool) {
	shares := slices.Clone(l.Shares)
	if len(shares) == 0 {
		shares = []Weighted{{Weight: DefaultWeight}}
	}
	own := slices.IndexFunc(shares, Weighted.own)
	if own < 0 || shares[own].Weight == 0 || len(shares) == mostGroups {
		return l, false
	}
	shares = append(shares, Weighted{Group: old, Weight: shares[own].Weight})
	shares[own].Weight = 0
	slices.SortFunc(shares, CompareWeighted)
	l.Shares, l.Leaving = shares, old
	return l, true
}

// keep wants a found group as it is, with today's targets of its own type and family.
func (b *builder) keep(name string, old stack.Resource) {
	was, _ := old.Spec.(TargetGroup)
	was.Tags = nil
	key := stack.Key{Kind: KindTargetGroup, Name: LeavingMark + name}
	b.put(KindTargetGroup, key.Name, stack.Key{}, was)
	b.followOld(name, old)
	b.leaving = append(b.leaving, old)
}

// followOld wants today's targets in the group that a found listener sends to. The group itself
// is deleted in the plan that switches the listener, unless it is kept.
func (b *builder) followOld(name string, old stack.Resource) {
	targets, _ := b.found(stack.Key{Kind: KindTargets, Name: old.Key.Name})
	spec, _ := stack.SpecOf[Targets](b.out, stack.Key{Kind: KindTargets, Name: name})
	spec.Targets = targetsOn(b.in, b.facts, b.have, targets, b.machines(name, spec.Targets))
	b.put(KindTargets, LeavingMark+name, stack.Key{Kind: KindTargetGroup, Name: LeavingMark + name}, spec)
}

// followFound wants today's backends in found load balancers that the Service is about to leave,
// such as one of another kind: they serve until AWS has accepted what replaces them.
func (b *builder) followFound() {
	machines := runningNodes(b.in, b.facts)
	if len(machines) == 0 || b.have == nil {
		return
	}
	for _, r := range b.have.Of(KindClassicInst) {
		_, kept := b.out.Get(r.In)
		if _, found := b.found(r.In); found && !kept && r.Proof != stack.None {
			b.put(KindClassicInst, r.Key.Name, r.In, ClassicInstances{Instances: machines})
		}
	}
	for _, r := range b.have.Of(KindTargets) {
		_, wanted := b.out.Get(r.Key)
		_, follows := b.out.Get(stack.Key{Kind: KindTargets, Name: LeavingMark + r.Key.Name})
		if spec, _ := r.Spec.(Targets); !wanted && !follows && r.Proof != stack.None && b.serving(r.In) && !b.wantsGroup(r.In) {
			spec.Own, spec.Targets = sharesTargets(b.in), targetsOn(b.in, b.facts, b.have, r, machines)
			b.put(KindTargets, r.Key.Name, r.In, spec)
		}
	}
}

// markMoves marks the targets whose node port changes: the old ones serve until the nodes admit
// traffic at the new port.
func (b *builder) markMoves() {
	for _, r := range b.out.Of(KindTargets) {
		found, _ := b.found(r.Key)
		old, _ := found.Spec.(Targets)
		spec, _ := r.Spec.(Targets)
		ports := portsOf(spec.Targets)
		leaves := func(t Target) bool { return strings.HasPrefix(t.ID, "i-") && !slices.Contains(ports, t.Port) }
		if spec.Moves = slices.ContainsFunc(old.Targets, leaves); spec.Moves {
			r.Spec = spec
			b.out.Put(r)
		}
	}
}

// wantsGroup reports whether a found target group is a wanted one, which has its name.
func (b *builder) wantsGroup(key stack.Key) bool {
	group, _ := stack.SpecOf[TargetGroup](b.have, key)
	return slices.ContainsFunc(b.out.Of(KindTargetGroup), func(r stack.Resource) bool {
		wanted, _ := r.Spec.(TargetGroup)
		return wanted.Name == group.Name
	})
}

// serving reports whether a found listener of the Service sends to a target group.
func (b *builder) serving(group stack.Key) bool {
	found, _ := b.have.Get(group)
	return slices.ContainsFunc(b.have.Of(KindListener), func(r stack.Resource) bool {
		l, _ := r.Spec.(Listener)
		return r.Proof != stack.None && (l.TargetGroup.To == group || slices.ContainsFunc(l.Shares, func(w Weighted) bool { return w.Group != "" && w.Group == found.ID }))
	})
}

// machines returns the instances that a target group gets which a port is about to leave: those
// of the wanted group, unless that one has pods.
func (b *builder) machines(name string, next []Target) (ids []string) {
	if group, _ := stack.SpecOf[TargetGroup](b.out, stack.Key{Kind: KindTargetGroup, Name: name}); group.TargetType == targetIP {
		return runningNodes(b.in, b.facts)
	}
	for _, t := range next {
		ids = append(ids, t.ID)
	}
	return sortedSet(ids)
}

// keepRules leaves the nodes open for the targets of groups that are about to be left.
// The clients of a port that is still desired change at once.
func (b *builder) keepRules() {
	var ports []int32
	for _, group := range b.leaving {
		spec, _ := group.Spec.(TargetGroup)
		if n, err := strconv.ParseInt(spec.CheckPort, 10, 32); err == nil {
			ports = append(ports, int32(n))
		}
		for _, t := range b.targetsIn(group) {
			ports = append(ports, t.Port)
		}
	}
	ports = slices.DeleteFunc(sortedSet(ports), func(port int32) bool {
		return slices.ContainsFunc(b.out.Of(KindNodeRule), func(r stack.Resource) bool { return admitsPort(r, port) })
	})
	if len(ports) == 0 {
		return
	}
	for r, rule := range stack.Each[NodeRule](b.have, KindNodeRule) {
		_, shared := b.out.Get(rule.Source.To) // the group that the load balancer still sends from
		if r.Proof != stack.None && (rule.Source.IsZero() || shared && rule.Source.To.Kind == KindSharedGroup) && slices.ContainsFunc(ports, func(port int32) bool { return admitsPort(r, port) }) {
			b.out.Put(stack.Resource{Key: r.Key, In: r.In, Ownership: r.Ownership, Spec: rule})
		}
	}
}

// admitsPort reports whether a rule of the nodes admits the traffic to a port.
func admitsPort(r stack.Resource, port int32) bool {
	rule, ok := r.Spec.(NodeRule)
	return ok && rule.FromPort <= port && port <= rule.ToPort
}

// forecastSteps returns the steps that follow once new target groups can serve, or a
// certificate is accepted.
func forecastSteps(in input, facts *Facts, have *stack.Stack) []string {
	want, _, err := buildStack(in, facts, have)
	if err != nil || want == nil {
		return nil
	}
	var out []string
	for r, l := range stack.Each[Listener](want, KindListener) {
		if l.Leaving != "" {
			out = append(out, fmt.Sprintf("once a target of target-group/%s is healthy, %s sends to it alone, without an interruption; %v later the old target group is deleted", r.Key.Name, r.Key, groupLinger))
		}
	}
	for r, l := range stack.Each[ClassicPort](want, KindClassicPort) {
		if l.Waits {
			out = append(out, fmt.Sprintf("once AWS has accepted the certificate on another port, %s is deleted, and the listener that the Service requests on its port is created, with a brief interruption", r.Key))
		}
	}
	return out
}

// LeavesFor reports whether a found listener gives nothing to the group that is to get
// its traffic, and all to one that is to get none.
func (l Listener) LeavesFor(next Listener) bool {
	if l.TargetGroup != next.TargetGroup || l.ownWeight() > 0 || next.ownWeight() == 0 {
		return false
	}
	return slices.ContainsFunc(l.Shares, func(w Weighted) bool {
		stays := slices.ContainsFunc(next.Shares, func(n Weighted) bool { return n.same(w) })
		return w.Weight > 0 && !stays
	})
}

// ownWeight is the share of the Service's own group.
func (l Listener) ownWeight() int32 {
	for _, w := range l.Shares {
		if w.own() {
			return w.Weight
		}
	}
	return DefaultWeight
}

// Alone is the listener once it has left the group that it is about to leave.
func (l Listener) Alone() Listener {
	var out []Weighted
	own := int32(DefaultWeight)
	for _, w := range l.Shares {
		if w.Group == l.Leaving {
			own = w.Weight
			continue
		}
		out = append(out, w)
	}
	l.Leaving, l.Shares = "", nil
	if len(out) > 1 {
		out[slices.IndexFunc(out, Weighted.own)].Weight = own
		l.Shares = out
	}
	return l
}
