package openstack_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
)

// TestMistakes: the conditions of a Service that an application developer got wrong name the
// cause and the next step.
func TestMistakes(t *testing.T) {
	const internal = "service.beta.kubernetes.io/openstack-internal-load-balancer"
	const nowhere = "11111111-2222-3333-4444-555555555555"
	props.Mistakes(t, func(t testing.TB) props.Subject {
		s, ok := newSubject("")(t).(subject)
		s.beside = ok
		return s
	}, []props.Mistake{
		{Name: "internal under the other prefix", Annotations: prefixedKeys("internal-load-balancer", "true"), Says: []string{"would be open to the internet", "write " + internal + `: "true"`}},
		{Name: "internal with a capital letter", Annotations: map[string]string{internal: "True"}, Says: []string{`"True" is not legal`, `"true"`}},
		{Name: "a subnet by its name", Annotations: prefixedKeys("subnet-id", "private"), Says: []string{"Subnet private not found", "change " + prefix + "subnet-id"}},
		{Name: "a subnet that does not exist", Annotations: prefixedKeys("subnet-id", nowhere), Says: []string{nowhere + " not found", "change " + prefix + "subnet-id"}},
		{Name: "an external network that does not exist", Annotations: prefixedKeys("floating-network-id", nowhere), Says: []string{nowhere, "the id of an external network"}},
		{Name: "an algorithm with a hyphen", Annotations: prefixedKeys("lb-method", "round-robin"), Says: []string{`"round-robin" is not`, `"ROUND_ROBIN"`}},
		{Name: "the PROXY protocol beside the header", Annotations: prefixedKeys("x-forwarded-for", "true", "proxy-protocol", "v2"), Says: []string{"proxy-protocol", "one of the two"}},
		{Name: "a flavor that does not exist", Annotations: prefixedKeys("flavor-id", nowhere), Says: []string{"Invalid flavor_id", "change " + prefix + "flavor-id"}},
		{Name: "a floating IP of another project", Spec: func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.99" }, Says: []string{"203.0.113.99 is no floating IP of this project", "allocate it first"}},
		{Name: "a connection limit that is a word", Annotations: prefixedKeys("connection-limit", "many"), Says: []string{`"many" is not a whole number`, "from -1"}},
	})
}
