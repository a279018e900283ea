package wire

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestLives takes a load balancer of every kind from nothing to each of its
// shapes and back to nothing. After each change a new read must show what was
// said to be there, and what a second plan would do is nothing.
func TestLives(t *testing.T) {
	type stage struct {
		name   string
		change func(*corev1.Service)
	}
	common := []stage{
		{"new", nil},
		{"another port", func(s *corev1.Service) {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "alt", Protocol: corev1.ProtocolTCP, Port: 8080, NodePort: 30081})
		}},
		{"many ports", func(s *corev1.Service) {
			for p := range int32(6) {
				s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "p" + string('a'+p), Protocol: corev1.ProtocolTCP, Port: 9000 + p, NodePort: 31000 + p})
			}
		}},
		{"source ranges", func(s *corev1.Service) { s.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24", "198.51.100.0/24"} }},
		{"affinity", func(s *corev1.Service) { s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP }},
		{"local", localPolicy},
		{"UDP", func(s *corev1.Service) {
			for i := range s.Spec.Ports {
				s.Spec.Ports[i].Protocol = corev1.ProtocolUDP
			}
		}},
		{"as at first", nil},
	}
	for _, kind := range slices.Sorted(maps.Keys(kindClasses())) {
		virtual.Run(t, kind, func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "")
			for _, s := range common {
				t.Log(s.name)
				r.arrive(testService(1, kindClasses()[kind], s.change))
			}
			r.leave(testService(1, kindClasses()[kind], nil))
		})
	}
}
