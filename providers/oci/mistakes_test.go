package oci_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
)

// TestMistakes: the conditions of a Service that an application developer got wrong name the
// cause and the next step.
func TestMistakes(t *testing.T) {
	nlb := func(pairs ...string) map[string]string {
		return annotationPairs(append([]string{prefix + "load-balancer-type", "nlb"}, pairs...)...)
	}
	props.Mistakes(t, func(t testing.TB) props.Subject {
		s, ok := newSubject(t).(subject)
		s.beside = ok
		return s
	}, []props.Mistake{
		{Name: "internal with another spelling", Annotations: annotationPairs("service.beta.kubernetes.io/oci-lb-internal", "true"), Says: []string{"would be open to the internet", "looks like " + oldPrefix + "internal"}},
		{Name: "internal with a word that is no bool", Annotations: annotationPairs(oldPrefix+"internal", "yes"), Says: []string{oldPrefix + "internal", `"yes" is not true or false`}},
		{Name: "internal with the key of the other product", Annotations: nlb(oldPrefix+"internal", "true"), Says: []string{"has no effect on nlb", "would be open to the internet", "write " + netPrefix + `internal: "true"`}},
		{Name: "internal on a public load balancer", Live: true, Annotations: annotationPairs(oldPrefix+"internal", "true"), Says: []string{oldPrefix + "internal", "true"}},
		{Name: "a subnet by its name", Annotations: annotationPairs(oldPrefix+"subnet1", "public"), Says: []string{`"public" is no OCID`, "the OCID of a subnet"}},
		{Name: "a subnet that does not exist", Annotations: annotationPairs(oldPrefix+"subnet1", "ocid1.subnet.oc1..none"), Says: []string{"ocid1.subnet.oc1..none", "legal is"}},
		{Name: "a flexible shape without its bounds", Annotations: annotationPairs(oldPrefix+"shape", "flexible"), Says: []string{"a flexible shape needs it", "shape-flex-min"}},
		{Name: "TLS without a Secret", Annotations: annotationPairs(oldPrefix+"ssl-ports", "443"), Says: []string{"ssl-ports", "tls-secret"}},
		{Name: "a Secret that does not exist", Annotations: annotationPairs(oldPrefix+"ssl-ports", "443", oldPrefix+"tls-secret", "web-tls"), Says: []string{"names Secret shop/web-tls", "tls-secret"}},
		{Name: "UDP on the load balancer of HTTP", Spec: props.UDP, Says: []string{"do not serve", prefix + "load-balancer-type"}},
		{Name: "an address that is not reserved", Spec: func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.99" }, Says: []string{"is no reserved public IPv4 address", "legal is"}},
	})
}
