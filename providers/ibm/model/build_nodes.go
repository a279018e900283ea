package model

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// nodes returns the targets of the nodes that are members.
func (b *builder) nodes() []string {
	chosen := chooseNodes(b.in, b.in.Kind, b.membersFound())
	if len(chosen) == 0 && b.in.Backends.Nodes.Len() > 0 {
		switch {
		case selectsNodes(b.in):
			b.problems = append(b.problems, nodeSelectorKey.Refusal(b.in.Values, "selects none of the nodes", "a label of nodes of the cluster"))
		case zoneKey.Get(b.in.Values) != "":
			b.problems = append(b.problems, zoneKey.Refusal(b.in.Values, "has no node of the cluster", "a zone with nodes"))
		}
	}
	if len(chosen) > mostMembers {
		b.problems.Refuse("spec", "", fmt.Sprintf("has %d nodes, more than the %d members that a pool can have", len(chosen), mostMembers), "fewer nodes by "+quotaKey.Name+", "+zoneKey.Name+" or "+nodeSelectorKey.Name)
	}
	return chosen
}

// quotaOf returns how many nodes per zone may be members; 0: all. With local endpoints the
// health check alone decides.
func quotaOf(in Input) int {
	if nodeports.LocalOnly(in.Service) {
		return 0
	}
	return quotaKey.Get(in.Values)
}

// selectsNodes reports whether the Service selects nodes itself, so that edge nodes have no
// precedence.
func selectsNodes(in Input) bool {
	key, _ := selectorOf(in)
	return key != ""
}

// membersFound returns the targets of the existing members.
func (b *builder) membersFound() []string {
	var out []string
	for _, spec := range stack.Each[Pool](b.have, KindPool) {
		for _, m := range spec.Members {
			out = append(out, m.target())
		}
	}
	return out
}

// chooseNodes returns the targets of nodes for a kind of load balancer: of those for edge
// traffic if there are any, unless the Service selects nodes itself, and at most its quota per
// zone, existing members first.
func chooseNodes(in Input, kind string, existing []string) []string {
	type candidate struct{ target, zone string }
	var plain, edges []candidate
	limit := quotaOf(in)
	for n := range in.Backends.Nodes.All() {
		target, ok := targetOf(kind, n)
		if !ok || !isChosen(in, n) {
			continue
		}
		plain = append(plain, candidate{target, zoneOf(n)})
		if n.Labels[labelDedicated] == edge {
			edges = append(edges, candidate{target, zoneOf(n)})
		}
	}
	if len(edges) > 0 && !selectsNodes(in) {
		plain = edges
	}
	isNew := func(c candidate) int { return rankOf(!slices.Contains(existing, c.target)) }
	slices.SortFunc(plain, func(x, y candidate) int { return cmp.Or(isNew(x)-isNew(y), strings.Compare(x.target, y.target)) })
	var out []string
	per := map[string]int{}
	for _, c := range plain {
		if per[c.zone]++; limit == 0 || per[c.zone] <= limit {
			out = append(out, c.target)
		}
	}
	slices.Sort(out)
	return out
}

// keepNodes returns the existing members that still are nodes.
func keepNodes(in Input, kind string, existing []string) []string {
	var out []string
	for n := range in.Backends.Nodes.All() {
		if target, ok := targetOf(kind, n); ok && slices.Contains(existing, target) {
			out = append(out, target)
		}
	}
	slices.Sort(out)
	return out
}

// targetOf returns by what a node is a member: by its address, or by its instance for a
// network load balancer.
func targetOf(kind string, n nodeports.Node) (string, bool) {
	if kind != ALB {
		instance := cmp.Or(n.Labels[labelInstance], n.Labels[labelInstanceIPI])
		return instance, instance != ""
	}
	if a, err := netip.ParseAddr(n.Labels[labelInternalIP]); err == nil {
		return a.String(), true
	}
	a, ok := n.Address(corev1.IPv4Protocol)
	return a.String(), ok
}

func membersOf(kind string, targets []string, port int32) []Member {
	var out []Member
	for _, t := range targets {
		m := Member{Address: t, Port: port}
		if kind != ALB {
			m = Member{Instance: t, Port: port}
		}
		out = append(out, m)
	}
	return out
}
