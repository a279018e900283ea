package model

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
)

// Weights of targets. Source: CLB API 2018-03-17, Target.
const (
	standardWeight = 10
	mostWeight     = 100
)

// onlyWithPods reports whether only nodes with a pod are targets.
func onlyWithPods(in Input) bool { return nodeports.LocalOnly(in.Service) && bindKey.Get(in.Values) }

// nodeMembers returns the nodes as targets of a port, by their addresses if the load balancer is in another
// network or region.
// Source: https://cloud.tencent.com/document/product/457/45492.
func nodeMembers(in Input, p nodeports.ServicePort, crosses bool) []Member {
	local, pods := onlyWithPods(in), map[string]int{}
	if local {
		for _, e := range in.Backends.Endpoints.For(corev1.IPv4Protocol, p.Name) {
			pods[e.Node]++
		}
	}
	out := make([]Member, 0, in.Backends.Nodes.Len())
	for n := range in.Backends.Nodes.All() {
		m := Member{Instance: InstanceOf(n.ProviderID), Port: p.NodePort, Weight: standardWeight}
		if crosses {
			address, ok := n.Address(corev1.IPv4Protocol)
			if !ok {
				continue
			}
			m.Instance, m.Address = "", address.String()
		}
		if local && balanceKey.Get(in.Values) {
			m.Weight = min(pods[n.Name], mostWeight)
		}
		if !local || pods[n.Name] > 0 {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, CompareMembers)
	return slices.CompactFunc(out, sameTarget)
}

// podMembers returns the pods as targets of a listener; false: they are not known.
func podMembers(in Input, p nodeports.ServicePort, protocol string, family corev1.IPFamily) ([]Member, bool) {
	found, known := endpointsFor(in, p, family)
	var out []Member
	for _, e := range found {
		out = append(out, Member{Address: e.Addr.String(), Port: e.Port, Weight: weightOf(in, protocol, p.Port, e)})
	}
	slices.SortFunc(out, CompareMembers)
	return slices.CompactFunc(out, sameTarget), known
}

// members returns the targets of a listener. Weights that no key asks for stay as they are.
func (b *builder) members(p nodeports.ServicePort, protocol string, found []Member) []Member {
	if directKey.Get(b.in.Values) {
		out, known := podMembers(b.in, p, protocol, familyOf(b.version))
		if !known {
			return found // reported by checkSource
		}
		if weighsPods(b.in) {
			return out
		}
		return keepWeights(out, found)
	}
	out := nodeMembers(b.in, p, b.crosses)
	if onlyWithPods(b.in) && balanceKey.Get(b.in.Values) {
		return out
	}
	return keepWeights(out, found)
}

// keepWeights returns members with the weights that the found ones have.
func keepWeights(members, found []Member) []Member {
	for i, m := range members {
		if at := slices.IndexFunc(found, func(f Member) bool { return sameTarget(m, f) }); at >= 0 {
			members[i].Weight = found[at].Weight
		}
	}
	return members
}

// sameTarget reports whether two members are one, whatever their weights.
func sameTarget(a, b Member) bool {
	a.Weight, b.Weight = 0, 0
	return a == b
}

// CompareMembers orders members by instance, address, port and weight.
func CompareMembers(a, b Member) int {
	return cmp.Or(strings.Compare(a.Instance, b.Instance), strings.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Weight, b.Weight))
}

// SplitMembers compares found members with the desired ones, and returns those to add, to remove and
// to give another weight.
func SplitMembers(want, have []Member) (add, remove, weigh []Member) {
	find := func(in []Member, m Member) int {
		return slices.IndexFunc(in, func(o Member) bool { return sameTarget(o, m) })
	}
	for _, w := range want {
		at := find(have, w)
		switch {
		case at < 0:
			add = append(add, w)
		case have[at].Weight != w.Weight:
			weigh = append(weigh, w)
		}
	}
	for _, h := range have {
		if find(want, h) < 0 {
			remove = append(remove, h)
		}
	}
	return add, remove, weigh
}
