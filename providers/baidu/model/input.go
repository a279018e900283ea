package model

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Input is that of the contract with this cloud's configuration.
type Input = providers.Input[Config]

// Identity is that of the contract with this cloud's configuration.
type Identity = providers.Identity[Config]

// Choose returns the kind that a Service asks for. Without the key an existing load balancer can be of
// either kind.
func Choose(svc *corev1.Service) providers.Choice {
	if svc.Annotations[typeKey.Name] == BLB {
		return providers.Choice{Kind: BLB}
	}
	return providers.Choice{Kind: AppBLB}
}

// SelectNodes returns which nodes may be backends: instances that are ready and take pods.
// Source: baidu/cloud-provider-baiducloud:pkg/service/service_controller.go.
func SelectNodes(in Input) nodeports.Filter {
	f := nodeports.Filter{
		WithoutTaints: []string{corev1.TaintNodeUnschedulable}, Without: excludingLabels(), RequireReady: true, UnknownIfNoneReady: true,
		Also: []nodeports.Predicate{{Name: "instance", Keep: func(n nodeports.Node) bool { return InstanceOf(n.ProviderID) != "" }}},
	}
	if labels := labelKey.Get(in.Values); len(labels) > 0 {
		f.Selector = labels
	}
	return f
}

// InstanceOf returns the id of the instance of a provider id, cce://<id>; empty: it is not an instance.
func InstanceOf(providerID string) string {
	scheme, rest, ok := strings.Cut(providerID, "://")
	id := rest[strings.LastIndex(rest, "/")+1:]
	if !ok || scheme != "cce" || !strings.HasPrefix(id, "i-") {
		return ""
	}
	return id
}

// subnetOf returns the subnet of a new load balancer.
func subnetOf(in Input) string { return subnetKey.Or(in.Values, in.Config.Subnet) }

// NeedsEndpoints reports whether the pods of a Service matter. The controller of CCE writes the id of every load
// balancer on its Service, and some of them send to pods.
func NeedsEndpoints(_ Config, svc *corev1.Service) bool {
	return svc.Annotations[podsKey.Name] == "true" || svc.Annotations[idKey.Name] != "" || nodeports.LocalOnly(svc)
}

// HasPods reports whether backends are pods.
func HasPods(have *stack.Stack) bool {
	return slices.ContainsFunc(have.Of(KindPool), func(r stack.Resource) bool { return r.Proof != stack.None })
}

// Reach returns how far a Service reaches: whether it is public, and what it names.
func Reach(in Input) providers.Reach {
	can, _ := providers.CapabilityOf(Capabilities(), in.Kind)
	r := providers.Reach{
		Kind: in.Kind, Internet: !internalKey.Get(in.Values), Internal: "true", Size: providers.SizeOf(can, in.Service),
		Scheme: annotations.Origin{Source: annotations.FromDefault, Key: internalKey.Name},
		Names:  slices.Concat(providers.AddressField(in.Service), in.Values.Named()),
	}
	if _, origin, given := internalKey.Lookup(in.Values); given {
		r.Scheme = origin
	}
	return r
}

// hasUDP reports whether a Service has a port of UDP.
func hasUDP(ports []corev1.ServicePort) bool {
	return slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Protocol == corev1.ProtocolUDP })
}
