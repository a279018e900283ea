package wire

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// former finds the Service's remains on load balancers other than its present one: its own
// one, if it has moved to a shared one, and its parts of shared ones. None of them is
// desired, so they are deleted.
func (f *finder) former(now *balancer, names []string) {
	for i := range f.view.balancers {
		lb := &f.view.balancers[i]
		if now == nil || lb.ID == now.ID || !f.behind(lb) {
			continue
		}
		key := stack.Key{Kind: model.KindBalancer, Name: "former/" + lb.ID}
		alone, tagged := len(model.OtherTags(lb.Tags, f.name)) == 0, slices.Contains(lb.Tags, f.name)
		switch {
		case slices.Contains(names, lb.Spec.Name) && lb.Spec.Name == now.Spec.Name: // see candidates
		case alone && (slices.Contains(names, lb.Spec.Name) || tagged && strings.HasPrefix(lb.Spec.Name, model.OwnPrefix)):
			f.out.Put(stack.Resource{Key: key, ID: lb.ID, State: stateOf(lb.Provisioning), Proof: stack.Name, Spec: f.spec(lb)})
			for _, ip := range f.view.floating {
				if ip.Port == lb.Spec.Port && strings.Contains(ip.Spec.Description, model.FloatingMark) {
					r := f.made(ip, false, stack.RefTo(key))
					r.Key.Name, r.Slot = key.Name, ""
					f.out.Put(r)
				}
			}
		case tagged:
			f.out.Put(stack.Resource{Key: key, ID: lb.ID, State: stateOf(lb.Provisioning), Ownership: stack.External, Spec: f.spec(lb)})
			f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindShare, Name: key.Name}, ID: lb.ID, Proof: stack.Tag, Spec: model.Share{Balancer: lb.ID, Tag: f.name}})
			f.formerParts(lb, key)
		}
	}
}

// formerParts are the listeners of the Service on a load balancer that it has left, and
// their pools.
func (f *finder) formerParts(lb *balancer, in stack.Key) {
	for _, l := range f.view.listeners {
		if !l.isOf(lb.ID) || !slices.Contains(l.Tags, f.name) {
			continue
		}
		name := in.Name + "/" + l.ID
		listener := model.Listener{Name: l.Spec.Name, Protocol: l.Spec.Protocol, Port: l.Spec.Port}
		if l.Spec.Pool.ID != "" {
			pool := stack.Key{Kind: model.KindPool, Name: name}
			listener.Pool = stack.RefTo(pool)
			f.out.Put(stack.Resource{Key: pool, ID: l.Spec.Pool.ID, In: in, Proof: stack.Derived, Spec: model.Pool{}})
		}
		f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindListener, Name: name}, ID: l.ID, In: in, Proof: stack.Tag, Spec: listener})
	}
}
