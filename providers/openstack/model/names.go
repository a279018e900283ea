package model

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// longest is how many bytes a name may have.
// Source: kubernetes/cloud-provider-openstack:pkg/util/util.go (CutString255).
const longest = 255

// OwnPrefix begins the names of load balancers that belong to Services.
const OwnPrefix = "kube_service_"

// FloatingMark is in the description of every floating IP that was made for a Service.
const FloatingMark = "Floating IP for Kubernetes external service"

func truncateText(text string) string { return text[:min(len(text), longest)] }

// BalancerName is the name of a Service's own load balancer, which is also the tag by
// which it marks what it uses.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer.go.
func BalancerName(cluster string, o stack.Owner) string {
	return truncateText(fmt.Sprintf("%s%s_%s_%s", OwnPrefix, cluster, o.Namespace, o.Name))
}

// LegacyName is the name that load balancers had before; they are found by it.
func LegacyName(o stack.Owner) string {
	name := "a" + strings.ReplaceAll(o.UID, "-", "")
	return name[:min(len(name), 32)]
}

// Renamed reports whether a name is the load balancer name of a Service of this namespace
// and name, in this cluster or in one of another name.
func Renamed(name string, o stack.Owner) bool {
	return strings.HasPrefix(name, OwnPrefix) && strings.HasSuffix(name, "_"+o.Namespace+"_"+o.Name)
}

// OwnerOf returns the Service of a cluster that a name or tag of a load balancer tells.
func OwnerOf(mark, cluster string) (stack.Owner, bool) {
	rest, is := strings.CutPrefix(mark, OwnPrefix+cluster+"_")
	namespace, name, whole := strings.Cut(rest, "_")
	ok := is && whole && namespace != "" && name != "" && !strings.Contains(name, "_") && len(mark) < longest
	return stack.Owner{Namespace: namespace, Name: name}, ok
}

// GroupOwnerOf returns the Service of a cluster that name and description of a security
// group tell.
func GroupOwnerOf(group, description, cluster string) (stack.Owner, bool) {
	const before, between, uid = "Security Group for ", " Service LoadBalancer in cluster ", 36
	rest, ours := strings.CutPrefix(group, "lb-sg-")
	service, of, told := strings.Cut(strings.TrimPrefix(description, before), between)
	namespace, name, whole := strings.Cut(service, "/")
	if !ours || !told || !whole || of != cluster || len(rest) <= uid {
		return stack.Owner{}, false
	}
	o := stack.Owner{Namespace: namespace, Name: name, UID: rest[:uid]}
	return o, GroupName(o) == group
}

// IDKey is the key of the annotation that names a load balancer.
func IDKey() string { return idKey.Name }

// OtherTags are the tags of other Services than the one whose tag is given.
func OtherTags(tags []string, own string) []string {
	var out []string
	for _, tag := range tags {
		if strings.HasPrefix(tag, OwnPrefix) && tag != own {
			out = append(out, tag)
		}
	}
	return out
}

func balancerDescription(cluster string, o stack.Owner) string {
	return fmt.Sprintf("Kubernetes external service %s/%s from cluster %s", o.Namespace, o.Name, cluster)
}

// FloatingDescription is that of the floating IP of a Service.
func FloatingDescription(cluster string, o stack.Owner) string {
	return fmt.Sprintf("%s %s/%s from cluster %s", FloatingMark, o.Namespace, o.Name, cluster)
}

// partName names what is below a load balancer, by the index of the Service's port.
func partName(part string, index int, balancer string) string {
	return truncateText(fmt.Sprintf("%s_%d_%s", part, index, balancer))
}

// GroupName is the name of a Service's security group.
func GroupName(o stack.Owner) string {
	return truncateText(fmt.Sprintf("lb-sg-%s-%s-%s", o.UID, o.Namespace, o.Name))
}

func groupDescription(cluster string, o stack.Owner) string {
	return fmt.Sprintf("Security Group for %s/%s Service LoadBalancer in cluster %s", o.Namespace, o.Name, cluster)
}

// PortKey is the name, in keys, of what belongs to one port: listeners of the same
// layer cannot share one.
func PortKey(protocol string, port int32) string {
	layer := "tcp"
	if protocol == "UDP" || protocol == "SCTP" {
		layer = strings.ToLower(protocol)
	}
	return fmt.Sprintf("%s-%d", layer, port)
}

func compareMembers(a, b Member) int {
	return cmp.Or(strings.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port), strings.Compare(a.Name, b.Name))
}
