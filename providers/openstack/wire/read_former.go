package wire

import (
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"

	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// former finds the Service's remains on load balancers other than its present one: its own
// one, if it has moved to a shared one, and its parts of shared ones. None of them is
// desired, so they are deleted.
func (f *finder) former(now *loadbalancers.LoadBalancer, names []string) {
	for i := range f.view.balancers {
		lb := &f.view.balancers[i]
		if now == nil || lb.ID == now.ID || !f.behind(lb) {
			continue
		}
		key := stack.Key{Kind: model.KindBalancer, Name: "former/" + lb.ID}
		alone, tagged := len(model.OtherTags(lb.Tags, f.name)) == 0, slices.Contains(lb.Tags, f.name)
		switch {
		case slices.Contains(names, lb.Name) && lb.Name == now.Name: // see candidates
		case alone && (slices.Contains(names, lb.Name) || tagged && strings.HasPrefix(lb.Name, model.OwnPrefix)):
			f.out.Put(stack.Resource{Key: key, ID: lb.ID, State: stateOf(lb.ProvisioningStatus), Proof: stack.Name, Spec: f.spec(lb)})
			for _, ip := range f.view.floating {
				if ip.PortID == lb.VipPortID && strings.Contains(ip.Description, model.FloatingMark) {
					r := f.made(ip, false, stack.RefTo(key))
					r.Key.Name, r.Slot = key.Name, ""
					f.out.Put(r)
				}
			}
		case tagged:
			f.out.Put(stack.Resource{Key: key, ID: lb.ID, State: stateOf(lb.ProvisioningStatus), Ownership: stack.External, Spec: f.spec(lb)})
			f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindShare, Name: key.Name}, ID: lb.ID, Proof: stack.Tag, Spec: model.Share{Balancer: lb.ID, Tag: f.name}})
			f.formerParts(lb, key)
		}
	}
}

// formerParts are the listeners of the Service on a load balancer that it has left, and
// their pools.
func (f *finder) formerParts(lb *loadbalancers.LoadBalancer, in stack.Key) {
	for _, l := range f.view.listeners {
		if len(l.Loadbalancers) == 0 || l.Loadbalancers[0].ID != lb.ID || !slices.Contains(l.Tags, f.name) {
			continue
		}
		name := in.Name + "/" + l.ID
		listener := model.Listener{Name: l.Name, Protocol: l.Protocol, Port: int32(l.ProtocolPort)}
		if l.DefaultPoolID != "" {
			pool := stack.Key{Kind: model.KindPool, Name: name}
			listener.Pool = stack.RefTo(pool)
			f.out.Put(stack.Resource{Key: pool, ID: l.DefaultPoolID, In: in, Proof: stack.Derived, Spec: model.Pool{}})
		}
		f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindListener, Name: name}, ID: l.ID, In: in, Proof: stack.Tag, Spec: listener})
	}
}
