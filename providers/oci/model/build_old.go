package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
)

// followOld keeps today's nodes behind a load balancer of the other product, which serves
// while its successor waits or is refused. It is deleted by a later plan, which finds its
// backend sets as they should be.
func (b *builder) followOld() {
	for _, p := range Products() {
		lb, found := b.have.Get(p.key())
		if p == b.product || !found || lb.Proof == stack.None || lb.State == stack.Failed {
			continue
		}
		for _, r := range b.have.Of(p.Set) {
			set, is := r.Spec.(BackendSet)
			if !is || len(set.Backends) == 0 || !slices.ContainsFunc(b.have.Of(p.Listener), func(l stack.Resource) bool { return isSentTo(l, r.Key) }) {
				continue
			}
			today := followers(b.in, set.Backends)
			if len(today) == 0 || sameBackends(today, set.Backends) {
				continue
			}
			set.Backends = today
			b.out.Put(stack.Resource{Key: r.Key, In: r.In, Slot: r.Slot, Spec: set})
			b.out.Incomplete = "the load balancer of the other kind gets today's nodes first"
		}
	}
}

// isSentTo reports whether a listener sends to a backend set.
func isSentTo(listener stack.Resource, set stack.Key) bool {
	l, _ := listener.Spec.(Listener)
	return l.Set.To == set
}
