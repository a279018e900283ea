package e2e

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// change makes a Service.
type change func(*corev1.Service)

// setAnnotation sets an annotation; an empty value removes it. Keys without a domain
// are those of AWS.
func setAnnotation(key, value string) change {
	if !strings.Contains(key, "/") {
		key = "service.beta.kubernetes.io/aws-load-balancer-" + key
	}
	return func(svc *corev1.Service) {
		if svc.Annotations == nil {
			svc.Annotations = map[string]string{}
		}
		svc.Annotations[key] = value
		if value == "" {
			delete(svc.Annotations, key)
		}
	}
}

func useNetworkType(svc *corev1.Service) { setAnnotation("type", "nlb")(svc) }

func setClass(name string) change {
	return func(svc *corev1.Service) { svc.Spec.LoadBalancerClass = &name }
}

// setPorts replaces the ports by some of TCP, given as number and node port.
func setPorts(pairs ...int32) change {
	return func(svc *corev1.Service) {
		svc.Spec.Ports = nil
		for i := 0; i < len(pairs); i += 2 {
			svc.Spec.Ports = append(svc.Spec.Ports, newPort(corev1.ProtocolTCP, pairs[i], pairs[i+1]))
		}
	}
}

func newPort(protocol corev1.Protocol, number, nodePort int32) corev1.ServicePort {
	name := fmt.Sprintf("%s-%d", strings.ToLower(string(protocol)), number)
	return corev1.ServicePort{Name: name, Protocol: protocol, Port: number, NodePort: nodePort, TargetPort: intstr.FromInt32(8080)}
}

func policyLocal(svc *corev1.Service) {
	svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
}

func policyCluster(svc *corev1.Service) {
	svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyCluster, 0
}

// service is a Service that asks for a load balancer for port 80.
func (w *world) service(name string, changes ...change) corev1.Service {
	svc := corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{"app": name},
			Ports: []corev1.ServicePort{newPort(corev1.ProtocolTCP, 80, 0)},
		},
	}
	for _, c := range changes {
		c(&svc)
	}
	return svc
}
