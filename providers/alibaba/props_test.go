package alibaba_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// withUDP has one port of UDP.
func withUDP(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }

// defaultSeed returns the seed of the properties.
func defaultSeed() simalibaba.Seed {
	cloud, err := simalibaba.New(simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: 1}})
	if err != nil {
		panic(err)
	}
	return cloud.Seed
}

func allCases() []props.Case {
	return []props.Case{
		props.Service("plain", nil),
		props.Service("mixed", nil, withUDP),
		props.Service("tuned", withKeys("scheduler", "wlc", "persistence-timeout", "60", "connection-drain", "on", "connection-drain-timeout", "30", "proxy-protocol", "on", "additional-resource-tags", "Team=web", "name", "shop")),
		props.Service("checked", withKeys("health-check-type", "http", "health-check-uri", "/live", "health-check-interval", "5", "healthy-threshold", "4", "unhealthy-threshold", "5", "health-check-connect-timeout", "7")),
		props.Service("by http", withKeys("protocol-port", "http:80", "idle-timeout", "30", "health-check-flag", "on", "health-check-method", "get")),
		props.Service("other ports", nil, func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[0].NodePort = 8080, 31080 }),
		props.Service("other node port", withKeys("default-weight", "50"), func(s *corev1.ServiceSpec) { s.Ports[1].NodePort = 31443 }),
		props.Service("listed", withKeys("acl-status", "on", "acl-id", defaultSeed().Lists[0], "acl-type", "white")),
		props.Service("redirected", withKeys("protocol-port", "http:80,https:443", "cert-id", defaultSeed().Certificates[0], "forward-port", "80:443", "domain-extensions", "shop.example.com:"+defaultSeed().Certificates[1])),
		props.Service("by size", withKeys("instance-charge-type", "PayBySpec", "spec", "slb.s2.small", "charge-type", "paybybandwidth", "bandwidth", "20")),
	}
}

// TestProperties holds the provider against what every cloud must be.
func TestProperties(t *testing.T) { props.Run(t, freshSubject(), allCases()) }

// TestPropertiesIntranet: an intranet load balancer cannot become public, so it is moved to no
// public case. The first configured vSwitch has no free address.
func TestPropertiesIntranet(t *testing.T) {
	props.Run(t, freshSubject(), []props.Case{
		props.Service("intranet", withKeys("address-type", "intranet")),
		props.Service("intranet tuned", withKeys("address-type", "intranet", "scheduler", "wrr")),
	})
}

// TestBusy: with load balancers that are busy for seconds after each write, for reads as well,
// Services are served, changed and deleted.
func TestBusy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := onAlibaba().Subject(t, simalibaba.Options{Busy: 2 * time.Second, BusyReads: true, Seed: simalibaba.SeedOptions{Nodes: 3}})
		var many []props.Case
		for _, name := range []string{"a", "b", "c", "d"} {
			many = append(many, props.Service(name, nil))
		}
		props.Together(t, s, many)
	})
}
