package azure_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestMistakes: the conditions of a Service that an application developer got wrong name the
// cause and the next step.
func TestMistakes(t *testing.T) {
	const prefix = "service.beta.kubernetes.io/azure-"
	az := func(pairs ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			out[prefix+pairs[i]] = pairs[i+1]
		}
		return out
	}
	address := func(ip string) func(*corev1.ServiceSpec) {
		return func(s *corev1.ServiceSpec) { s.LoadBalancerIP = ip }
	}
	props.Mistakes(t, func(t testing.TB) props.Subject {
		s, ok := newSubject(simazure.SeedOptions{Nodes: 2})(t).(subject)
		s.beside = ok
		return s
	}, []props.Mistake{
		{Name: "internal without the prefix", Annotations: map[string]string{"azure-load-balancer-internal": "true"}, Says: []string{"would be open to the internet", `azure-load-balancer-internal: "true"`}},
		{Name: "internal with another spelling", Annotations: az("lb-internal", "true"), Says: []string{"would be open to the internet", "looks like service.beta.kubernetes.io/azure-load-balancer-internal"}},
		{Name: "internal with the key of AWS", Annotations: map[string]string{"service.beta.kubernetes.io/aws-load-balancer-internal": "true"}, Says: []string{"has no effect on azure", "azure-load-balancer-internal"}},
		{Name: "internal with a word that is no bool", Annotations: az("load-balancer-internal", "yes"), Says: []string{`"yes" is not`, "for a public"}},
		{Name: "a subnet that does not exist", Annotations: az("load-balancer-internal", "true", "load-balancer-internal-subnet", "apps"), Says: []string{`"apps"`, "the name of a subnet"}},
		{Name: "an internal address outside of the subnet", Annotations: az("load-balancer-internal", "true"), Spec: address("192.168.7.7"), Says: []string{"192.168.7.7 does not belong to the range", "change spec.loadBalancerIP"}},
		{Name: "a public address that nobody has", Spec: address("20.1.2.3"), Says: []string{`"20.1.2.3" is the address of no public IP`, "azure-load-balancer-resource-group"}},
		{Name: "a private address for a public load balancer", Spec: address("10.1.2.3"), Says: []string{`"10.1.2.3" is no public address`, "azure-load-balancer-internal"}},
		{Name: "a public IP that does not exist", Annotations: az("pip-name", "shop-ip"), Says: []string{`"shop-ip" is no public IP`, "legal is the name of one that exists"}},
		{Name: "a resource group that does not exist", Annotations: az("load-balancer-resource-group", "nowhere"), Says: []string{`"nowhere"`, "a resource group that they may read"}},
		{Name: "a prefix that does not exist", Annotations: az("pip-prefix-id", "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p"), Says: []string{"publicIPPrefixes/p", "make sure that the referenced resource exists", "the value is from " + prefix + "pip-prefix-id"}},
		{Name: "a DNS label with capitals and an underscore", Annotations: az("dns-label-name", "My_Shop"), Says: []string{`"My_Shop"`, "letters, digits and hyphens"}},
		{Name: "an idle timeout out of range", Annotations: az("load-balancer-tcp-idle-timeout", "3"), Says: []string{`"3" is`, "from 4 to 100"}},
		{Name: "an idle timeout with a unit", Annotations: az("load-balancer-tcp-idle-timeout", "5m"), Says: []string{"is not a whole number", "from 4 to 100"}},
		{Name: "a service tag that does not exist", Annotations: az("allowed-service-tags", "My Office"), Says: []string{"is no service tag", "AzureCloud.WestEurope"}},
		{Name: "a range of clients that is none", Annotations: az("allowed-ip-ranges", "10.0.0.0/33"), Says: []string{`"10.0.0.0/33"`, "such as 10.0.0.0/8"}},
		{Name: "a probe protocol that is none", Annotations: az("load-balancer-health-probe-protocol", "grpc"), Says: []string{`"grpc" is not`, `"Http" or "Https"`}},
		{Name: "a probe interval that is too short", Annotations: az("load-balancer-health-probe-interval", "1"), Says: []string{`"1" is below 5`, "from 5 to 119"}},
	})
}
