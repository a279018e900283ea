package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Pods may have network interfaces of their own, with other security groups than their node:
// on nodes with a trunk interface the pods that a SecurityGroupPolicy selects, and all pods
// outside of instances, such as on Fargate. The annotation vpc.amazonaws.com/pod-eni describes
// the former; EC2 returns the same by the address of the pod, so no pod has to be watched.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/networking/pod_eni_info_resolver.go;
// Amazon EKS user guide, security groups for pods.

// NoMachine stands for the instance of a node that is none.
const NoMachine = "-"

// podLookups ask for the groups of a Service's pods, node by node.
func podLookups(in input) []providers.Lookup {
	if in.Config.DisableNodeRules || targetTypeOf(in.Config, in.Service) != targetIP {
		return nil
	}
	on := map[string][]string{}
	for _, port := range endpointsOf(in) {
		for _, e := range port.List {
			on[e.Node] = append(on[e.Node], e.Addr.String())
		}
	}
	var out []providers.Lookup
	for _, name := range slices.Sorted(maps.Keys(on)) {
		node, ok := in.Backends.Nodes.Get(name)
		if !ok {
			continue
		}
		id, machine := InstanceID(node.ProviderID)
		if !machine {
			id = NoMachine
		}
		out = append(out, providers.Lookup{Kind: KindNodeGroup, By: ByAddress, Value: id + " " + strings.Join(sortedSet(on[name]), " ")})
	}
	return out
}

// podGroups adds the groups that let the load balancer in on pods with network interfaces of
// their own: of each the one with the cluster's tag, else the only one.
func (f *controlled) podGroups() {
	if f.facts.PodsUnseen {
		f.report(annotations.ProblemOf("pods", "", "may have network interfaces of their own, which cannot be looked up: those with other security groups than the nodes get no traffic",
			"the right ec2:DescribeNetworkInterfaces", annotations.Warning))
	}
	if len(f.facts.PodGroups) == 0 {
		return
	}
	byID := map[string]NodeGroup{}
	for _, g := range f.facts.NodeGroups {
		byID[g.ID] = g
	}
	var chosen []string
	doubts := map[string][]string{}
	for _, port := range endpointsOf(f.in) {
		for _, e := range port.List {
			group, among := nodeGroup(f.facts.PodGroups[e.Addr.String()], byID, f.facts.Cluster)
			if group == "" {
				continue
			}
			chosen = append(chosen, group)
			if len(among) > 1 {
				key := group + " out of " + strings.Join(among, ", ")
				doubts[key] = sortedSet(append(doubts[key], e.Addr.String()))
			}
		}
	}
	f.report(reportDoubts(doubts, f.facts.Cluster, "pod")...)
	f.builder.groups = sortedSet(slices.Concat(f.builder.groups, chosen))
}

// hasPods reports whether a target group of the Service has pods as targets: it follows them
// until its listener has left it, whatever the Service asks for.
func hasPods(have *stack.Stack) bool {
	return slices.ContainsFunc(have.Of(KindTargetGroup), func(r stack.Resource) bool {
		group, ok := r.Spec.(TargetGroup)
		return ok && r.Proof != stack.None && group.TargetType == targetIP
	})
}
