package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// How many endpoints the groups of a Service have together.
// Source: kubernetes/ingress-gce:pkg/neg/syncers/subsets.go, endpoints_calculator.go.
const (
	subsetSize       = 25
	subsetSizeEven   = 24 // where the zones divide it
	maxNetLBCluster  = 250
	endpointsPerZone = 3
)

// place is a zone and a subnet: one endpoint group.
type place struct{ zone, subnet string }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.zone, q.zone), cmp.Compare(p.subnet, q.subnet))
}

// spreadEndpoints picks limit endpoints out of the candidates of every place: places with few
// candidates leave room for the others, existing endpoints are picked first, and others
// in the order of a hash of their names, so that the Services of a cluster spread over
// its nodes. The salt is "<name>/<namespace>".
//
// A place may keep one endpoint more than its share while the whole is not over the
// limit: otherwise one endpoint would move between places of nearly the same size
// whenever a node is added or removed, and cut its connections each time.
func spreadEndpoints(candidates map[place][]member, existing map[string]bool, limit int, salt string) map[place][]member {
	places := slices.SortedFunc(maps.Keys(candidates), func(p, q place) int {
		return cmp.Or(cmp.Compare(len(candidates[p]), len(candidates[q])), p.compare(q))
	})
	share := map[place]int{}
	left := limit
	for i, p := range places {
		share[p] = min(len(candidates[p]), left/(len(places)-i))
		left -= share[p]
	}
	out := map[place][]member{}
	total := 0
	for _, p := range places {
		out[p] = rankCandidates(candidates[p], existing, salt)
		kept := 0
		for _, m := range out[p] {
			if existing[m.Instance] {
				kept++
			}
		}
		out[p] = out[p][:min(kept, share[p]+1)]
		total += len(out[p])
	}
	whole := 0
	for _, p := range places {
		whole += share[p]
	}
	for _, p := range places {
		if len(out[p]) > share[p] && total > whole {
			out[p] = out[p][:share[p]]
			total--
		}
	}
	for _, p := range places {
		all := rankCandidates(candidates[p], existing, salt)
		for len(out[p]) < share[p] && total < whole {
			out[p] = append(out[p], all[len(out[p])])
			total++
		}
	}
	return out
}

// rankCandidates orders candidates: existing endpoints first, then by hash.
func rankCandidates(in []member, existing map[string]bool, salt string) []member {
	rank := func(m member) string {
		sum := sha256.Sum256([]byte(m.node + ":" + salt))
		return hex.EncodeToString(sum[:])
	}
	ranks := map[string]string{}
	for _, m := range in {
		ranks[m.node] = rank(m)
	}
	kept := func(m member) int {
		if existing[m.Instance] {
			return 0
		}
		return 1
	}
	out := slices.Clone(in)
	slices.SortFunc(out, func(x, y member) int {
		return cmp.Or(kept(x)-kept(y), cmp.Compare(ranks[x.node], ranks[y.node]), cmp.Compare(x.node, y.node))
	})
	return out
}

// negs wants the endpoint groups and returns references to them. Groups of zones
// that have no nodes any more stay, without endpoints: the official controller
// never takes them off a backend service, and they cost nothing.
func (b *builder) negs() []stack.Ref {
	existing := b.endpoints()
	chosen := b.subset(existing)
	if b.emptied(len(chosen)) && len(existing) > 0 {
		b.tellKept("network endpoint groups")
		return b.keepNEGs(nil)
	}
	wanted := map[stack.Key]bool{}
	var refs []stack.Ref
	for _, p := range slices.SortedFunc(maps.Keys(chosen), place.compare) {
		key, spec := b.negAt(p)
		for _, m := range chosen[p] {
			spec.Endpoints = append(spec.Endpoints, Endpoint{Instance: m.Instance, IP: m.ip})
		}
		slices.SortFunc(spec.Endpoints, Endpoint.Compare)
		b.put(key, spec)
		wanted[key] = true
		refs = append(refs, stack.RefTo(key))
	}
	return append(refs, b.keepNEGs(wanted)...)
}

// Name tells endpoints apart.
func (e Endpoint) Name() string { return e.Instance + " " + e.IP }

// Compare orders endpoints by instance, then by address.
func (e Endpoint) Compare(f Endpoint) int {
	return cmp.Or(cmp.Compare(e.Instance, f.Instance), cmp.Compare(e.IP, f.IP))
}

// keepNEGs wants found groups that are not among the wanted ones as they are; nil
// keeps the endpoints too.
func (b *builder) keepNEGs(wanted map[stack.Key]bool) []stack.Ref {
	var refs []stack.Ref
	for _, r := range b.have.Of(KindNEG) {
		if wanted[r.Key] || r.Proof == stack.None {
			continue
		}
		spec, _ := r.Spec.(NEG)
		if wanted != nil {
			spec.Endpoints = nil
		}
		b.put(r.Key, spec)
		refs = append(refs, stack.RefTo(r.Key))
	}
	return refs
}

func (b *builder) negAt(p place) (stack.Key, NEG) {
	hash, name, subnet := "", b.names.neg(""), b.facts.Subnet
	if p.subnet != "" {
		name, subnet = b.names.neg(LastOf(p.subnet)), p.subnet
		hash = subnetKey(LastOf(p.subnet))
	}
	return NegKey(p.zone, hash), NEG{
		Name: name, Zone: p.zone, Description: negDescriptionOf(b.in.Config, b.in.Owner).String(),
		Network: b.facts.Network, Subnet: subnet,
	}
}

// endpoints are the instances that are endpoints now.
func (b *builder) endpoints() map[string]bool {
	out := map[string]bool{}
	for r, spec := range stack.Each[NEG](b.have, KindNEG) {
		if r.Proof != stack.None {
			for _, e := range spec.Endpoints {
				out[e.Instance] = true
			}
		}
	}
	return out
}

// subset picks the nodes of every place. With policy Local these are the nodes that have
// endpoints of the Service; while it has none at all, the existing ones stay, since the
// health check sends them nothing anyway.
func (b *builder) subset(existing map[string]bool) map[place][]member {
	all := b.candidates()
	zones := len(all)
	if zones == 0 {
		return nil
	}
	salt := b.in.Owner.Name + "/" + b.in.Owner.Namespace
	if b.local {
		limit := maxLocalEndpoints
		if b.in.Kind == NetLB {
			limit = maxNetLBLocal
		}
		return spreadEndpoints(b.withPods(all, existing), existing, limit, salt)
	}
	return spreadEndpoints(all, existing, b.subsetLimit(zones, len(existing)), salt)
}

func (b *builder) subsetLimit(zones, existing int) int {
	switch {
	case b.in.Kind == NetLB:
		return max(existing, min(maxNetLBCluster, max(len(b.podNodes()), endpointsPerZone*zones)))
	case b.in.Config.NodesPerSubset > 0:
		return b.in.Config.NodesPerSubset
	case subsetSizeEven%zones == 0:
		return subsetSizeEven
	}
	return subsetSize
}

// candidates are the nodes by zone and subnet.
func (b *builder) candidates() map[place][]member {
	out := map[place][]member{}
	var without, other []string
	for _, m := range b.nodes {
		switch {
		case m.ip == "":
			without = append(without, m.node)
		case m.subnet != "" && !b.in.Config.MultiSubnet:
			other = append(other, m.node)
		default:
			p := place{m.Zone, m.subnet}
			out[p] = append(out[p], m)
		}
	}
	b.leftOut(without, "have no IPv4 address")
	b.leftOut(other, "are in other subnets than "+LastOf(b.facts.Subnet)+"; set enable-multi-subnet-cluster in the cloud configuration")
	return out
}

// withPods keeps the nodes that have endpoints of the Service, ready or not: the
// health check finds out which of them serve, sooner than endpoints come and go.
// Source: kubernetes/ingress-gce:pkg/neg/syncers/endpoints_calculator.go (LocalL4EndpointsCalculator).
func (b *builder) withPods(all map[place][]member, existing map[string]bool) map[place][]member {
	hosts := map[string]bool{}
	for _, n := range slices.Concat(b.in.Backends.Endpoints.Hosts, b.podNodes()) {
		hosts[n] = true
	}
	out := map[place][]member{}
	for p, list := range all {
		for _, m := range list {
			if hosts[m.node] || len(hosts) == 0 && existing[m.Instance] {
				out[p] = append(out[p], m)
			}
		}
		if out[p] == nil {
			out[p] = []member{} // the group exists all the same
		}
	}
	return out
}

// podNodes is the node of every endpoint, a node as often as it has endpoints. A
// pod with two addresses counts once: of the families the one that tells more
// is taken.
func (b *builder) podNodes() []string {
	byFamily := map[corev1.IPFamily][]string{}
	seen := map[string]bool{}
	var most []string
	for _, p := range b.in.Backends.Endpoints.ByPort {
		for _, e := range p.List {
			if id := e.Addr.String(); e.Node != "" && !seen[id] {
				seen[id] = true
				byFamily[p.Family] = append(byFamily[p.Family], e.Node)
			}
		}
		if list := byFamily[p.Family]; len(list) > len(most) {
			most = list
		}
	}
	return most
}
