package ibm_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
)

func allCases() []props.Case {
	return append(props.PortChanges(nil)[:2],
		props.Service("plain", nil),
		props.Service("proxied", withKeys("enable-features", "proxy-protocol", "vpc-idle-connection-timeout", "120")),
		props.Service("local", nil, props.Local),
		props.Service("checked", withKeys("vpc-health-check-protocol", "http", "vpc-health-check-path", "/live", "vpc-health-check-delay", "10", "vpc-health-check-timeout", "5", "vpc-health-check-retries", "3")),
		props.Service("one zone", withKeys("zone", "eu-de-2")),
		props.Service("two per zone", withKeys("vpc-member-quota", "1")),
	)
}

// networkCases are public network load balancers.
func networkCases() []props.Case {
	nlb := func(name string, change func(*corev1.ServiceSpec), pairs ...string) props.Case {
		return props.Service(name, withKeys(append([]string{"enable-features", "nlb"}, pairs...)...), change)
	}
	return []props.Case{
		nlb("nlb", func(*corev1.ServiceSpec) {}),
		nlb("nlb udp", props.UDP, "vpc-health-check-udp", "30080"),
		nlb("nlb local", props.Local),
		nlb("nlb ranges", useRange, "vpc-port-range", "8000-8010"),
		nlb("nlb wider range", useRange, "vpc-port-range", "8000-8020"),
		nlb("nlb checked", func(*corev1.ServiceSpec) {}, "vpc-health-check-protocol", "http", "vpc-health-check-path", "/live", "vpc-member-quota", "1"),
		nlb("nlb mixed", func(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }, "vpc-health-check-udp", "30080"),
	}
}

// useRange gives the Service a port from which a range can begin.
func useRange(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[0].NodePort = 8000, 31080 }

// pathCases are private path load balancers.
func pathCases() []props.Case {
	path := func(name string, change func(*corev1.ServiceSpec), pairs ...string) props.Case {
		return props.Service(name, withKeys(append([]string{"enable-features", "private-path"}, pairs...)...), change)
	}
	return []props.Case{
		path("path", func(*corev1.ServiceSpec) {}),
		path("path ranges", useRange, "vpc-port-range", "8000-8010"),
		path("path checked", func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }, "vpc-health-check-protocol", "http", "vpc-health-check-delay", "10"),
	}
}

// privateNetworkCases are private network load balancers, each in a subnet of its own.
func privateNetworkCases() []props.Case {
	nlb := func(name string, change func(*corev1.ServiceSpec)) props.Case {
		return props.Service(name, withKeys("enable-features", "nlb", "ip-type", "private", "vpc-subnets", "berthdemo-subnet-1"), change)
	}
	return []props.Case{nlb("private nlb", func(*corev1.ServiceSpec) {}), nlb("private nlb local", props.Local)}
}

// TestPropertiesNetwork holds network load balancers against what every cloud must be.
func TestPropertiesNetwork(t *testing.T) {
	for name, list := range map[string][]props.Case{"public": networkCases(), "private": privateNetworkCases(), "private path": pathCases()} {
		t.Run(name, func(t *testing.T) { props.Run(t, freshSubject(), list) })
	}
}

// TestProperties holds the provider against what every cloud must be.
func TestProperties(t *testing.T) { props.Run(t, freshSubject(), allCases()) }

// TestPropertiesPrivate: a private load balancer cannot become public, so it is moved to no
// public case.
func TestPropertiesPrivate(t *testing.T) {
	props.Run(t, freshSubject(), []props.Case{
		props.Service("private", withKeys("ip-type", "private")),
		props.Service("private proxied", withKeys("ip-type", "private", "enable-features", "proxy-protocol")),
	})
}

// TestNoWriteWhileBusy: with load balancers that are busy for half a minute after each
// write, Services are served, changed and deleted without a refusal.
func TestNoWriteWhileBusy(t *testing.T) {
	opt := withNodes(3)
	opt.Busy, opt.Create = 30*time.Second, 2*time.Minute
	var many []props.Case
	for _, name := range []string{"a", "b", "c", "d"} {
		many = append(many, props.Service(name, nil))
	}
	onIBM().TogetherUnrefused(t, opt, many...)
}
