package model

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// controllerLookups say where a Service may have something that carries the tags of the
// AWS Load Balancer Controller. Where that one serves Services nothing of the sort is
// ours but a load balancer that has become one of kind NLB here.
func controllerLookups(id identity) []providers.Lookup {
	if !id.Config.Controller.Serve {
		return []providers.Lookup{{Kind: KindNetwork, By: ByMoved, Value: ServiceName(id.Owner)}}
	}
	out := []providers.Lookup{
		{Kind: KindNetwork, By: ByStack, Value: ServiceName(id.Owner)},
		{Kind: KindTargetGroup, By: ByStack, Value: ServiceName(id.Owner)},
		{Kind: KindTargetGroup, By: ByNamespace, Value: NamespacePrefix(id.Owner)},
	}
	if place := placeOf(id.Owner.Namespace, id.Places[groupKey.Name], id.Places[adoptKey.Name]); place != "" {
		out = append(out, providers.Lookup{Kind: KindSharedNetwork, By: ByGroup, Value: place})
	}
	if id.Config.Controller.BackendGroup == "" {
		out = append(out, providers.Lookup{Kind: KindSharedGroup, By: ByName, Value: SharedGroupName(id.Cluster)})
	}
	return out
}

// controllerScope is the scope of a Service of kind LBC. The names that its load balancer
// may get are looked up as well, because a creation of a name that is taken answers with
// what has it.
func controllerScope(in input, s providers.Scope) providers.Scope {
	own := func(name string) {
		s.Own = append(s.Own, providers.Lookup{Kind: KindNetwork, By: ByName, Value: name})
	}
	for _, scheme := range lbSchemes() {
		own(lbcName(in.Cluster, in.Owner, scheme))
	}
	if name, _, said := nameKey.Lookup(in.Values); said {
		own(name)
	}
	wanted := func(kind stack.Kind) {
		s.Facts = append(s.Facts, providers.Lookup{Kind: kind, By: ByWanted})
	}
	wanted(KindTargetAttr)
	wanted(KindTargetGroup)
	if sharesTargets(in) {
		wanted(KindTargets)
	}
	for _, p := range listParts() {
		if p.asked(in) {
			wanted(p.kind)
		}
	}
	if adopted := adoptKey.Get(in.Values); adopted != "" {
		s.Facts = append(s.Facts, providers.Lookup{Kind: KindSharedNetwork, By: ByName, Value: adoptedName(adopted)})
	}
	s.Facts = append(append(s.Facts, podLookups(in)...), serverLookups(in)...)
	for _, name := range groupsKey.Get(in.Values) {
		by := ByTagName
		if strings.HasPrefix(name, "sg-") {
			by = ByWanted
		}
		s.Facts = append(s.Facts, providers.Lookup{Kind: KindGroup, By: by, Value: name})
	}
	return s
}

// controllerNodes are the nodes of a Service of kind LBC: for instances the running ones
// that are not excluded; with pods as targets all, because any may run a pod.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/backend/endpoint_utils.go.
func controllerNodes(in input) nodeports.Filter {
	if targetTypeOf(in.Config, in.Service) == targetIP {
		return nodeports.Filter{Everyone: true, Keep: labelsOf(machineNodes(in))}
	}
	return machineNodes(in)
}

// labelsOf lists the labels by which a filter excludes nodes, that of load balancers included.
func labelsOf(f nodeports.Filter) []string {
	return append(f.LabelKeys(), corev1.LabelNodeExcludeBalancers)
}

// amongPods narrows the nodes of a Service whose targets are pods to those whose instances
// could be targets, as far as labels decide: readiness and taints are not kept of them.
func amongPods(in input) nodeports.NodeSet {
	f := machineNodes(in)
	byLabels := nodeports.Filter{Everyone: true, Selector: f.Selector, Without: append(f.Without, corev1.LabelNodeExcludeBalancers), Also: f.Also}
	return nodeports.Select(slices.Collect(in.Backends.Nodes.All()), byLabels)
}

// machineNodes are the nodes whose instances are targets.
func machineNodes(in input) nodeports.Filter {
	labels := nodeLabelsKey.Get(in.Values)
	f := nodeports.Filter{
		Without: []string{
			"node-role.kubernetes.io/master", "alpha.service-controller.kubernetes.io/exclude-balancer", "eks.amazonaws.com/compute-type=fargate",
		},
		WithoutTaints: []string{"karpenter.sh/disrupted"}, RequireReady: true, UnknownIfNoneReady: true, ExcludeOnPresence: true,
	}
	if len(labels) == 0 {
		return f
	}
	f.Selector = labels
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] == "" { // a Selector would take any value
			f.Also = append(f.Also, nodeports.Predicate{Name: "empty label " + key, Keep: func(n nodeports.Node) bool { return n.Labels[key] == "" }})
		}
	}
	return f
}
