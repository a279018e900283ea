package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

type (
	input    = providers.Input[Config]
	identity = providers.Identity[Config]
)

// ownedScope says where anything that the Service may own can be found: both kinds of
// load balancers under their one name, both groups, and the target groups, which
// outlive their load balancer and are then found by prefix and tag alone. The
// groups of the nodes are read as well, because rules are left in them.
func ownedScope(id identity) providers.Scope {
	return providers.Scope{
		Owner: id.Owner,
		Own:   ownLookups(id),
		Facts: []providers.Lookup{{Kind: KindNodeGroup, By: ByNodes}},
	}
}

func ownLookups(id identity) []providers.Lookup {
	lb := LoadBalancerName(id.Owner.UID)
	return slices.Concat([]providers.Lookup{
		{Kind: KindClassic, By: ByName, Value: lb},
		{Kind: KindNetwork, By: ByName, Value: lb},
		{Kind: KindGroup, By: ByName, Value: OwnGroupName(lb)},
		{Kind: KindGroup, By: ByName, Value: ManagedGroupName(id.Cluster, id.Owner)},
		{Kind: KindTargetGroup, By: ByPrefix, Value: TargetGroupPrefix(id.Owner)},
		{Kind: KindTargetGroup, By: ByServiceName, Value: ServiceName(id.Owner)},
	}, controllerLookups(id))
}

// buildScope returns the facts that Build needs: the subnets of the VPC, the instances of the
// nodes and their groups. Owned resources are those of ownedScope, whatever kind is
// wanted, so that a load balancer of the other kind is found and deleted.
func buildScope(in input) (providers.Scope, error) {
	id := in.Identity
	if in.Kind == LBC {
		id.Places = map[string]string{groupKey.Name: groupKey.Get(in.Values), adoptKey.Name: adoptKey.Get(in.Values)}
	}
	s := ownedScope(id)
	s.Nodes = in.Backends.Nodes
	s.Facts = append(s.Facts, providers.Lookup{Kind: KindSubnets, By: ByVPC, Value: in.Config.VPC})
	if in.Kind == LBC {
		return controllerScope(in, s), nil
	}
	for _, id := range slices.Concat(groupsKey.Get(in.Values), extraGroupsKey.Get(in.Values)) {
		s.Facts = append(s.Facts, providers.Lookup{Kind: KindGroup, By: ByWanted, Value: id})
	}
	if in.Kind == NLB {
		s.Facts = append(s.Facts, providers.Lookup{Kind: KindNetwork, By: ByWanted})
		if _, _, ok := targetAttrKey.Lookup(in.Values); ok {
			s.Facts = append(s.Facts, providers.Lookup{Kind: KindTargetAttr, By: ByWanted})
		}
	}
	return s, nil
}

// scopeForCreate is scope for a Service for which nothing was ever made. Creating a load
// balancer or a target group answers with the one that has the name if there is
// one, so these are looked up; a security group of a taken name is refused.
// Source: API references of Elastic Load Balancing (CreateLoadBalancer,
// CreateTargetGroup) and EC2 (CreateSecurityGroup).
func scopeForCreate(in input) (providers.Scope, error) {
	s, err := buildScope(in)
	balancer := KindClassic
	if in.Kind != CLB {
		balancer = KindNetwork
	}
	s.Own = slices.DeleteFunc(s.Own, func(l providers.Lookup) bool {
		return l.By == ByMoved || l.Kind != balancer && (l.Kind != KindTargetGroup || in.Kind == CLB) && l.Kind != KindSharedGroup && l.Kind != KindSharedNetwork
	})
	return s, err
}

// selectNodes narrows the nodes to those with the labels of the annotation. All
// of them are targets whatever the traffic policy: the health check takes those
// without endpoints out. Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer.go.
func selectNodes(in input) nodeports.Filter {
	if in.Kind == LBC {
		return controllerNodes(in)
	}
	labels := nodeLabelsKey.Get(in.Values)
	if len(labels) == 0 {
		return nodeports.Filter{}
	}
	return nodeports.Filter{Selector: labels}
}

// InstanceID takes the instance out of a provider id: aws:///zone/i-...,
// aws:////i-... or i-... alone. Other ids, of Fargate pods or machines outside
// of AWS, are no instances. Source: kubernetes/cloud-provider-aws:pkg/providers/v1/instances_v2.go.
func InstanceID(providerID string) (string, bool) {
	rest, isURL := strings.CutPrefix(providerID, "aws://")
	id := providerID
	if isURL {
		parts := strings.Split(strings.Trim(rest, "/"), "/")
		if len(parts) > 2 {
			return "", false
		}
		id = parts[len(parts)-1]
	}
	tail, ok := strings.CutPrefix(id, "i-")
	if !ok || tail == "" || strings.ContainsFunc(tail, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}) {
		return "", false
	}
	return id, true
}

// nodeInstances lists the ids of the nodes that are known to AWS, sorted, and the names of
// nodes whose instance is not found. Services with the same nodes get the same lists,
// which must not be written to.
func nodeInstances(in input, facts *Facts) (ids, unknown []string) {
	if m := facts.members; m != nil && m.digest == in.Backends.Nodes.Digest() {
		return m.ids, m.unknown
	}
	m := membersOf(in.Backends.Nodes, facts.Instances)
	return m.ids, m.unknown
}

// members are the nodes of a scope as AWS knows them.
type members struct {
	digest       string // of the nodes
	ids, unknown []string
	groups       []string             // of the ids
	doubts       annotations.Problems // about the choice of groups
}

// Prepare keeps what follows from the nodes of a scope, once for all Services that have
// the same.
func (f *Facts) Prepare(nodes nodeports.NodeSet) {
	f.members = membersOf(nodes, f.Instances)
	f.members.groups, f.members.doubts = nodeGroups(f.members.ids, f)
}

func membersOf(nodes nodeports.NodeSet, known map[string]Instance) *members {
	m := &members{digest: nodes.Digest()}
	for n := range nodes.All() {
		id, ok := InstanceID(n.ProviderID)
		if !ok {
			continue
		}
		if _, exists := known[id]; !exists {
			m.unknown = append(m.unknown, n.Name)
			continue
		}
		m.ids = append(m.ids, id)
	}
	slices.Sort(m.ids)
	m.ids = slices.Clip(slices.Compact(m.ids))
	m.unknown = slices.Clip(m.unknown)
	return m
}
