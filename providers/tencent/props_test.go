package tencent_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
)

// withUDP has one port of UDP.
func withUDP(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }

// tuned are settings of all listeners.
const tuned = `{"Scheduler":"LEAST_CONN","SessionExpireTime":60,"HealthCheck":{"IntervalTime":10,"HealthNum":4}}`

func allCases() []props.Case {
	return []props.Case{
		props.Service("plain", nil),
		props.Service("mixed", nil, withUDP),
		props.Service("tuned", map[string]string{kube + "service.listenerParameters": tuned, cloud + "prevent-loopback": "true", cloud + "pass-to-target": "true"}),
		props.Service("other ports", nil, func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[0].NodePort = 8080, 31080 }),
		props.Service("other node port", nil, func(s *corev1.ServiceSpec) { s.Ports[1].NodePort = 31443 }),
		props.Service("by http", map[string]string{cloud + "specify-protocol": `{"80":{"protocol":["HTTP"],"hosts":{"a.example.com":{},"b.example.com":{}}}}`}),
		props.Service("one host", map[string]string{cloud + "specify-protocol": `{"80":{"protocol":["HTTP"],"hosts":{"a.example.com":{}}}}`}),
	}
}

// TestProperties holds the provider against what every cloud must be.
func TestProperties(t *testing.T) { props.Run(t, freshSubject(), allCases()) }

// TestPropertiesInternal: an internal load balancer cannot become public, so it is moved to no public
// case.
func TestPropertiesInternal(t *testing.T) {
	subnet := onTencent().Start(t, withNodes(0)).Cloud.Seed.Subnets[0].ID
	props.Run(t, freshSubject(), []props.Case{
		props.Service("internal", map[string]string{kube + "qcloud-loadbalancer-internal-subnetid": subnet}),
		props.Service("internal tuned", map[string]string{kube + "qcloud-loadbalancer-internal-subnetid": subnet, kube + "service.listenerParameters": tuned}),
	})
}

// TestBusy: with writes that take seconds, no call is refused because of an earlier one.
func TestBusy(t *testing.T) {
	opt := withNodes(3)
	opt.Task = 3 * time.Second
	onTencent().TogetherUnrefused(t, opt, props.Service("a", nil), props.Service("b", nil), props.Service("c", nil), props.Service("d", nil))
}
