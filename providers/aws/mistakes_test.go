package aws_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
)

// TestMistakes: the conditions of a Service that an application developer got wrong name the
// cause and the next step.
func TestMistakes(t *testing.T) {
	setCredentials(t)
	const lb = "aws-load-balancer-"
	with := func(pairs ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			out[prefix+lb+pairs[i]] = pairs[i+1]
		}
		return out
	}
	class := func(s *corev1.ServiceSpec) { s.LoadBalancerClass = new("service.k8s.aws/nlb") }
	props.Mistakes(t, func(t testing.TB) props.Subject {
		s, ok := freshController(t).(podded)
		s.beside = ok
		return s
	}, []props.Mistake{
		{Name: "internal without the prefix", Annotations: map[string]string{"aws-load-balancer-internal": "true"}, Says: []string{"would be open to the internet", prefix + lb + `internal: "true"`}},
		{Name: "internal with a letter missing", Annotations: with("interal", "true"), Says: []string{"would be open to the internet", "looks like " + prefix + lb + "internal"}},
		{Name: "a scheme that is none", Annotations: with("scheme", "private"), Says: []string{`"private" is not legal`, `"internal"`}},
		{Name: "internal with the key of Google Cloud", Annotations: map[string]string{"networking.gke.io/load-balancer-type": "Internal"}, Says: []string{"has no effect on aws", prefix + lb + "internal"}},
		{Name: "internal with the key of an Ingress", Annotations: map[string]string{"alb.ingress.kubernetes.io/scheme": "internal"}, Says: []string{"would be open to the internet", prefix + lb + "internal"}},
		{Name: "internal on a public load balancer", Live: true, Annotations: with("internal", "true"), Says: []string{"cannot change", "delete the Service and create it again"}},
		{Name: "a type that is none", Annotations: with("type", "network"), Says: []string{`"network"`, `"nlb"`}},
		{Name: "a subnet that does not exist", Annotations: with("subnets", "subnet-0123456789abcdef0"), Says: []string{"subnet-0123456789abcdef0", "legal is"}},
		{Name: "a subnet by a name that does not exist", Spec: class, Annotations: with("subnets", "public-z"), Says: []string{"public-z", "legal is"}},
		{Name: "a security group by its name", Annotations: with("security-groups", "web"), Says: []string{`"web"`, "sg-"}},
		{Name: "a certificate by its name", Annotations: with("ssl-cert", "shop-cert"), Says: []string{`"shop-cert"`, "ARN of ACM or IAM"}},
		{Name: "a certificate that does not exist", Annotations: with("type", "nlb", "ssl-cert", certificates+"0", "ssl-ports", "443"), Says: []string{certificates + "0", "legal is"}},
		{Name: "a TLS port that the Service does not have", Annotations: with("ssl-cert", certificate, "ssl-ports", "8443"), Says: []string{"8443", "ssl-ports"}},
		{Name: "an idle timeout with a unit", Annotations: with("connection-idle-timeout", "60s"), Says: []string{"is not a whole number", "from 1 to 4000"}},
		{Name: "an idle timeout on a Network Load Balancer", Annotations: with("type", "nlb", "connection-idle-timeout", "60"), Says: []string{"has no effect on nlb", "only on clb"}},
		{Name: "an elastic address on a Classic Load Balancer", Annotations: with("eip-allocations", "eipalloc-0123456789abcdef0"), Says: []string{"has no effect on clb", "aws-load-balancer-type: nlb"}},
		{Name: "an elastic address that does not exist", Spec: class, Annotations: with("scheme", "internet-facing", "eip-allocations", "eipalloc-0123456789abcdef0,eipalloc-0123456789abcdef1,eipalloc-0123456789abcdef2"), Says: []string{"eipalloc-0123456789abcdef0", "legal is"}},
		{Name: "a health check interval that is too short", Annotations: with("healthcheck-interval", "3"), Says: []string{`"3" is below 5`, "from 5 to 300"}},
		{Name: "a path of a TCP health check", Annotations: with("type", "nlb", "healthcheck-path", "/ready"), Says: []string{"healthcheck-path", "healthcheck-protocol"}},
		{Name: "UDP on a Classic Load Balancer", Spec: props.UDP, Says: []string{"UDP", `aws-load-balancer-type: "nlb"`}},
		{Name: "an attribute without a value", Spec: class, Annotations: with("attributes", "deletion_protection.enabled"), Says: []string{"deletion_protection.enabled", "key=value"}},
		{Name: "an attribute that does not exist", Spec: class, Annotations: with("attributes", "deletion_protection=true"), Says: []string{"'deletion_protection' is not recognized", "change " + prefix + lb + "attributes"}},
		{Name: "an address in the specification", Spec: func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.7" }, Says: []string{"spec.loadBalancerIP", "eip-allocations"}},
		{Name: "a source range that is none", Annotations: map[string]string{prefix + "load-balancer-source-ranges": "10.0.0.0/33"}, Says: []string{"10.0.0.0/33", "CIDRs such as 10.0.0.0/8"}},
	})
}
