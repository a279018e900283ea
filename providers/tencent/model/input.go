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

// Choose returns the kind of a Service, or by which key it is left alone.
func Choose(svc *corev1.Service) providers.Choice {
	if svc.Annotations[modeKey.Name] == skip {
		return providers.Choice{Elsewhere: "the annotation " + modeKey.Name + ": " + skip + " leaves its load balancer as it is"}
	}
	return providers.Choice{Kind: CLB}
}

// SelectNodes returns which nodes may be targets: instances that are ready and take pods.
// Source: https://cloud.tencent.com/document/product/457/45492.
func SelectNodes(in Input) nodeports.Filter {
	s := labelKey.Get(in.Values)
	f := nodeports.Filter{
		Keep: s.Keys, WithoutTaints: []string{corev1.TaintNodeUnschedulable}, Without: excludingLabels(), RequireReady: true, UnknownIfNoneReady: true,
		Also: []nodeports.Predicate{{Name: "instance", Keep: func(n nodeports.Node) bool { return InstanceOf(n.ProviderID) != "" }}},
	}
	if s.Text != "" {
		f.Also = append(f.Also, nodeports.Predicate{Name: "selector " + s.Text, Keep: func(n nodeports.Node) bool { return s.Matches(n.Labels) }})
	}
	return f
}

// InstanceOf returns the id of the instance of a provider id, qcloud:///<zone>/<id> or
// tencentcloud:///<zone>/<id>; empty: it is not an instance.
func InstanceOf(providerID string) string {
	scheme, rest, ok := strings.Cut(providerID, "://")
	if !ok || scheme != "qcloud" && scheme != "tencentcloud" {
		return ""
	}
	id := rest[strings.LastIndex(rest, "/")+1:]
	if !strings.HasPrefix(id, "ins-") {
		return ""
	}
	return id
}

// isInternal reports whether a new load balancer has an address of a subnet.
func isInternal(in Input) bool {
	return subnetKey.Get(in.Values) != "" || openTypeKey.Get(in.Values) == private
}

// subnetOf returns the subnet of an internal load balancer.
func subnetOf(in Input) string {
	if id := subnetKey.Get(in.Values); id != "" || openTypeKey.Get(in.Values) != private {
		return id
	}
	return openSubnetKey.Get(in.Values)
}

// familyOf returns the address family of the targets: that of the load balancer, except with NAT64.
func familyOf(version string) corev1.IPFamily {
	if version == fullChain {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// Address versions of load balancers.
const (
	ipv4      = "IPV4"
	nat64     = "IPV6"
	fullChain = "IPv6FullChain"
)

// NeedsEndpoints reports whether the pods of a Service matter.
func NeedsEndpoints(_ Config, svc *corev1.Service) bool {
	set := func(key string) bool { return svc.Annotations[key] != "" && svc.Annotations[key] != "false" }
	return set(directKey.Name) || nodeports.LocalOnly(svc) && set(bindKey.Name)
}

// HasPods reports whether targets are pods.
func HasPods(have *stack.Stack) bool {
	for _, r := range have.Of(KindListener) {
		if slices.ContainsFunc(membersIn(have, r.Key), func(m Member) bool { return m.Address != "" }) {
			return true
		}
	}
	return false
}

// certificateID is the key of a Secret that has the id of a certificate.
const certificateID = "qcloud_cert_id"

// Refers returns the Secrets, the TkeServiceConfig and the Endpoints that a Service names.
func Refers(in Input) []providers.Reference {
	var out []providers.Reference
	for _, name := range secretNames(protocolKey.Get(in.Values)) {
		out = append(out, secretRef(in, name))
	}
	if ref, named := configRef(in); named {
		out = append(out, ref)
	}
	if ref, named := sourceRef(in); named {
		out = append(out, ref)
	}
	return out
}

func secretRef(in Input, name string) providers.Reference {
	return providers.Reference{Kind: providers.Secret, Namespace: in.Service.Namespace, Name: name}
}

// Reach returns how far a Service reaches: whether it is public, and what it names.
func Reach(in Input) providers.Reach {
	can, _ := providers.CapabilityOf(Capabilities(), in.Kind)
	r := providers.Reach{
		Kind: in.Kind, Internet: !isInternal(in), Internal: "the id of a subnet", Size: providers.SizeOf(can, in.Service),
		Scheme: annotations.Origin{Source: annotations.FromDefault, Key: subnetKey.Name},
		Names:  slices.Concat(providers.AddressField(in.Service), in.Values.Named()),
	}
	for _, key := range []*annotations.Key[string]{openTypeKey, subnetKey} {
		if _, origin, given := key.Lookup(in.Values); given {
			r.Scheme = origin
		}
	}
	return r
}
