package model

import (
	"cmp"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// TagGroup is on what Services of one group have together, and on their target groups. Its
// value is the group, namespace/name.
const TagGroup = "berth-lb.io/load-balancer-group"

// Tags of a target group of a member, besides those of its Service.
const (
	// TagCreated is when its Service was made, in seconds of Unix.
	TagCreated = "berth-lb.io/service-created"
	// tagAdopted is on target groups of Services that use a load balancer of others. Its
	// value is the name of the load balancer.
	tagAdopted = "berth-lb.io/load-balancer"
	// GroupStack marks, among the Services that load balancers are remembered to be of,
	// those of a group; no Service has such a name.
	GroupStack = "group "
	// MadeElsewhere marks, in the same place, load balancers that other controllers, or this
	// one for Services of other kinds, have made.
	MadeElsewhere = "made "
)

// groupOf is the group that a Service names, namespace/name: its own namespace is the one
// that is not said. Empty: the load balancer is its own.
func groupOf(namespace, value string) string {
	if value == "" || strings.Contains(value, "/") {
		return value
	}
	return namespace + "/" + value
}

// placeOf is where a Service has its listeners if it has no load balancer of its own: a
// group, namespace/name, or the name of a load balancer of others, which has no slash.
func placeOf(namespace, group, adopted string) string {
	if adopted != "" {
		return adoptedName(adopted)
	}
	return groupOf(namespace, group)
}

// IsAdopted reports whether a place is a load balancer of others.
func IsAdopted(place string) bool { return place != "" && !strings.Contains(place, "/") }

// adoptedName is the name of a load balancer that is given by its name or ARN.
func adoptedName(value string) string {
	if parts := strings.Split(value, "/"); len(parts) > 2 {
		return parts[len(parts)-2]
	}
	return value
}

// groupOwner is what stands for a Service in names of what a group has together.
func groupOwner(group string) stack.Owner {
	namespace, name, _ := strings.Cut(group, "/")
	return stack.Owner{Namespace: namespace, Name: name, UID: "load-balancer-group"}
}

// SharedNetworkKey is the key of the load balancer of a group.
func SharedNetworkKey(group string) stack.Key { return stack.Key{Kind: KindSharedNetwork, Name: group} }

// FrontKey is the key of the security group by which clients come to it.
func FrontKey(group string) stack.Key { return stack.Key{Kind: KindFrontGroup, Name: group} }

// groupName is the name of the load balancer of a group. Its scheme is no part of the name:
// there is one for each group.
func groupName(cluster, group string) string {
	o := groupOwner(group)
	return shortNames(o) + shortHash(cluster, o.UID, group)
}

// FrontName is the name of the security group by which clients come in.
func FrontName(cluster, group string) string {
	return "k8s-group-" + shortHash(cluster, "front", group)
}

// groupTags are on what a group has together.
func groupTags(cluster, group string, extra map[string]string) Tags {
	return Over(extra, Tags{TagLBCCluster: cluster, TagGroup: group})
}

// GroupIn is the group of this cluster that tags name; empty: none.
func GroupIn(cluster string, tags Tags) string {
	if tags[TagLBCCluster] != cluster {
		return ""
	}
	return tags[TagGroup]
}

// PlaceIn is the place that the tags of a target group of this cluster name; empty: none.
func PlaceIn(cluster string, tags Tags) string {
	if tags[TagLBCCluster] != cluster {
		return ""
	}
	return cmp.Or(tags[TagGroup], tags[tagAdopted])
}

// PartOf names a listener, and everything that belongs to it, by its load balancer: a
// Service that moves has two of a port for a while.
func PartOf(group, name string) string {
	if group == "" {
		return name
	}
	return group + "/" + name
}

// portIn takes the group off the name of a part.
func portIn(part string) string { return part[strings.LastIndex(part, "/")+1:] }

// SlotIn is the place of a listener on its load balancer.
func SlotIn(group string, port int32) string {
	if group == "" {
		return PortSlot(port)
	}
	return PortSlot(port) + " of " + group
}
