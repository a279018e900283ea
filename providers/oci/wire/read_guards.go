package wire

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
)

// entries finds rules of security lists. Rules without a description on the ports of the
// Service's load balancer belong to Services, but not to a specific one.
func (f *finder) entries() {
	listening, behind := f.ports()
	inFront := func(e described) bool {
		return e.Direction == model.Ingress && listening[e.Port] || e.Direction == model.Egress && behind[e.Port]
	}
	beforeNodes := func(e described) bool { return e.Direction == model.Ingress && behind[e.Port] && f.sends(e.Peer) }
	for _, at := range []struct {
		subnets []model.Subnet
		ours    func(described) bool
	}{{f.front, inFront}, {f.behind, beforeNodes}} {
		for _, sub := range at.subnets {
			for _, e := range f.view.lists[sub.List].entries() {
				r := stack.Resource{Key: e.Key(), ID: fmt.Sprint(e.Key()), Ownership: stack.Shared, Spec: e.Entry}
				if at.ours(e) && e.Description == "" {
					r.Proof = stack.Leftover
				}
				if known, ok := f.out.Get(r.Key); !ok || known.Proof == stack.None {
					f.out.Put(r)
				}
			}
		}
	}
}

// sends reports whether traffic of a range may originate from the load balancer: from its
// subnets or, where it preserves client addresses, from any address.
func (f *finder) sends(peer string) bool {
	for _, r := range f.out.Of(model.KindNetSet) {
		if spec, is := r.Spec.(model.BackendSet); is && spec.Preserve {
			return true
		}
	}
	return slices.ContainsFunc(f.front, func(s model.Subnet) bool {
		return s.CIDR.String() == peer || slices.ContainsFunc(s.CIDR6, func(p netip.Prefix) bool { return p.String() == peer })
	})
}

// ports returns the ports that the found load balancers listen on, and the ports of their
// backends. Rules for the port of kube-proxy belong to Services also after the health check
// has moved to another one.
func (f *finder) ports() (listening, behind map[int32]bool) {
	listening, behind = map[int32]bool{}, map[int32]bool{}
	for _, p := range f.guarded() {
		for _, r := range f.out.Of(p.Listener) {
			if spec, is := r.Spec.(model.Listener); is {
				listening[spec.Port] = true
			}
		}
		for _, spec := range stack.Each[model.BackendSet](f.out, p.Set) {
			behind[spec.Health.Port], behind[nodeports.KubeProxyPort] = true, true
			for _, b := range spec.Backends {
				behind[b.Port] = true
			}
		}
	}
	return listening, behind
}

// guards completes the load balancers with where rules of the Service are managed.
func (f *finder) guards() {
	// In mode Frontend the rules of the nodes are the operator's.
	frontOnly := f.wantsEntries() && !slices.ContainsFunc(f.scope.Facts, func(l providers.Lookup) bool { return l.Kind == model.FactMachines })
	for _, p := range model.Products() {
		r, ok := f.out.Get(stack.Key{Kind: p.Balancer})
		spec, is := r.Spec.(model.Balancer)
		if !ok || !is {
			continue
		}
		switch {
		case !spec.Own.IsZero():
			spec.Guards = model.GroupGuards(f.nodeGroups())
		case slices.Contains(f.guarded(), p):
			front := slices.DeleteFunc(slices.Clone(f.front), func(s model.Subnet) bool { return !slices.Contains(spec.Subnets, s.ID) })
			nodes := f.behind
			if frontOnly {
				nodes = nil
			}
			spec.Guards = model.ListGuards(front, nodes)
		}
		r.Spec = spec
		f.out.Put(r)
	}
}

// nodeGroups returns the groups of nodes that have, or get, rules of the Service.
func (f *finder) nodeGroups() []string {
	return slices.DeleteFunc(slices.Clone(f.groups), func(id string) bool { return id == f.own })
}

// wantsEntries reports whether rules in security lists are desired.
func (f *finder) wantsEntries() bool {
	return slices.ContainsFunc(f.scope.Own, func(l providers.Lookup) bool { return l.Kind == model.KindEntry && l.By == model.ByWanted })
}
