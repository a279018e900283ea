package oci_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// SetRole judges by the statements of a policy.
func (s subject) SetRole(t testing.TB, role []byte) {
	t.Helper()
	if err := s.running.Cloud.SetPolicy(role); err != nil {
		t.Fatal(err)
	}
}

// TestPermissions holds docs/permissions/oci.txt against what is called when load
// balancers of both products are changed in everything that can change.
func TestPermissions(t *testing.T) {
	seed := simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 6, DualStack: true}}).Cloud.Seed
	four := func(s *corev1.ServiceSpec) { s.Ports[1].Port = 8443 }
	both := func(s *corev1.ServiceSpec) {
		s.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	}
	given := func(s *corev1.ServiceSpec) { s.LoadBalancerIP = seed.Addresses[0] }
	nlb := func(pairs ...string) map[string]string {
		return annotationPairs(append(pairs, prefix+"load-balancer-type", "nlb")...)
	}
	rules := prefix + "oci-load-balancer-rule-sets"
	http := oldPrefix + "backend-protocol"
	headers := func(value string) string {
		return `{"h": {"items": [{"action": "ADD_HTTP_REQUEST_HEADER", "header": "x-from", "value": "` + value + `"}]}}`
	}
	guards := prefix + "security-rule-management-mode"
	walk := []props.Case{
		props.Service("plain", nil), props.Service("flexible", annotationPairs(oldPrefix+"shape", "flexible", oldPrefix+"shape-flex-min", "10", oldPrefix+"shape-flex-max", "100")),
		props.Service("slower", annotationPairs(oldPrefix+"health-check-interval", "20000"), props.Local), props.Service("other-port", nil, four),
		props.Service("rules", annotationPairs(http, "HTTP", rules, headers("a"))), props.Service("other-rules", annotationPairs(http, "HTTP", rules, headers("b"))), props.Service("no-rules", annotationPairs(http, "HTTP", rules, "{}")),
		props.Service("group", annotationPairs(guards, "NSG", prefix+"oci-backend-network-security-group", seed.WorkerGroup)), props.Service("group-other", annotationPairs(guards, "NSG"), four),
		props.Service("last", nil, given), props.Service("pair", annotationPairs(prefix+"reserved-ips", seed.Addresses[0]+","+seed.Address6), both),
	}
	network := []props.Case{
		props.Service("nlb", nlb(netPrefix+"security-list-management-mode", "All")), props.Service("nlb-port", nlb(), four), props.Service("nlb-both", nlb(), both),
		props.Service("nlb-held", nlb(netPrefix+"internal", "true", netPrefix+"subnet", seed.Private.ID, prefix+"reserved-private-ips", seed.PrivateAddress)),
		props.Service("nlb-groups", nlb(netPrefix+"oci-network-security-groups", seed.Groups[0])), props.Service("moved", nil),
	}
	permissions.Check(t, permissions.OCI(), permissions.Walk{Fresh: newSubject, Cases: walk}, permissions.Walk{Fresh: newSubject, Cases: network})
}
