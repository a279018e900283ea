package model

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Tags of load balancers that controllers create.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/helper/tags.go, pkg/util/constant.go.
const (
	TagOwner   = "kubernetes.do.not.delete"
	TagCluster = "ack.aliyun.com"
	// TagReused is on load balancers of others that a Service uses.
	TagReused = "kubernetes.reused.by.user"
)

// Labels that the official controller writes on Services.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/helper/service_utils.go.
const (
	labelBalancer = "service.k8s.alibaba/loadbalancer-id"
	labelSecurity = "service.k8s.alibaba/security-group-id"
	labelHash     = "service.beta.kubernetes.io/hash"
)

// Finalizers of the official controller.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/helper/finalizer_manager.go.
const (
	finalizerCLB = "service.k8s.alibaba/resources"
	finalizerNLB = "service.k8s.alibaba/nlb"
)

// longestDefault is the length to which default names are cut.
const longestDefault = 32

// DefaultName returns the default name of the load balancer of a Service, which is also the value
// of its owner tag.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/reconcile/annotation/annotations.go (GetDefaultLoadBalancerName).
func DefaultName(o stack.Owner) string {
	name := "a" + strings.ReplaceAll(o.UID, "-", "")
	return name[:min(len(name), longestDefault)]
}

// OwnerOf returns the UID, without dashes and cut, that a default name tells.
func OwnerOf(name string) (uid string, ok bool) {
	rest, is := strings.CutPrefix(name, "a")
	return rest, is && len(name) == longestDefault && strings.Trim(rest, "0123456789abcdef") == ""
}

// GroupName returns the name of a server group, which is also the description of its servers. The
// port is the node port, or the target port of pods.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/model/clb (NamedKey).
func GroupName(port string, o stack.Owner, cluster string) string {
	return strings.Join([]string{"k8s", port, o.Name, o.Namespace, cluster}, "/")
}

// ListenerDescription returns the description of a listener.
func ListenerDescription(port int32, o stack.Owner, cluster string) string {
	return GroupName(fmt.Sprint(port), o, cluster)
}

// ParseName returns the port and the owner, without a UID, that the name of a server group or the
// description of a listener tells; false: a controller of this cluster did not write it.
func ParseName(name, cluster string) (port string, o stack.Owner, ok bool) {
	parts := strings.Split(name, "/")
	if len(parts) != 5 || parts[0] != "k8s" || parts[4] != cluster {
		return "", stack.Owner{}, false
	}
	return parts[1], stack.Owner{Name: parts[2], Namespace: parts[3]}, true
}

// IsNameOf reports whether a name or description is of a Service, and returns its port.
func IsNameOf(name string, o stack.Owner, cluster string) (port string, ok bool) {
	port, named, ok := ParseName(name, cluster)
	return port, ok && named.Name == o.Name && named.Namespace == o.Namespace
}

// IsControllerName reports whether a controller of any cluster wrote a name.
func IsControllerName(name string) bool {
	parts := strings.Split(name, "/")
	return len(parts) == 5 && parts[0] == "k8s"
}
