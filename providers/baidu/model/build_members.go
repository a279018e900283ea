package model

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// standardWeight is that of new backends.
// Source: baidu/cloud-provider-baiducloud:pkg/cloud-provider/load_balancer_blb_backend_server.go.
const standardWeight = 100

func isOfOther(group stack.Key) bool { return strings.HasPrefix(group.Name, foundPrefix) }

// nodes returns the nodes as backends. Weights of found ones stay.
func (b *builder) nodes(found []Member) []Member {
	return nodeMembers(markBound(listCandidates(b.in), found), mostKey.Get(b.in.Values), found)
}

// reportMany reports that not all nodes are backends.
func (b *builder) reportMany() {
	all, most := listCandidates(b.in), mostKey.Get(b.in.Values)
	if len(all) > most && !podsKey.Get(b.in.Values) {
		b.problems.Warn(mostKey.Name, fmt.Sprint(most), fmt.Sprintf("is less than the %d nodes: the serving ones stay, and others are chosen over the zones", len(all)), fmt.Sprintf("1 to %d, or %s", mostServers, labelKey.Name))
	}
}

// candidate is a node that may be a backend.
type candidate struct {
	instance, zone string
	bound          bool
}

// listCandidates returns the nodes that may be backends, except nodes without a pod where the Service
// wants its clients to reach the pods of a node alone.
func listCandidates(in Input) []candidate {
	local, pods := nodeports.LocalOnly(in.Service), map[string]bool{}
	if local {
		for _, p := range in.Backends.Ports {
			for _, e := range in.Backends.Endpoints.For(corev1.IPv4Protocol, p.Name) {
				pods[e.Node] = true
			}
		}
	}
	var out []candidate
	for n := range in.Backends.Nodes.All() {
		if id := InstanceOf(n.ProviderID); id != "" && (!local || pods[n.Name]) {
			out = append(out, candidate{instance: id, zone: n.Zone})
		}
	}
	return out
}

// markBound notes which candidates are bound already.
func markBound(all []candidate, found []Member) []candidate {
	for i, c := range all {
		all[i].bound = slices.ContainsFunc(found, func(m Member) bool { return m.Instance == c.instance })
	}
	return all
}

// nodeMembers returns at most so many candidates as members: bound ones first, then one of each zone in
// turn. The choice follows from the ids, so that every process chooses alike.
func nodeMembers(all []candidate, most int, found []Member) []Member {
	boundFirst := func(a, b candidate) int {
		switch {
		case a.bound == b.bound:
			return 0
		case a.bound:
			return -1
		}
		return 1
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(boundFirst(a, b), strings.Compare(orderOf(a.instance), orderOf(b.instance)))
	})
	turn, next := map[string]int{}, map[string]int{}
	for _, c := range all {
		turn[c.instance] = next[c.zone]
		next[c.zone]++
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(boundFirst(a, b), cmp.Compare(turn[a.instance], turn[b.instance]))
	})
	var out []Member
	for _, c := range all[:min(most, len(all))] {
		out = append(out, Member{Instance: c.instance, Weight: standardWeight})
	}
	return sortMembers(out, found)
}

// orderOf orders instances at random, the same in every process.
func orderOf(instance string) string {
	sum := sha256.Sum256([]byte(instance))
	return string(sum[:])
}

// podMembers returns the pods as backends of a port. Weights of found ones stay.
func podMembers(in Input, p nodeports.ServicePort, found []Member) []Member {
	var out []Member
	for _, e := range in.Backends.Endpoints.For(corev1.IPv4Protocol, p.Name) {
		out = append(out, Member{Address: e.Addr.String(), Port: e.Port, Weight: standardWeight})
	}
	return sortMembers(out, found)
}

// sortMembers gives members the weights of the found ones, and their order.
func sortMembers(members, found []Member) []Member {
	for i, m := range members {
		if at := slices.IndexFunc(found, func(f Member) bool { return sameTarget(m, f) }); at >= 0 {
			members[i].Weight = found[at].Weight
		}
	}
	slices.SortFunc(members, CompareMembers)
	return slices.CompactFunc(members, sameTarget)
}

// sameTarget reports whether two members are one, whatever their weights.
func sameTarget(a, b Member) bool {
	return a.Instance == b.Instance && a.Address == b.Address && a.Port == b.Port
}

// CompareMembers orders members by instance, address and port.
func CompareMembers(a, b Member) int {
	return cmp.Or(strings.Compare(a.Instance, b.Instance), strings.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port))
}

// SplitMembers compares found members with the desired ones, and returns those to add and to remove.
func SplitMembers(want, have []Member) (add, remove []Member) {
	without := func(all, others []Member) (out []Member) {
		for _, m := range all {
			if !slices.ContainsFunc(others, func(o Member) bool { return sameTarget(m, o) }) {
				out = append(out, m)
			}
		}
		return out
	}
	return without(want, have), without(have, want)
}
