package model

import (
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// ports adds the listener of each port, and what is behind it.
func (b *builder) ports() {
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
		found, _ := b.have.Get(BackendsKey())
		spec, _ := found.Spec.(Backends)
		b.out.Put(stack.Resource{Key: BackendsKey(), In: b.lb, Spec: Backends{Members: b.nodes(spec.Members)}})
	}
	if hasUDP(b.in.Service.Spec.Ports) && textKey.Get(b.in.Values) == "" {
		b.problems.Warn(textKey.Name, "", "is missing, and backends of UDP get traffic only while they answer the text "+standardText, "the text that the pods answer")
	}
}

// listener adds the listener of a port with its policy and its group.
func (b *builder) listener(p nodeports.ServicePort) {
	protocol := string(p.Protocol)
	key := ListenerKey(protocol, p.Port)
	want := Listener{Protocol: protocol, Port: p.Port, Scheduler: b.scheduler(key)}
	if b.normal {
		want.BackendPort, want.Health = p.NodePort, b.health(protocol, b.isFound(key))
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

// scheduler returns how a listener chooses a backend; empty: as found.
func (b *builder) scheduler(key stack.Key) string {
	asked := schedulerKey.Get(b.in.Values)
	found, live := b.have.Get(key)
	spec, _ := found.Spec.(Listener)
	switch {
	case asked == leastConn:
		return weightLeast
	case asked != "":
		return asked
	case b.hasAffinity():
		return hash
	case live && spec.Mark != b.mark():
		return "" // another controller has created it
	}
	return roundRobin
}

// health returns the settings of health checks that annotations ask for. A new check of UDP needs a text.
func (b *builder) health(protocol string, live bool) Health {
	v := b.in.Values
	h := Health{Timeout: timeoutKey.Get(v), Interval: intervalKey.Get(v), Unhealthy: unhealthyKey.Get(v), Healthy: healthyKey.Get(v)}
	if protocol == udp {
		if h.Text = textKey.Get(v); h.Text == "" && !live {
			h.Text = standardText
		}
	}
	return h
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
	if key.Kind == KindPool {
		want.Members = b.pods(p, spec.Members)
	} else {
		want.Members, backend = b.nodes(spec.Members), p.NodePort
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
