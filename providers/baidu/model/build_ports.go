package model

import (
	"fmt"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// ports adds the listener of each port, and what is behind it.
func (b *builder) ports() {
	b.reportMany()
	for _, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			return
		}
		if p.NodePort == 0 && !podsKey.Get(b.in.Values) {
			continue // reported by check
		}
		b.listener(p)
	}
	if b.normal {
		spec, _ := stack.SpecOf[Backends](b.have, BackendsKey())
		b.out.Put(stack.Resource{Key: BackendsKey(), In: b.lb, Spec: Backends{Members: b.nodes(spec.Members)}})
	}
	b.reportUnused()
	if hasUDP(b.in.Service.Spec.Ports) && textKey.Get(b.in.Values) == "" {
		b.problems.Warn(textKey.Name, "", "is missing, and backends of UDP get traffic only while they answer the text "+standardText, "the text that the pods answer")
	}
}

// listener adds the listener of a port with its policy and its group.
func (b *builder) listener(p nodeports.ServicePort) {
	protocol := string(p.Protocol)
	key := ListenerKey(protocol, p.Port)
	found, live := b.foundAt(key, SlotOf(protocol, p.Port))
	want := Listener{Protocol: protocol, Port: p.Port, Scheduler: b.scheduler(found, live)}
	if b.normal {
		want.BackendPort, want.Health = p.NodePort, b.health(protocol, live)
	} else {
		want.Mark = b.mark()
	}
	b.out.Put(stack.Resource{Key: key, In: b.lb, Slot: SlotOf(protocol, p.Port), Spec: want})
	if b.normal {
		return
	}
	group, backend := b.group(p, key)
	target := TargetKey(group, protocol, backend)
	b.out.Put(stack.Resource{Key: target, In: group, Slot: SlotOf(protocol, backend), Spec: Target{
		Protocol: protocol, Port: backend, Health: b.health(protocol, b.isFound(target)), Balancer: b.lb,
	}})
	b.out.Put(stack.Resource{Key: PolicyKey(key), In: key, Slot: "policy", Spec: Policy{
		Protocol: protocol, Port: p.Port, Group: stack.RefTo(group), Target: stack.RefTo(target), Backend: backend, Mark: b.mark(), Balancer: b.lb,
	}})
}

func (b *builder) mark() string { return OwnerMark(b.in.Config.ClusterID, b.in.Owner.UID) }

func (b *builder) isFound(key stack.Key) bool {
	_, ok := b.have.Get(key)
	return ok
}

// foundAt returns the found listener at a place of the load balancer.
func (b *builder) foundAt(key stack.Key, slot string) (Listener, bool) {
	for r, spec := range stack.Each[Listener](b.have, KindListener) {
		if r.In == b.lb && (r.Key == key || b.normal && r.Slot == slot) {
			return spec, true
		}
	}
	return Listener{}, false
}

// scheduler returns how a listener chooses a backend; empty: as found.
func (b *builder) scheduler(found Listener, live bool) string {
	asked := schedulerKey.Get(b.in.Values)
	switch {
	case b.normal && live:
		return "" // reported
	case asked == leastConn && !b.normal:
		return weightLeast
	case asked != "":
		return asked
	case b.hasAffinity():
		return hash
	case live && found.Mark != b.mark():
		return "" // another controller has created it
	}
	return roundRobin
}

// health returns the settings of health checks that annotations ask for. A new check of UDP needs a text.
func (b *builder) health(protocol string, live bool) Health {
	v := b.in.Values
	if b.normal && live {
		return Health{} // reported
	}
	h := Health{Timeout: timeoutKey.Get(v), Interval: intervalKey.Get(v), Unhealthy: unhealthyKey.Get(v), Healthy: healthyKey.Get(v)}
	if protocol == udp {
		if h.Text = textKey.Get(v); h.Text == "" && !live {
			h.Text = standardText
		}
	}
	return h
}

// reportUnused reports keys that controllers of normal load balancers have ignored: live listeners keep what they
// have.
func (b *builder) reportUnused() {
	if !b.normal {
		return
	}
	const effect, legal = "has no effect on the live listeners of a normal load balancer, which keep their settings", "no such annotation"
	for _, k := range []*annotations.Key[int]{timeoutKey, intervalKey, unhealthyKey, healthyKey} {
		if _, _, given := k.Lookup(b.in.Values); given {
			b.problems = append(b.problems, k.Warning(b.in.Values, effect, legal))
		}
	}
	for _, k := range []*annotations.Key[string]{schedulerKey, textKey} {
		if _, _, given := k.Lookup(b.in.Values); given {
			b.problems = append(b.problems, k.Warning(b.in.Values, effect, legal))
		}
	}
}

// group returns the group that a port sends to, and the port of its members, and adds it. The group that
// another controller has created for a live listener stays.
func (b *builder) group(p nodeports.ServicePort, listener stack.Key) (stack.Key, int32) {
	key := GroupKey()
	if podsKey.Get(b.in.Values) {
		key = PoolKey(PortName(string(p.Protocol), p.Port))
	}
	if used, ok := b.usedGroup(listener); ok && (used.Kind == KindPool || key.Kind == KindGroup) {
		key = used
	}
	found, _ := b.have.Get(key)
	spec, _ := found.Spec.(Group)
	backend := int32(0)
	want := Group{Name: GroupName(b.in.Owner, key.Name), Mark: b.mark()}
	switch {
	case key.Kind == KindGroup:
		want.Members, backend = b.nodes(spec.Members), p.NodePort
	case NeedsEndpoints(b.in.Config, b.in.Service):
		want.Members = podMembers(b.in, p, spec.Members)
	default:
		b.problems.Warn(podsKey.Name, "", fmt.Sprintf("is missing, so that the group %s, which sends to pods, keeps its members", found.ID), "true")
		want.Members = spec.Members
	}
	b.out.Put(stack.Resource{Key: key, In: b.lb, Spec: want})
	return key, backend
}

// usedGroup returns the group of another controller that a live listener sends to.
func (b *builder) usedGroup(listener stack.Key) (stack.Key, bool) {
	r, ok := b.have.Get(PolicyKey(listener))
	spec, _ := r.Spec.(Policy)
	group, found := b.have.Get(spec.Group.To)
	return group.Key, ok && found && r.Proof != stack.None && group.Proof != stack.None && isOfOther(group.Key)
}
