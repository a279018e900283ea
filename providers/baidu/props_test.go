package baidu_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
)

// withUDP has one port of UDP.
func withUDP(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }

// tunedKeys are settings of all listeners and health checks.
func tunedKeys() map[string]string {
	return map[string]string{lb + "scheduler": "LeastConnection", lb + "health-check-interval": "5", lb + "unhealthy-threshold": "2"}
}

func allCases() []props.Case {
	return []props.Case{
		props.Service("plain", nil),
		props.Service("mixed", nil, withUDP),
		props.Service("tuned", tunedKeys()),
		props.Service("affinity", nil, func(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP }),
		props.Service("other ports", nil, func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[0].NodePort = 8080, 31080 }),
		props.Service("other node port", nil, func(s *corev1.ServiceSpec) { s.Ports[1].NodePort = 31443 }),
		props.Service("bandwidth", map[string]string{eip + "bandwidth-in-mbps": "20"}),
		props.Service("few nodes", map[string]string{lb + "rs-max-num": "2"}),
	}
}

// TestProperties holds the provider against what every cloud must be.
func TestProperties(t *testing.T) { props.Run(t, freshSubject(), allCases()) }

// TestPropertiesInternal: an internal load balancer cannot become public, so it is moved to no public
// case.
func TestPropertiesInternal(t *testing.T) {
	internal := map[string]string{lb + "internal-vpc": "true"}
	more := tunedKeys()
	more[lb+"internal-vpc"] = "true"
	props.Run(t, freshSubject(), []props.Case{props.Service("internal", internal), props.Service("internal tuned", more), props.Service("internal mixed", internal, withUDP)})
}

// TestBusy: with writes that take seconds, no call is refused because of an earlier one.
func TestBusy(t *testing.T) {
	opt := withNodes(3)
	opt.Busy = 3 * time.Second
	onBaidu().TogetherUnrefused(t, opt, props.Service("a", nil), props.Service("b", nil), props.Service("c", nil), props.Service("d", nil))
}
