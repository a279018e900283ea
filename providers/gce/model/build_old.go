package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
)

// followOld keeps today's nodes behind a load balancer of the other scheme that still serves,
// while its successor waits or is refused. What is as it should be is not wanted any more,
// and is deleted with it.
func (b *builder) followOld() {
	for _, kind := range []stack.Kind{KindExternalRule, KindInternalRule} {
		for r, rule := range stack.Each[Rule](b.have, kind) {
			if r.Proof == stack.None || rule.Scheme == b.scheme {
				continue
			}
			b.followPool(rule.Target.To)
			backend, _ := b.found(rule.Backend.To)
			spec, _ := backend.Spec.(Backend)
			for _, ref := range spec.Groups {
				b.followGroup(ref.To)
			}
		}
	}
}

// followPool wants the pool with today's nodes and the check that judges them.
func (b *builder) followPool(key stack.Key) {
	found, ok := b.found(key)
	pool, isPool := found.Spec.(Pool)
	if _, wanted := b.out.Get(key); !ok || !isPool || wanted {
		return
	}
	var today []string
	for _, m := range b.nodes {
		today = append(today, "zones/"+m.Zone+"/instances/"+m.Instance)
	}
	if today = sortedSet(today); len(today) == 0 || slices.Equal(today, pool.Instances) {
		return
	}
	pool.Instances = today
	b.put(key, pool)
	for _, ref := range pool.Checks {
		b.keepFound(ref.To)
	}
	for _, r := range b.have.Of(KindCheckFirewall) {
		b.keepFound(r.Key)
	}
}

// followGroup wants a group of a zone with today's nodes of that zone.
func (b *builder) followGroup(key stack.Key) {
	found, ok := b.have.Get(key)
	if _, wanted := b.out.Get(key); !ok || wanted {
		return
	}
	switch g := found.Spec.(type) {
	case Group:
		if today := b.instancesIn(g.Zone); len(today) > 0 && !slices.Equal(today, g.Instances) && !b.in.Config.KeepGroups {
			g.Instances = today
			b.share(key, g)
		}
	case NEG:
		if today := b.endpointsIn(g); found.Proof != stack.None && len(today) > 0 && !slices.Equal(today, g.Endpoints) {
			g.Endpoints = today
			b.put(key, g)
		}
	}
}

// instancesIn returns the instances of a zone that a group takes.
func (b *builder) instancesIn(zone string) []string {
	var out []string
	for _, m := range b.nodes {
		if m.Zone == zone && m.subnet == "" {
			out = append(out, m.Instance)
		}
	}
	out = sortedSet(out)
	return out[:min(len(out), maxGroupMembers)]
}

// endpointsIn returns the endpoints whose nodes still exist, and others in place of the rest.
func (b *builder) endpointsIn(g NEG) []Endpoint {
	var out, others []Endpoint
	for _, m := range b.nodes {
		if e := (Endpoint{Instance: m.Instance, IP: m.ip}); m.Zone == g.Zone && m.ip != "" && (m.subnet == "" || m.subnet == g.Subnet) {
			if slices.Contains(g.Endpoints, e) {
				out = append(out, e)
			} else {
				others = append(others, e)
			}
		}
	}
	out = append(out, others[:min(len(others), len(g.Endpoints)-len(out))]...)
	slices.SortFunc(out, Endpoint.Compare)
	return out
}

// keepFound wants what was found as it is.
func (b *builder) keepFound(key stack.Key) {
	found, ok := b.found(key)
	if _, wanted := b.out.Get(key); ok && !wanted {
		b.out.Put(stack.Resource{Key: key, Ownership: found.Ownership, Slot: found.Slot, Spec: found.Spec})
	}
}
