package laws

import (
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// operate returns a Service after one operation, and the name of that.
func (q Sequences) operate(dice *rand.Rand, kind string, svc *corev1.Service, options []option) (*corev1.Service, string) {
	next := svc.DeepCopy()
	if len(options) == 0 || dice.IntN(4) == 0 {
		return next, q.change(dice, kind, next)
	}
	o := options[dice.IntN(len(options))]
	if _, given := next.Annotations[o.key]; given && dice.IntN(2) == 0 {
		delete(next.Annotations, o.key)
		return next, "no " + o.key
	}
	value := o.values[dice.IntN(len(o.values))]
	next.Annotations[o.key] = value
	return next, o.key + ": " + value
}

// change changes the specification of a Service.
func (q Sequences) change(dice *rand.Rand, kind string, svc *corev1.Service) string {
	spec, kind := &svc.Spec, q.kindOf(kind, svc)
	operations := []int{0, 1, 2, 3, 4, 5}
	if q.Capabilities == nil {
		operations = []int{0, 1, 2, 5}
	}
	switch operations[dice.IntN(len(operations))] {
	case 0:
		spec.Ports[1].Port = 444 + 443 - spec.Ports[1].Port
		return fmt.Sprint("port ", spec.Ports[1].Port)
	case 1:
		if q.NodePorts[kind] != "" {
			return "no change"
		}
		spec.Ports[0].NodePort = 31080 + 31081 - spec.Ports[0].NodePort
		return fmt.Sprint("node port ", spec.Ports[0].NodePort)
	case 2:
		if spec.LoadBalancerSourceRanges = nil; dice.IntN(2) == 0 {
			spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"}
		}
		return fmt.Sprint("ranges ", spec.LoadBalancerSourceRanges)
	case 3:
		return q.changePorts(dice, kind, spec)
	case 4:
		return q.changeAffinity(kind, spec)
	}
	if q.OnePolicy {
		return "no change"
	}
	if spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		spec.ExternalTrafficPolicy, spec.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyCluster, 0
	} else {
		spec.ExternalTrafficPolicy, spec.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyLocal, 31999
	}
	return "policy " + string(spec.ExternalTrafficPolicy)
}

// changePorts adds or removes the last port, or changes the protocol of the second one.
func (q Sequences) changePorts(dice *rand.Rand, kind string, spec *corev1.ServiceSpec) string {
	c, known := providers.CapabilityOf(q.Capabilities, kind)
	switch {
	case !known:
		return "no change"
	case c.Mixed && slices.Contains(c.Protocols, corev1.ProtocolUDP) && dice.IntN(2) == 0:
		if spec.Ports[1].Protocol = corev1.ProtocolTCP; dice.IntN(2) == 0 {
			spec.Ports[1].Protocol = corev1.ProtocolUDP
		}
		return fmt.Sprint("protocol ", spec.Ports[1].Protocol)
	case len(spec.Ports) > 2:
		spec.Ports = spec.Ports[:2]
	default:
		spec.Ports = append(spec.Ports, corev1.ServicePort{Name: "admin", Protocol: corev1.ProtocolTCP, Port: 8080, NodePort: 31880})
	}
	return fmt.Sprint(len(spec.Ports), " ports")
}

// changeAffinity toggles the session affinity, if the kind serves it.
func (q Sequences) changeAffinity(kind string, spec *corev1.ServiceSpec) string {
	if c, known := providers.CapabilityOf(q.Capabilities, kind); !known || !c.Affinity {
		return "no change"
	}
	if spec.SessionAffinity == corev1.ServiceAffinityNone {
		spec.SessionAffinity = corev1.ServiceAffinityClientIP
	} else {
		spec.SessionAffinity = corev1.ServiceAffinityNone
	}
	return "affinity " + string(spec.SessionAffinity)
}
