package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

type (
	input    = providers.Input[Config]
	identity = providers.Identity[Config]
)

// By what a look-up asks.
const (
	byBase        = "base"
	byService     = "service"
	byAll         = "all"
	ByWanted      = "wanted"
	ByGroup       = "group"
	ByToldGroup   = "group-of-user" // by the Service's annotations during deletion
	ByName        = "name"
	ByDestination = "destination"
	ByRegion      = "region"
	ByAddress     = "address"
	ByPlace       = "place"

	KindZones  stack.Kind = "zones"
	KindSubnet stack.Kind = "subnet"
)

// OwnedScope returns where resources of the Service can be found, from its identity alone:
// in every load balancer of the cluster, in the security group, and by tags among the
// public IPs and private link services of the cluster's groups, and of the groups named by
// the user.
func OwnedScope(id identity) providers.Scope {
	if id.Config.PodIP() {
		return tracePods(id)
	}
	base, key := BaseName(id.Owner.UID), ServiceKey(id.Owner)
	s := providers.Scope{
		Owner: id.Owner,
		Own: []providers.Lookup{
			{Kind: KindEntries, By: byBase, Value: base},
			{Kind: KindPublicIP, By: byService, Value: key},
			{Kind: KindLink, By: byService, Value: key},
			{Kind: KindAccess, By: byBase, Value: base},
		},
		Facts: []providers.Lookup{
			{Kind: KindBalancer, By: byAll},
			{Kind: KindPublicIP, By: ByGroup, Value: id.Config.Group},
			{Kind: KindLink, By: ByGroup, Value: id.Config.linkGroup()},
			{Kind: KindSecurity, By: ByName, Value: id.Config.Security},
		},
	}
	told := func(kind stack.Kind, key string) {
		group := lowerCase(strings.TrimSpace(id.Places[key]))
		if group != "" && !strings.ContainsAny(group, "/?#%") { // no group has those in its name
			s.Facts = append(s.Facts, providers.Lookup{Kind: kind, By: ByToldGroup, Value: group})
		}
	}
	told(KindPublicIP, groupKey.Name)
	told(KindLink, linkGroupKey.Name)
	return s
}

// buildScope adds the facts that Build needs: zones, subnets, public IPs of a group that the
// user names, and the machines of the nodes.
func buildScope(in input) (providers.Scope, error) {
	s := OwnedScope(in.Identity)
	if in.Config.PodIP() {
		return wantingPods(s, in), nil
	}
	s.Nodes = in.Backends.Nodes
	fact := func(kind stack.Kind, by, value string) {
		if l := (providers.Lookup{Kind: kind, By: by, Value: value}); value != "" && !slices.Contains(s.Facts, l) {
			s.Facts = append(s.Facts, l)
		}
	}
	fact(KindZones, ByRegion, in.Config.Location)
	fact(KindPublicIP, ByGroup, lowerCase(groupKey.Get(in.Values)))
	fact(KindLink, ByGroup, lowerCase(linkGroupKey.Get(in.Values)))
	if in.Kind == Internal {
		fact(KindSubnet, ByName, lowerCase(subnetName(in)))
	}
	if linkCreateKey.Get(in.Values) {
		fact(KindSubnet, ByName, lowerCase(linkSubnet(in)))
		fact(KindLink, ByWanted, "any")
	}
	if len(in.Config.Multi) == 0 {
		fact(KindBalancer, ByWanted, lowerCase(singleBalancer(in)))
	} else {
		for _, name := range in.Config.Balancers(clusterName(in.Identity)) {
			if KindOf(name) == in.Kind {
				fact(KindBalancer, ByWanted, lowerCase(name))
			}
		}
		fact(KindBalancer, ByPlace, placeQuery(in))
	}
	for _, address := range askedAddresses(in) {
		fact(KindAccess, ByDestination, address)
		fact(KindPublicIP, ByAddress, address)
	}
	for _, name := range []string{pipNameKey.Get(in.Values), pipNameV6Key.Get(in.Values)} {
		fact(KindPublicIP, ByName, lowerCase(name))
	}
	return s, nil
}

// askedAddresses are destinations that the Service may share with others.
func askedAddresses(in input) []string {
	var out []string
	for _, a := range additionalKey.Get(in.Values) {
		out = append(out, a.String())
	}
	for _, family := range []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
		if a, ok := wantedIP(in, family); ok {
			out = append(out, a.String())
		}
	}
	return out
}

// clusterName is that of the flag, or the flag's default.
// Source: kubernetes/cloud-provider:options/kubecloudshared.go.
func clusterName(id identity) string { return cmp.Or(id.Cluster, "kubernetes") }

func singleBalancer(in input) string {
	name := cmp.Or(in.Config.BalancerName, clusterName(in.Identity))
	if in.Kind == Internal {
		name += suffixInternal
	}
	return name
}

func subnetName(in input) string { return subnetKey.Or(in.Values, in.Config.Subnet) }

func linkSubnet(in input) string { return linkSubnetKey.Or(in.Values, subnetName(in)) }

// wantedIP is the address that the user asks for in a family: the annotation of
// the family, else the field if it is of the family.
func wantedIP(in input, family corev1.IPFamily) (netip.Addr, bool) {
	if a, _, ok := addressKey(family).Lookup(in.Values); ok {
		return a.Unmap(), true
	}
	a, err := netip.ParseAddr(strings.TrimSpace(in.Service.Spec.LoadBalancerIP))
	return a.Unmap(), err == nil && nodeports.FamilyOf(a) == family
}

// wantedBy names what wantedIP has read.
func wantedBy(in input, family corev1.IPFamily) string {
	key := addressKey(family)
	if _, _, ok := key.Lookup(in.Values); ok {
		return key.Name
	}
	return "spec.loadBalancerIP"
}

func addressKey(family corev1.IPFamily) *annotations.Key[netip.Addr] {
	if family == corev1.IPv6Protocol {
		return ipv6Key
	}
	return ipv4Key
}

// selectNodes leaves out the same nodes as the official controller: the control plane,
// nodes managed by others, nodes of other groups and machines outside of Azure. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/azure.go.
func selectNodes(in input) nodeports.Filter {
	if in.Config.PodIP() {
		return nodeports.Filter{Everyone: true}
	}
	group := lowerCase(in.Config.Group)
	f := nodeports.Filter{
		ExcludeOnPresence: true,
		Also: []nodeports.Predicate{
			{Name: "azure machine", Keep: func(n nodeports.Node) bool {
				return strings.HasPrefix(lowerCase(n.ProviderID), "azure://") || n.ProviderID == ""
			}},
			{Name: "managed", Keep: func(n nodeports.Node) bool { return !strings.EqualFold(n.Labels[labelManaged], "false") }},
			{Name: "group " + group, Keep: func(n nodeports.Node) bool {
				g := n.Labels[labelGroup]
				return g == "" || group == "" || strings.EqualFold(g, group)
			}},
		},
	}
	for _, m := range in.Config.Multi {
		f.Keep = append(f.Keep, labelsOf(m.Nodes)...)
	}
	if !in.Config.WithMasters || in.Config.PoolType == PoolNodeIP {
		f.Without = append(f.Without, labelControl, labelMaster, labelRole+"=master")
	}
	return f
}

// foundByName reports whether a tag with namespace and name attributes a resource to its
// Service: all names are made of the UID.
func foundByName(_ stack.Owner, r stack.Resource) bool { return r.Key.Kind == KindBinding }
