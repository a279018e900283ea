package model

import (
	"cmp"
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

// Choose returns the kind of a Service, or by which key it belongs to another controller.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/helper/service_utils.go (NeedCLB, NeedNLB).
func Choose(svc *corev1.Service) providers.Choice {
	if class := svc.Spec.LoadBalancerClass; class != nil && *class == ClassNLB {
		return providers.Choice{Kind: NLB}
	}
	if svc.Annotations[classKey.Name] != "" {
		return providers.Choice{Elsewhere: "the annotation " + classKey.Name + " leaves it to another controller"}
	}
	if _, ok := svc.Annotations[tunnelKey.Name]; ok {
		return providers.Choice{Elsewhere: "the annotation " + tunnelKey.Name + " leaves it to another controller"}
	}
	return providers.Choice{Kind: CLB}
}

// ChooseUnder returns the kind of a Service under a configuration: with its feature gate, the type of
// the load balancer counts.
func ChooseUnder(c Config, svc *corev1.Service) providers.Choice {
	choice := Choose(svc)
	value := svc.Annotations[typeKey.Name]
	switch {
	case !c.TypeKey || value == "" || choice.Kind == NLB:
		return choice
	case value == NLB:
		return providers.Choice{Kind: NLB}
	}
	return providers.Choice{Elsewhere: "the annotation " + typeKey.Name + " asks for a load balancer of type " + value + ", which another controller serves"}
}

// Labels of nodes. Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/helper/node_utils.go.
const (
	labelVirtual   = "type"
	virtualKubelet = "virtual-kubelet"
)

// excludingLabels keep nodes out by their presence.
func excludingLabels() []string {
	return []string{"node-role.kubernetes.io/master", "alpha.service-controller.kubernetes.io/exclude-balancer", "service.beta.kubernetes.io/exclude-node", "service.alibabacloud.com/exclude-node"}
}

// SelectNodes returns which nodes may be backends: instances that are ready.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/reconcile/backend/backend.go.
func SelectNodes(in Input) nodeports.Filter {
	f := admittedNodes(in)
	f.Without, f.RequireReady, f.UnknownIfNoneReady = append(f.Without, labelVirtual+"="+virtualKubelet), true, true
	f.Also = []nodeports.Predicate{{Name: "instance", Keep: func(n nodeports.Node) bool { return InstanceOf(n.ProviderID) != "" }}}
	return f
}

// admittedNodes returns which nodes the Service and their labels admit.
func admittedNodes(in Input) nodeports.Filter {
	f := nodeports.Filter{Selector: labelKey.Get(in.Values), Without: excludingLabels(), ExcludeOnPresence: true}
	if unscheduledKey.Get(in.Values) == on {
		f.WithoutTaints = []string{corev1.TaintNodeUnschedulable}
	}
	return f
}

// selectVirtual returns the virtual nodes: ready or not, their pods are backends by their network interfaces.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/reconcile/backend/backend.go.
func selectVirtual(in Input) nodeports.Filter {
	f := admittedNodes(in)
	f.Everyone = true
	f.Also = []nodeports.Predicate{
		{Name: "virtual", Keep: func(n nodeports.Node) bool { return n.Labels[labelVirtual] == virtualKubelet }},
		{Name: "eligible", Keep: nodeports.Node.Eligible},
	}
	return f
}

// InstanceOf returns the id of the instance of a provider id, <region>.<id> with or without a
// scheme; empty: it is not an instance.
func InstanceOf(providerID string) string {
	text := strings.TrimPrefix(providerID, "alicloud://")
	if strings.Contains(text, "://") {
		return ""
	}
	region, id, ok := strings.Cut(text, ".")
	if !ok || region == "" || strings.Contains(id, ".") {
		return ""
	}
	return id
}

// usesPods reports whether pods are the backends.
func usesPods(in Input) bool {
	if value, _, given := typeOfBackendsKey.Lookup(in.Values); given {
		return value == ServerENI
	}
	return in.Config.PodBackends
}

// followsPods reports whether the pods of a Service matter: they are its backends, or the weight
// of nodes.
func followsPods(c Config, svc *corev1.Service) bool {
	kind := svc.Annotations[typeOfBackendsKey.Name]
	return nodeports.LocalOnly(svc) || kind == ServerENI || kind == "" && c.PodBackends
}

// podsIn reports whether an observed stack has pods as backends. Beside nodes they are those of virtual nodes.
func podsIn(have *stack.Stack) bool {
	return slices.ContainsFunc(slices.Concat(have.Of(KindGroup), have.Of(KindServerGroup)), func(r stack.Resource) bool {
		servers, _ := ServersIn(r.Spec)
		return slices.ContainsFunc(servers, isPod) && !slices.ContainsFunc(servers, isInstance)
	})
}

func isPod(s Server) bool { return s.Type == ServerENI }

func isInstance(s Server) bool { return s.Type == ServerECS }

// fallbackOf returns which terminating pods count: with graceful shutdown every serving one.
func fallbackOf(in Input) nodeports.Fallback {
	switch {
	case usesPods(in) && gracefulKey.Get(in.Values):
		return nodeports.KeepTerminating
	case usesPods(in):
		return nodeports.FallbackPerService
	}
	return nodeports.FallbackOf(in.Service)
}

// isPublic reports whether clients of the Internet reach the load balancer.
func isPublic(in Input) bool {
	return addressTypeKey.Get(in.Values) == internet || in.Kind == NLB && ipv6TypeKey.Get(in.Values) == internet
}

// protocolOf returns the protocol of the listener of a port.
func protocolOf(in Input, p nodeports.ServicePort) string {
	standard := strings.ToLower(string(p.Protocol))
	if in.Kind == NLB {
		standard = string(p.Protocol)
	}
	return cmp.Or(protocolKey.Get(in.Values)[p.Port], standard)
}

// Reach returns how far a Service reaches: whether it is public, and what it names.
func Reach(in Input) providers.Reach {
	can, _ := providers.CapabilityOf(Capabilities(), in.Kind)
	r := providers.Reach{
		Kind: in.Kind, Internet: isPublic(in), Internal: intranet, Size: providers.SizeOf(can, in.Service),
		Scheme: annotations.Origin{Source: annotations.FromDefault, Key: addressTypeKey.Name},
		Names:  slices.Concat(providers.AddressField(in.Service), in.Values.Named()),
	}
	if _, origin, given := addressTypeKey.Lookup(in.Values); given {
		r.Scheme = origin
	}
	return r
}
