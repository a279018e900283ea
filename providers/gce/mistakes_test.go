package gce_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
)

// TestMistakes: the conditions of a Service that an application developer got wrong name the
// cause and the next step.
func TestMistakes(t *testing.T) {
	const internal = "networking.gke.io/load-balancer-type"
	one := func(key, value string) map[string]string { return map[string]string{key: value} }
	class := func(name string, change func(*corev1.ServiceSpec)) func(*corev1.ServiceSpec) {
		return func(s *corev1.ServiceSpec) {
			s.LoadBalancerClass = new("networking.gke.io/" + name)
			if change != nil {
				change(s)
			}
		}
	}
	address := func(ip string) func(*corev1.ServiceSpec) {
		return func(s *corev1.ServiceSpec) { s.LoadBalancerIP = ip }
	}
	props.Mistakes(t, func(t testing.TB) props.Subject {
		s, ok := newSubject("")(t).(subject)
		s.beside = ok
		return s
	}, []props.Mistake{
		{Name: "internal with a dash missing", Annotations: one("networking.gke.io/loadbalancer-type", "Internal"), Says: []string{"would be open to the internet", `write networking.gke.io/load-balancer-type: "Internal"`}},
		{Name: "internal without the prefix", Annotations: one("load-balancer-type", "Internal"), Says: []string{"would be open to the internet", "load-balancer-type"}},
		{Name: "internal with letters swapped in the value", Annotations: one(internal, "Intrenal"), Says: []string{`"Intrenal" is not legal`, `"Internal"`}},
		{Name: "a network tier with letters swapped in the key", Annotations: one("cloud.google.com/network-teir", "Standard"), Says: []string{"is not known, so it has", "cloud.google.com/network-tier?"}},
		{Name: "a network tier that does not exist", Annotations: one("cloud.google.com/network-tier", "Gold"), Says: []string{`"Gold" is not`, `"Premium" or "Standard"`}},
		{Name: "a network tier on an internal load balancer", Annotations: map[string]string{internal: "Internal", "cloud.google.com/network-tier": "Standard"}, Says: []string{"has no effect on ilb-ig", "netlb-rbs"}},
		{Name: "a subnet that does not exist", Annotations: map[string]string{internal: "Internal", "networking.gke.io/internal-load-balancer-subnet": "apps"}, Says: []string{`"apps" is no subnet`, "legal is one of"}},
		{Name: "a subnet of an external load balancer", Annotations: one("networking.gke.io/internal-load-balancer-subnet", "apps"), Says: []string{"has no effect on target-pool", "networking.gke.io/load-balancer-type: Internal"}},
		{Name: "global access of an external load balancer", Annotations: one("networking.gke.io/internal-load-balancer-allow-global-access", "true"), Says: []string{"on target-pool", "networking.gke.io/load-balancer-type: Internal"}},
		{Name: "an address that nobody reserved", Spec: address("203.0.113.7"), Says: []string{`"203.0.113.7" is neither reserved`, "legal is a reserved address"}},
		{Name: "an internal address outside of the subnet", Annotations: one(internal, "Internal"), Spec: address("192.168.7.7"), Says: []string{"is outside of the subnet default", "an address of 10.128.0.0/20"}},
		{Name: "an internal address for an external load balancer", Spec: address("10.128.0.99"), Says: []string{`"10.128.0.99" is neither reserved`, "legal is a reserved address"}},
		{Name: "a reserved address by a name that does not exist", Spec: class("l4-regional-external", nil), Annotations: one("networking.gke.io/load-balancer-ip-addresses", "shop-ip"), Says: []string{"which is no reserved address of the region", "of reserved addresses"}},
		{Name: "TCP and UDP on a target pool", Spec: mixProtocols, Says: []string{"mixes TCP and UDP", "cloud.google.com/l4-rbs"}},
		{Name: "a source range that is none", Spec: func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.0.0.0/33"} }, Says: []string{`"10.0.0.0/33" is not a list`, "CIDRs such as 10.0.0.0/8"}},
		{Name: "weights without the traffic policy Local", Spec: class("l4-regional-external", nil), Annotations: one("networking.gke.io/weighted-load-balancing", "pods-per-node"), Says: []string{"has no effect", "legal is externalTrafficPolicy Local"}},
		{Name: "the key of AWS", Annotations: one("service.beta.kubernetes.io/aws-load-balancer-internal", "true"), Says: []string{"has no effect on gce", "load-balancer-type"}},
	})
}
