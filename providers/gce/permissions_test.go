package gce_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
)

// TestPermissions holds docs/permissions/gce.yaml against what is called when a
// load balancer of each kind is changed in everything that can change. A Service
// keeps its class, so every kind is a walk of its own.
func TestPermissions(t *testing.T) {
	reserved := func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.1.0.0/16"} }
	global := map[string]string{"networking.gke.io/internal-load-balancer-allow-global-access": "true"}
	more := func(class string) []props.Case {
		return []props.Case{serviceCase("local", class, nil, props.Local, useClientAffinity), serviceCase("ranges", class, global, reserved), serviceCase("standard", class, map[string]string{"cloud.google.com/network-tier": "Standard"})}
	}
	var walks []permissions.Walk
	for _, c := range propsCases() {
		class := strings.TrimPrefix(*c.Service.Spec.LoadBalancerClass, "networking.gke.io/")
		walks = append(walks, permissions.Walk{Fresh: newSubject(""), Cases: append([]props.Case{c}, more(class)...)})
	}
	flags := "enable-l4-netlb-neg-default = true\nenable-l4-deny-firewall = true\nenable-l3-default-forwarding-rule-for-netlb-mixed-protocol = true\n"
	for _, class := range []string{"l4-regional-external", "l4-regional-internal"} {
		walks = append(walks, permissions.Walk{Fresh: newSubject(flags), Cases: append([]props.Case{serviceCase("plain", class, nil)}, more(class)...)})
	}
	permissions.Check(t, permissions.GCE(), walks...)
}
