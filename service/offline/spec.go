package offline

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack/plan"
)

// specProblems are what the API server would refuse of a Service, as far as
// load balancers are concerned. Defaults have been filled in before.
// Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go, ValidateService.
func specProblems(svc *corev1.Service) []plan.Problem {
	v := &review{}
	for _, text := range validation.IsDNS1123Label(svc.Name) {
		v.add("metadata.name", "%q: %s", svc.Name, text)
	}
	for _, text := range validation.IsDNS1123Label(svc.Namespace) {
		v.add("metadata.namespace", "%q: %s", svc.Namespace, text)
	}
	v.names("", svc.Annotations)
	v.names("metadata.labels.", svc.Labels)
	v.words(&svc.Spec)
	v.balancer(svc)
	if svc.Spec.Type == corev1.ServiceTypeLoadBalancer { // others may have none, and are not checked
		v.ports(svc.Spec.Ports)
	}
	return v.problems
}

type review struct{ problems []plan.Problem }

func (v *review) add(where, format string, args ...any) {
	v.problems = append(v.problems, plan.Problem{Severity: plan.Error, Code: string(annotations.CodeField), Where: where, Text: fmt.Sprintf(format, args...)})
}

// names checks the keys of annotations and labels.
func (v *review) names(prefix string, values map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		for _, text := range validation.IsQualifiedName(strings.ToLower(key)) {
			v.add(prefix+key, "is not a legal key: %s", text)
		}
	}
}

// words checks the fields that take one of a few words.
func (v *review) words(spec *corev1.ServiceSpec) {
	oneOf(v, "spec.type", spec.Type, corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeExternalName)
	oneOf(v, "spec.sessionAffinity", spec.SessionAffinity, corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP)
	oneOf(v, "spec.externalTrafficPolicy", spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal, "")
	oneOf(v, "spec.internalTrafficPolicy", *spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)
	oneOf(v, "spec.ipFamilyPolicy", *spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack)
	for i, family := range spec.IPFamilies {
		oneOf(v, fmt.Sprintf("spec.ipFamilies[%d]", i), family, corev1.IPv4Protocol, corev1.IPv6Protocol)
		if slices.Contains(spec.IPFamilies[:i], family) {
			v.add(fmt.Sprintf("spec.ipFamilies[%d]", i), "%s occurs twice", family)
		}
	}
	if len(spec.IPFamilies) > 1 && *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack {
		v.add("spec.ipFamilyPolicy", "SingleStack allows one family, spec.ipFamilies has %d", len(spec.IPFamilies))
	}
}

func oneOf[T ~string](v *review, where string, value T, legal ...T) {
	if slices.Contains(legal, value) {
		return
	}
	var words []string
	for _, word := range legal {
		if word != "" {
			words = append(words, string(word))
		}
	}
	v.add(where, "%q is not legal; legal is %s", value, strings.Join(words, ", "))
}

func (v *review) ports(ports []corev1.ServicePort) {
	if len(ports) == 0 {
		v.add("spec.ports", "at least one port is required")
	}
	for i := range ports {
		p, at := &ports[i], fmt.Sprintf("spec.ports[%d].", i)
		for _, text := range validation.IsValidPortNum(int(p.Port)) {
			v.add(at+"port", "%d: %s", p.Port, text)
		}
		oneOf(v, at+"protocol", p.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
		if p.NodePort != 0 && (p.NodePort < firstNodePort || p.NodePort > lastNodePort) {
			// Clusters may be set up with another range, so this alone refuses nothing.
			v.problems = append(v.problems, plan.Problem{Severity: plan.Warning, Code: string(annotations.CodeNodePortRange), Where: at + "nodePort",
				Text: fmt.Sprintf("%d is outside %d-%d, the node ports of most clusters", p.NodePort, firstNodePort, lastNodePort)})
		}
		v.portName(at, p, len(ports) > 1)
		v.targetPort(at+"targetPort", p.TargetPort)
		for j := range ports[:i] {
			v.pair(at, p, &ports[j], j)
		}
	}
}

func (v *review) portName(at string, p *corev1.ServicePort, required bool) {
	if p.Name == "" {
		if required {
			v.add(at+"name", "is required where there are several ports")
		}
		return
	}
	for _, text := range validation.IsDNS1123Label(p.Name) {
		v.add(at+"name", "%q: %s", p.Name, text)
	}
}

func (v *review) targetPort(where string, target intstr.IntOrString) {
	if target.Type == intstr.Int {
		for _, text := range validation.IsValidPortNum(target.IntValue()) {
			v.add(where, "%d: %s", target.IntValue(), text)
		}
		return
	}
	for _, text := range validation.IsValidPortName(target.StrVal) {
		v.add(where, "%q: %s", target.StrVal, text)
	}
}

// pair looks at a port and an earlier one together.
func (v *review) pair(at string, p, earlier *corev1.ServicePort, index int) {
	if p.Name != "" && p.Name == earlier.Name {
		v.add(at+"name", "%q is also the name of spec.ports[%d]", p.Name, index)
	}
	if p.Protocol != earlier.Protocol {
		return
	}
	if p.Port == earlier.Port {
		v.add(at+"port", "%d/%s is also that of spec.ports[%d]", p.Port, p.Protocol, index)
	}
	if p.NodePort != 0 && p.NodePort == earlier.NodePort {
		v.add(at+"nodePort", "%d/%s is also that of spec.ports[%d]", p.NodePort, p.Protocol, index)
	}
}

// sourceRange checks one range. One with bits behind the prefix is older API servers'
// to take, and newer ones keep it where it was before.
// Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go, IsValidCIDRForLegacyField.
func (v *review) sourceRange(where, text string) {
	cidr, err := netip.ParsePrefix(strings.TrimSpace(text))
	switch {
	case err != nil:
		v.add(where, "%q is not a range of addresses such as 10.0.0.0/8", text)
	case cidr != cidr.Masked():
		v.problems = append(v.problems, plan.Problem{Severity: plan.Warning, Code: string(annotations.CodeRanges), Where: where,
			Text: fmt.Sprintf("%q has bits behind the first %d, which API servers of Kubernetes 1.36 and later refuse; write %s", text, cidr.Bits(), cidr.Masked())})
	}
}

// rangesByKey checks the ranges of the annotation. What is no range at all, the cloud's
// own reading of the key tells.
func (v *review) rangesByKey(value string) {
	for text := range strings.SplitSeq(value, ",") {
		if _, err := netip.ParsePrefix(strings.TrimSpace(text)); err == nil {
			v.sourceRange(corev1.AnnotationLoadBalancerSourceRangesKey, strings.TrimSpace(text))
		}
	}
}

// balancer checks the fields that only load balancers have.
func (v *review) balancer(svc *corev1.Service) {
	spec := &svc.Spec
	if spec.Type != corev1.ServiceTypeLoadBalancer {
		if spec.LoadBalancerClass != nil {
			v.add("spec.loadBalancerClass", "may only be set on Services of type LoadBalancer")
		}
		return
	}
	if class := spec.LoadBalancerClass; class != nil {
		for _, text := range validation.IsQualifiedName(*class) {
			v.add("spec.loadBalancerClass", "%q: %s", *class, text)
		}
	}
	for i, text := range spec.LoadBalancerSourceRanges {
		v.sourceRange(fmt.Sprintf("spec.loadBalancerSourceRanges[%d]", i), text)
	}
	if len(spec.LoadBalancerSourceRanges) == 0 { // else the annotation is not looked at
		v.rangesByKey(svc.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey])
	}
	if spec.HealthCheckNodePort != 0 && spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
		v.add("spec.healthCheckNodePort", "may only be set with externalTrafficPolicy Local")
	}
}
