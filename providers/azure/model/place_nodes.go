package model

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// Where there are several load balancers, every node is on one of them: the one whose
// primary set it is in, else one whose nodeSelector it fits, else one without nodeSelector.
// Among several it stays where it is, or is added to the one with the fewest nodes. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
//
// All Services must compute the same result, whichever load balancer they are on. It
// follows from the configuration, the nodes in the order of their names, and the observed
// state of all load balancers. The official controller counts load balancers only once they
// exist, and leaves one that is created later without nodes; here each has its share from
// the start.

// placement says which load balancer each node is on.
type placement struct {
	on map[string]string // name of the configuration, by node
	// nowhere are nodes that fit no load balancer, sorted.
	nowhere []string
}

// shareOut shares the nodes out, once for each build.
func (b *builder) shareOut() placement {
	if b.places != nil {
		return *b.places
	}
	p := placement{on: map[string]string{}}
	count := map[string]int{}
	put := func(n nodeports.Node, lb string) {
		p.on[n.Name] = lb
		count[lb]++
	}
	var open []nodeports.Node
	for n := range b.in.Backends.Nodes.All() {
		may := b.mayHold(n)
		seen := b.seenOn(n, may)
		switch {
		case len(may) == 0:
			p.nowhere = append(p.nowhere, n.Name)
		case len(may) == 1:
			put(n, may[0])
		case len(seen) == 1:
			put(n, seen[0])
		default:
			open = append(open, n)
		}
	}
	for _, n := range open {
		among := b.seenOn(n, b.mayHold(n))
		if len(among) == 0 {
			among = b.mayHold(n)
		}
		// The first of the configuration wins among equals.
		put(n, slices.MinFunc(among, func(x, y string) int { return count[x] - count[y] }))
	}
	b.places = &p
	return p
}

// mayHold lists the load balancers that a node may be on.
func (b *builder) mayHold(n nodeports.Node) []string {
	set := cmp.Or(SetOf(n.ProviderID), b.facts.Machines[lowerCase(n.ProviderID)].Set)
	var fit, open []string
	for _, m := range b.in.Config.Multi {
		selector, err := metav1.LabelSelectorAsSelector(m.Nodes)
		switch {
		case set != "" && strings.EqualFold(m.PrimaryVMSet, set):
			return []string{m.Name}
		case len(labelsOf(m.Nodes)) == 0:
			open = append(open, m.Name)
		case err == nil && selector.Matches(labels.Set(n.Labels)):
			fit = append(fit, m.Name)
		}
	}
	if len(fit) > 0 {
		return fit
	}
	return open
}

// seenOn lists those of the load balancers that a read showed the node on.
func (b *builder) seenOn(n nodeports.Node, among []string) []string {
	var out []string
	for _, name := range among {
		if slices.ContainsFunc(b.facts.Balancers, func(lb FoundBalancer) bool {
			return strings.EqualFold(strings.TrimSuffix(lowerCase(lb.Name), suffixInternal), name) && lb.hasNode(n)
		}) {
			out = append(out, name)
		}
	}
	return out
}

func (lb FoundBalancer) hasNode(n nodeports.Node) bool {
	for _, family := range []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
		if a, ok := n.Address(family); ok {
			if _, there := slices.BinarySearch(lb.Members, a.String()); there {
				return true
			}
		}
	}
	return false
}

// SetOf is the scale set that a provider id names, in lower case.
func SetOf(providerID string) string { return SegmentAfter(providerID, "virtualmachinescalesets") }

// tellPlaces warns of nodes on no load balancer, and of a load balancer without nodes.
func (b *builder) tellPlaces() {
	if len(b.in.Config.Multi) == 0 {
		return
	}
	p := b.shareOut()
	if len(p.nowhere) > 0 {
		b.report(annotations.ProblemOf("nodes", "", "fit no load balancer of the cloud configuration: "+shortList(p.nowhere)+", so they get no traffic", "", annotations.Warning))
	}
	for range b.nodes() {
		return
	}
	if b.in.Backends.Nodes.Len() > 0 {
		b.report(annotations.ProblemOf("nodes", "", "are all on other load balancers than "+b.lb+", so the Service has none", "", annotations.Warning))
	}
}

// runs reports whether a node is in the Service's own pool. Such a pool contains only nodes
// with endpoints. Endpoints count while they are ready, or while they terminate and are the
// last of their node, as kube-proxy answers health checks.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_local_services.go.
func (b *builder) runs(pool stack.Key, family corev1.IPFamily) func(nodeports.Node) bool {
	if len(b.in.Config.Multi) == 0 || pool != PoolKey(b.lb, LocalPoolName(b.in.Owner, family)) {
		return func(nodeports.Node) bool { return true }
	}
	names := b.in.Backends.Endpoints.Nodes()
	return func(n nodeports.Node) bool {
		_, has := slices.BinarySearch(names, n.Name)
		return has
	}
}
