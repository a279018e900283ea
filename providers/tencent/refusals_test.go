package tencent_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/account"
)

// TestRefused: what cannot be served is refused with the key, the value and what is legal, before
// anything is created.
func TestRefused(t *testing.T) {
	settings := kube + "service.listenerParameters"
	onTencent().Refused(t, withNodes(3), account.Refusals{
		"a number without a protocol for one of its ports": {withKey(protocols, `{"53":{"protocol":["UDP"]}}`), func(s *corev1.ServiceSpec) {
			s.Ports = append(s.Ports, corev1.ServicePort{Name: "dns", Protocol: corev1.ProtocolUDP, Port: 53, NodePort: 31053}, corev1.ServicePort{Name: "dns-tcp", Protocol: corev1.ProtocolTCP, Port: 53, NodePort: 31054})
		}, "has no protocol for the port dns-tcp (53/TCP)"},
		"broken JSON":                     {withKey(extensive, `{ Vip: "1.1.1.1" }`), nil, "is not a JSON object"},
		"JSON that is no object":          {withKey(extensive, `["Vip"]`), nil, "is not a JSON object"},
		"an unknown parameter":            {withKey(extensive, `{"VIP":"1.1.1.1"}`), nil, "has VIP, which is not a parameter"},
		"a parameter of the controller":   {withKey(extensive, `{"VpcId":"vpc-1"}`), nil, "has VpcId, which the controller sets"},
		"a number for a text":             {withKey(extensive, `{"Vip":1}`), nil, "has a number for Vip, which is a text"},
		"IPv6 without a subnet":           {withKey(extensive, `{"AddressIPVersion":"IPv6FullChain"}`), nil, "without a subnet"},
		"an unknown address version":      {withKey(extensive, `{"AddressIPVersion":"IPV8"}`), nil, "AddressIPVersion IPV8"},
		"a subnet of a public one":        {withKey(extensive, `{"SubnetId":"subnet-1"}`), nil, "has a SubnetId"},
		"a subnet that is no id":          {withKey(kube+"qcloud-loadbalancer-internal-subnetid", "96194"), nil, "is not an id that begins with subnet-"},
		"private without a subnet":        {withKey(opened+"type", "private"), nil, "needs a subnet"},
		"a subnet without private":        {withKey(opened+"type-internal-subnet-id", "subnet-k57djpow"), nil, "open to the internet"},
		"a classic one":                   {withKey(kube+"loadbalance-type", "yunapi_clb"), nil, "does not create any more"},
		"a load balancer that is missing": {withKey(kube+"tke-existed-lbid", "lb-none"), nil, "is not found in the region"},
		"a region without a network":      {withKey(cloud+"cross-region-id", away), nil, "has no network for a new load balancer"},
		"a region that is no region":      {withKey(cloud+"cross-region-id", "Chongqing 1"), nil, "is not the id of a region"},
		"an object of the controller":     {withKey(cloud+"tke-service-config", "shop-auto-service-config"), nil, "ends in -auto-service-config"},
		"target groups":                   {withKey(cloud+"target-groups", `[{"protocol":"TCP","port":80}]`), nil, "is not served yet"},
		"endpoints without a name":        {onTencent().Keys(direct, "true", sourceEndpoints, "{}"), nil, "has no name"},
		"a protocol that is unknown":      {withKey(protocols, `{"80":{"protocol":["TLS"]}}`), nil, `has the protocol "TLS"`},
		"protocols that are broken":       {withKey(protocols, `{80}`), nil, "is not a JSON object of ports"},
		"TLS without a Secret":            {withKey(protocols, `{"80":{"protocol":["TCP_SSL"]}}`), nil, "TCP_SSL without tls"},
		"HTTP without hosts":              {withKey(protocols, `{"80":{"protocol":["HTTP"]}}`), nil, "HTTP without hosts"},
		"QUIC at a port of TCP":           {withKey(protocols, `{"80":{"protocol":["QUIC"],"tls":"a"}}`), nil, "a protocol over that of the port"},
		"two protocols over TCP":          {withKey(protocols, `{"80":{"protocol":["TCP","HTTP"],"hosts":{"a.example.com":{}}}}`), nil, "two protocols over TCP"},
		"a setting that is unknown":       {withKey(settings, `{"Ports":[80]}`), nil, "has Ports, which is not a parameter"},
		"a setting out of range":          {withKey(settings, `{"HealthCheck":{"HealthNum":11}}`), nil, "is not a number from 2 to 10"},
		"a timeout above the interval":    {withKey(settings, `{"HealthCheck":{"TimeOut":10}}`), nil, "needs HealthCheck.IntervalTime above"},
		"an HTTP check without a domain":  {withKey(settings, `{"HealthCheck":{"CheckType":"HTTP"}}`), nil, "HttpCheckDomain"},
		"labels that are no selector":     {withKey(kube+"qcloud-loadbalancer-backends-label", "a in b"), nil, "is not a label selector"},
		"source ranges":                   {nil, func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.0.0.0/8"} }, "cannot be applied"},
		"an address":                      {nil, func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.7" }, "use Vip in"},
		"SCTP":                            {nil, func(s *corev1.ServiceSpec) { s.Ports[0].Protocol = corev1.ProtocolSCTP }, "has a protocol that load balancers of kind clb do not serve"},
		"51 ports": {nil, func(s *corev1.ServiceSpec) {
			for i := range int32(49) {
				s.Ports = append(s.Ports, corev1.ServicePort{Name: fmt.Sprint("p", i), Protocol: corev1.ProtocolTCP, Port: 9000 + i, NodePort: 31000 + i})
			}
		}, "has 51 ports, more than the 50 listeners"},
	})
}

// TestImmutable: a change that a live load balancer cannot take over is refused, and its targets follow
// the nodes.
func TestImmutable(t *testing.T) {
	onTencent().Immutable(t, withNodes(4), nil, map[string]map[string]string{
		"internal": withKey(kube+"qcloud-loadbalancer-internal-subnetid", "subnet-1"), "another network": withKey(cloud+"cross-vpc-id", "vpc-mjekzyps"), "an existing load balancer": withKey(kube+"tke-existed-lbid", "lb-1"),
		"another region": withKey(cloud+"cross-region-id", "ap-chongqing"), "a key that is not served": withKey(cloud+"hybrid-type", "CCN"), "broken JSON": withKey(kube+"service.extensiveParameters", "{"),
	})
}
