package openstack_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// TestPermissions holds docs/permissions/openstack.json against what is called when load
// balancers of all drivers are changed in everything that can change.
func TestPermissions(t *testing.T) {
	four := func(s *corev1.ServiceSpec) { s.Ports[1].Port = 8443 }
	given := func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.201" }
	internal := map[string]string{"service.beta.kubernetes.io/openstack-internal-load-balancer": "true"}
	certificate := prefixedKeys("default-tls-container-ref", "http://barbican.example"+startWorld(t, simopenstack.Options{}, "").running.Cloud.Seed.Certificate)
	walk := []props.Case{
		props.Service("plain", nil), props.Service("checked", prefixedKeys("enable-health-monitor", "true", "connection-limit", "10", "lb-method", "SOURCE_IP"), props.Local),
		props.Service("slower", prefixedKeys("enable-health-monitor", "true", "health-monitor-delay", "20"), props.Local), props.Service("other-port", nil, four),
		props.Service("internal", internal), props.Service("udp", prefixedKeys("floating-subnet", "public-b"), props.UDP),
		props.Service("certificate", certificate), props.Service("given", nil, given), props.Service("last", nil),
	}
	serial := []props.Case{props.Service("serial", prefixedKeys("enable-health-monitor", "true")), props.Service("other-port", nil, four)}
	permissions.Check(t, permissions.OpenStack(),
		permissions.Walk{Fresh: newSubject("subnet-id =\nfloating-network-id =\n" + managed), Cases: walk},
		permissions.Walk{Fresh: newSubject("provider-requires-serial-api-calls = true\ncascade-delete = false\n" + managed), Cases: serial},
	)
}
