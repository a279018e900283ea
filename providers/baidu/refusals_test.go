package baidu_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/account"
)

// TestRefused: what cannot be served is refused with the key, the value and what is legal, before
// anything is created.
func TestRefused(t *testing.T) {
	onBaidu().Refused(t, withNodes(3), account.Refusals{
		"an id that is none":              {withKey(lb+"id", "2c3c5a4f"), nil, "is not an id that begins with lb-"},
		"a load balancer that is missing": {withKey(lb+"id", "lb-none"), nil, "is not found in the region"},
		"a normal one":                    {withKey(kube+"cce-blb-type", "blb"), nil, "asks for a normal load balancer"},
		"an unknown kind":                 {withKey(kube+"cce-blb-type", "alb"), nil, "is not"},
		"a name that is none":             {withKey(lb+"lb-name", "1shop"), nil, "is not a name"},
		"no months":                       {withKey(eip+"payment-timing", "Prepaid"), nil, "needs the number of months"},
		"too much by bandwidth":           {map[string]string{eip + "billing-method": "ByBandwidth", eip + "bandwidth-in-mbps": "300"}, nil, "is more than an address has"},
		"a threshold out of range":        {withKey(lb+"unhealthy-threshold", "6"), nil, "2 to 5"},
		"51 servers":                      {withKey(lb+"rs-max-num", "51"), nil, "1 to 50"},
		"an unknown scheduler":            {withKey(lb+"scheduler", "Random"), nil, "RoundRobin"},
		"source ranges":                   {nil, func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.0.0.0/8"} }, "cannot be applied"},
		"SCTP":                            {nil, func(s *corev1.ServiceSpec) { s.Ports[0].Protocol = corev1.ProtocolSCTP }, "has a protocol that load balancers of kind appblb do not serve"},
		"an address of IPv6":              {nil, func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "2001:db8::1" }, "is not a public address of IPv4"},
	})
}

// TestImmutable: a change that a live load balancer cannot take over is refused, and its backends follow
// the nodes.
func TestImmutable(t *testing.T) {
	onBaidu().Immutable(t, withNodes(4), nil, map[string]map[string]string{
		"internal": withKey(lb+"internal-vpc", "true"), "an existing load balancer": withKey(lb+"id", "lb-1"), "another subnet": withKey(lb+"subnet-id", "sbn-1"),
		"another payment": withKey(eip+"billing-method", "ByBandwidth"), "a value out of range": withKey(lb+"healthy-threshold", "9"),
	})
}
