package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/annotations"
)

// Variant is a Service that lacks one input, or has another value of it.
type Variant struct {
	Origin           annotations.Origin
	Varied, Combined bool
	Service          *corev1.Service
}

// Variants returns a variant for each annotation, label and field of a Service that can
// determine its load balancer. The last one lacks all of them that can be omitted.
func Variants(svc *corev1.Service) []Variant {
	v := &variants{base: svc}
	for _, key := range slices.Sorted(maps.Keys(svc.Annotations)) {
		v.omit(annotations.FromAnnotation, key, svc.Annotations[key], func(s *corev1.Service) { delete(s.Annotations, key) })
	}
	for _, key := range slices.Sorted(maps.Keys(svc.Labels)) {
		v.omit(annotations.FromLabel, key, svc.Labels[key], func(s *corev1.Service) { delete(s.Labels, key) })
	}
	v.addPorts()
	v.addFields()
	v.vary(FromMetadata, "metadata.namespace", svc.Namespace, func(s *corev1.Service) { s.Namespace += "x" })
	v.vary(FromMetadata, "metadata.name", svc.Name, func(s *corev1.Service) { s.Name += "x" })
	v.vary(FromMetadata, "metadata.uid", string(svc.UID), func(s *corev1.Service) { s.UID = otherUID(s.UID) })
	return append(v.out, v.combine())
}

// combine returns the Service without everything that can be omitted from it.
func (v *variants) combine() Variant {
	svc := v.base.DeepCopy()
	svc.Annotations, svc.Labels = map[string]string{}, map[string]string{}
	for _, clear := range v.optional {
		clear(svc)
	}
	return Variant{Origin: annotations.Origin{Source: FromSeveral}, Combined: true, Service: svc}
}

// otherUID returns another UID of the same form.
func otherUID(uid types.UID) types.UID {
	text := []byte(uid)
	for i, c := range text {
		if c >= '0' && c <= '9' {
			text[i] = '0' + (c-'0'+1)%10
			return types.UID(text)
		}
	}
	return uid + "1"
}

type variants struct {
	base     *corev1.Service
	out      []Variant
	optional []func(*corev1.Service) // remove the fields that can be omitted
}

func (v *variants) add(source annotations.From, key, raw string, varied bool, change func(*corev1.Service)) {
	svc := v.base.DeepCopy()
	change(svc)
	v.out = append(v.out, Variant{Origin: annotations.Origin{Source: source, Key: key, Raw: raw}, Varied: varied, Service: svc})
}

func (v *variants) omit(source annotations.From, key, raw string, change func(*corev1.Service)) {
	v.add(source, key, raw, false, change)
}

func (v *variants) vary(source annotations.From, key, raw string, change func(*corev1.Service)) {
	v.add(source, key, raw, true, change)
}

// addPorts adds each port as a whole, and its fields.
func (v *variants) addPorts() {
	for i, p := range v.base.Spec.Ports {
		path := fmt.Sprintf("spec.ports[%d]", i)
		if len(v.base.Spec.Ports) > 1 {
			v.omit(annotations.FromField, path, p.Name, func(s *corev1.Service) { s.Spec.Ports = slices.Delete(s.Spec.Ports, i, i+1) })
		}
		number := func(of int32) string { return strconv.Itoa(int(of)) }
		v.vary(annotations.FromField, path+".port", number(p.Port), func(s *corev1.Service) { s.Spec.Ports[i].Port = v.freePort() })
		if p.NodePort != 0 {
			v.vary(annotations.FromField, path+".nodePort", number(p.NodePort), func(s *corev1.Service) { s.Spec.Ports[i].NodePort = otherNodePort(p.NodePort) })
		}
		if p.TargetPort != (intstr.IntOrString{}) {
			v.vary(annotations.FromField, path+".targetPort", p.TargetPort.String(), func(s *corev1.Service) { s.Spec.Ports[i].TargetPort = intstr.FromInt32(v.freePort()) })
		}
		if p.Name != "" {
			v.vary(annotations.FromField, path+".name", p.Name, func(s *corev1.Service) { s.Spec.Ports[i].Name += "x" })
		}
		if p.Protocol != "" && p.Protocol != corev1.ProtocolTCP {
			v.omit(annotations.FromField, path+".protocol", string(p.Protocol), func(s *corev1.Service) { s.Spec.Ports[i].Protocol = corev1.ProtocolTCP })
		}
		if p.AppProtocol != nil {
			v.omit(annotations.FromField, path+".appProtocol", *p.AppProtocol, func(s *corev1.Service) { s.Spec.Ports[i].AppProtocol = nil })
		}
	}
}

// freePort returns a number that no port of the Service uses.
func (v *variants) freePort() int32 {
	for n := int32(20001); ; n++ {
		if !slices.ContainsFunc(v.base.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == n || p.TargetPort.IntVal == n }) {
			return n
		}
	}
}

// otherNodePort returns a neighbour of a node port within the usual range.
func otherNodePort(n int32) int32 {
	if n > 30000 {
		return n - 1
	}
	return n + 1
}

// addFields adds the fields of the spec that differ from their defaults.
func (v *variants) addFields() {
	spec := v.base.Spec
	field := func(present bool, path, raw string, clear func(*corev1.ServiceSpec)) {
		if present {
			v.optional = append(v.optional, func(s *corev1.Service) { clear(&s.Spec) })
			v.omit(annotations.FromField, path, raw, v.optional[len(v.optional)-1])
		}
	}
	field(len(spec.LoadBalancerSourceRanges) > 0, "spec.loadBalancerSourceRanges", fmt.Sprint(spec.LoadBalancerSourceRanges),
		func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = nil })
	field(spec.LoadBalancerIP != "", "spec.loadBalancerIP", spec.LoadBalancerIP, func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "" })
	field(spec.LoadBalancerClass != nil, "spec.loadBalancerClass", valueOf(spec.LoadBalancerClass), func(s *corev1.ServiceSpec) { s.LoadBalancerClass = nil })
	field(spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal, "spec.externalTrafficPolicy", string(spec.ExternalTrafficPolicy),
		func(s *corev1.ServiceSpec) {
			s.ExternalTrafficPolicy, s.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyCluster, 0
		})
	field(spec.HealthCheckNodePort != 0, "spec.healthCheckNodePort", strconv.Itoa(int(spec.HealthCheckNodePort)),
		func(s *corev1.ServiceSpec) { s.HealthCheckNodePort = otherNodePort(s.HealthCheckNodePort) })
	field(spec.SessionAffinity == corev1.ServiceAffinityClientIP, "spec.sessionAffinity", string(spec.SessionAffinity),
		func(s *corev1.ServiceSpec) {
			s.SessionAffinity, s.SessionAffinityConfig = corev1.ServiceAffinityNone, nil
		})
	field(spec.AllocateLoadBalancerNodePorts != nil && !*spec.AllocateLoadBalancerNodePorts, "spec.allocateLoadBalancerNodePorts", "false",
		func(s *corev1.ServiceSpec) { s.AllocateLoadBalancerNodePorts = nil })
	field(spec.TrafficDistribution != nil, "spec.trafficDistribution", valueOf(spec.TrafficDistribution), func(s *corev1.ServiceSpec) { s.TrafficDistribution = nil })
	field(spec.PublishNotReadyAddresses, "spec.publishNotReadyAddresses", "true", func(s *corev1.ServiceSpec) { s.PublishNotReadyAddresses = false })
	field(slices.Contains(spec.IPFamilies, corev1.IPv6Protocol), "spec.ipFamilies", fmt.Sprint(spec.IPFamilies), func(s *corev1.ServiceSpec) {
		s.IPFamilies, s.IPFamilyPolicy = []corev1.IPFamily{corev1.IPv4Protocol}, nil
	})
}

func valueOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
