package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// member is a node that may stand behind the load balancer.
type member struct {
	node     string // name of the Node
	Instance string // name of the instance
	Zone     string
	ip       string // IPv4; empty: none
	subnet   string // path of another subnet than the cluster's; empty: the cluster's
}

// MemberOf takes zone and instance out of a provider id, gce://project/zone/name,
// and fills them up with what the Node says itself.
func MemberOf(n nodeports.Node) member {
	m := member{node: n.Name, Zone: n.Zone}
	if rest, ok := strings.CutPrefix(n.ProviderID, "gce://"); ok {
		if parts := strings.Split(rest, "/"); len(parts) == 3 {
			m.Instance = parts[2]
			if parts[1] != "" {
				m.Zone = parts[1]
			}
		}
	}
	if m.Instance == "" {
		m.Instance, _, _ = strings.Cut(n.Name, ".")
	}
	if a, ok := n.Address(corev1.IPv4Protocol); ok {
		m.ip = a.String()
	}
	return m
}

// WhyCrowded says why Compute Engine refuses machines that are in groups of others.
const WhyCrowded = "are in an instance group of another load balancer, and Compute Engine balances to each machine by one group only"

// members finds the nodes and the network tags of their instances. Nodes of an unknown
// zone are left out by name.
func (b *builder) members() {
	var nowhere []string
	unfit := map[string][]string{}
	b.nodes = slices.Grow(b.nodes, b.in.Backends.Nodes.Len())
	for n := range b.in.Backends.Nodes.All() {
		m := MemberOf(n)
		if m.Zone == "" {
			nowhere = append(nowhere, n.Name)
			continue
		}
		if why := b.facts.Unfit[m.Instance]; why != "" && (why != WhyCrowded || !b.neg && b.in.Kind != TargetPool) {
			unfit[why] = append(unfit[why], n.Name)
			continue
		}
		m.subnet = b.otherSubnet(m.ip)
		b.nodes = append(b.nodes, m)
	}
	b.leftOut(nowhere, "have no zone in provider id or labels")
	for _, why := range slices.Sorted(maps.Keys(unfit)) {
		b.leftOut(unfit[why], why)
	}
	b.findTags()
}

// leftOut tells which nodes get no traffic, by name.
func (b *builder) leftOut(nodes []string, why string) {
	if len(nodes) > 0 {
		b.report(annotations.ProblemOf("nodes", "", "get no traffic because they "+why+": "+shortList(nodes), "", annotations.Warning))
	}
}

// otherSubnet is the subnet whose range has the IP, if that is another one than
// the cluster's. What no subnet has is taken for the cluster's.
func (b *builder) otherSubnet(ip string) string {
	for _, s := range b.facts.Subnets {
		if rangeContains(ip, s.CIDR) && s.Path != b.facts.Subnet && b.facts.Subnet != "" {
			return s.Path
		}
	}
	return ""
}

// findTags are the configured ones, else of every instance the longest tag that
// its name begins with. A node without one is left out instead of stopping all.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_instances.go (computeHostTags).
func (b *builder) findTags() {
	b.tags = b.in.Config.NodeTags
	if len(b.tags) > 0 {
		return
	}
	tags := map[string]bool{}
	var without []string
	for _, m := range b.nodes {
		longest := ""
		for _, t := range b.facts.Instances[m.Instance].Tags {
			if strings.HasPrefix(m.Instance, t) && len(t) > len(longest) {
				longest = t
			}
		}
		if longest == "" {
			without = append(without, m.node)
			continue
		}
		tags[longest] = true
	}
	b.tags = slices.Sorted(maps.Keys(tags))
	switch {
	case len(b.tags) > 0 && len(without) > 0:
		b.report(annotations.ProblemOf("nodes", "", "have no network tag that their name begins with, so firewalls may not let traffic to them: "+shortList(without), "node-tags in the cloud configuration", annotations.Warning))
	case len(b.tags) == 0:
		b.keepTags(without)
	}
}

// keepTags keeps the tags of existing firewalls. Without any tag a firewall would be for
// all machines of the network, so none is created.
func (b *builder) keepTags(without []string) {
	for _, r := range append(b.have.Of(KindFirewall), b.have.Of(KindCheckFirewall)...) {
		if f, _ := r.Spec.(Firewall); len(f.Tags) > 0 && r.Proof != stack.None {
			b.tags = f.Tags
			return
		}
	}
	if len(b.nodes) > 0 {
		b.report(annotations.ProblemOf("nodes", "", "have no network tag that their name begins with, so no firewall can be made for them: "+shortList(without), "node-tags in the cloud configuration", annotations.Error))
		return
	}
	b.report(annotations.ProblemOf("nodes", "", "are none yet, so their network tags are not known", "node-tags in the cloud configuration", annotations.Error))
}

// emptied reports whether the load balancer would lose its last members although the
// cluster has nodes: more often a mistake of a filter than intent.
func (b *builder) emptied(left int) bool {
	nodes := b.in.Backends.Nodes
	return left == 0 && (nodes.FilteredOut() || nodes.Len() > 0)
}

func (b *builder) tellKept(what string) {
	b.report(annotations.ProblemOf("nodes", "", "that could stand behind the load balancer are none, although the cluster has nodes; those in the "+what+" stay there", "", annotations.Warning))
}

// poolInstances are the members of a target pool: instances that exist in the
// managed zones. Without regional or multizone that is the local zone alone,
// which the official controller does not tell.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_instances.go (getInstancesByNames).
func (b *builder) poolInstances() []string {
	var out, elsewhere, unknown []string
	for _, m := range b.nodes {
		i, exists := b.facts.Instances[m.Instance]
		switch {
		case exists:
			out = append(out, "zones/"+i.Zone+"/instances/"+m.Instance)
		case !slices.Contains(b.facts.Zones, m.Zone):
			elsewhere = append(elsewhere, m.node)
		default:
			unknown = append(unknown, m.node)
		}
	}
	b.leftOut(elsewhere, "are in other zones than "+shortList(b.facts.Zones)+"; set regional or multizone in the cloud configuration")
	b.leftOut(unknown, "have no instance that Compute Engine knows")
	if b.emptied(len(out)) {
		found, _ := b.found(stack.Key{Kind: KindPool})
		if p, ok := found.Spec.(Pool); ok && len(p.Instances) > 0 {
			b.tellKept("target pool")
			return p.Instances
		}
	}
	return sortedSet(out)
}

// groups wants the instance groups of all zones that have nodes, and returns
// references to them. A group takes nodes of the cluster's subnet only.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_internal.go (ensureInternalInstanceGroups).
func (b *builder) groups() []stack.Ref {
	byZone := map[string][]string{}
	var other []string
	for _, m := range b.nodes {
		if m.subnet != "" {
			other = append(other, m.node)
			continue
		}
		byZone[m.Zone] = append(byZone[m.Zone], m.Instance)
	}
	b.leftOut(other, "are in other subnets than "+LastOf(b.facts.Subnet))
	if b.in.Config.KeepGroups {
		return b.groupsOfOthers(byZone)
	}
	name := b.in.Config.GroupName(b.in.Kind)
	var refs []stack.Ref
	if b.emptied(len(byZone)) {
		if refs = b.keepGroups(); len(refs) > 0 {
			b.tellKept("instance groups")
			return refs
		}
	}
	for _, zone := range slices.Sorted(maps.Keys(byZone)) {
		members := sortedSet(byZone[zone])
		b.leftOut(members[min(len(members), maxGroupMembers):], "are more than the "+strconv.Itoa(maxGroupMembers)+" that an instance group takes")
		key := GroupKey(zone, name)
		b.share(key, Group{Name: name, Zone: zone, Instances: members[:min(len(members), maxGroupMembers)]})
		refs = append(refs, stack.RefTo(key))
	}
	return refs
}

// groupsOfOthers refers to all groups that begin with the name of ours in the zones that
// have nodes: their creator manages their members. They are never written.
func (b *builder) groupsOfOthers(byZone map[string][]string) []stack.Ref {
	var refs []stack.Ref
	with := map[string]bool{}
	for _, path := range b.facts.Groups {
		if zone := ZoneOf(path); byZone[zone] != nil {
			with[zone] = true
			refs = append(refs, stack.RefID(path))
		}
	}
	var without []string
	for zone, nodes := range byZone {
		if !with[zone] {
			without = append(without, nodes...)
		}
	}
	b.leftOut(sortedSet(without), "are in zones without an instance group whose name begins with "+b.in.Config.GroupName(InternalIG)+", which "+featureNoGroups+" leaves to others to make")
	return refs
}

// maxGroupMembers is how many instances an unmanaged group takes.
// Source: Google Cloud quota page of instance groups.
const maxGroupMembers = 1000

func (b *builder) keepGroups() []stack.Ref {
	var refs []stack.Ref
	for _, r := range b.have.Of(KindGroup) {
		if r.Proof != stack.None {
			b.share(r.Key, r.Spec)
			refs = append(refs, stack.RefTo(r.Key))
		}
	}
	return refs
}

// decimal32 is decimal for ports.
func decimal32(n int32) string { return strconv.Itoa(int(n)) }

// ZoneOf is the zone in the path of a zonal thing.
func ZoneOf(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}
