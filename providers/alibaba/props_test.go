package alibaba_test

import (
	"bytes"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/alibaba/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// subject is a simulated account.
type subject struct{ running *simtest.Running }

func (s subject) Open(t testing.TB) providers.Bound {
	t.Helper()
	cloud, problems, err := providers.EntryOf(alibaba.Cloud()).Open(t.Context(), bytes.NewReader(s.running.Cloud.Seed.CloudConf(s.running.URL)), envOf())
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return cloud
}

func (s subject) Nodes() []nodeports.Node {
	return props.Project(s.running.Cloud.Seed.KubernetesNodes())
}

func (s subject) Cloud() providers.Entry { return providers.EntryOf(alibaba.Cloud()) }

func (s subject) KubernetesNodes() []corev1.Node { return s.running.Cloud.Seed.KubernetesNodes() }

func (s subject) Control() *sim.Control { return &s.running.Cloud.Control }

func startCloud(t testing.TB, opt simalibaba.Options) subject {
	t.Helper()
	return subject{simtest.Start(t, opt)}
}

func freshSubject(t testing.TB) props.Subject {
	return startCloud(t, simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: 6}})
}

const (
	domain = "service.beta.kubernetes.io/"
	prefix = domain + "alibaba-cloud-loadbalancer-"
)

// withKeys are annotations under the prefix of the load balancers.
func withKeys(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		out[prefix+pairs[i]] = pairs[i+1]
	}
	return out
}

// withUDP has one port of UDP.
func withUDP(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }

func allCases() []props.Case {
	return []props.Case{
		props.Service("plain", nil),
		props.Service("mixed", nil, withUDP),
		props.Service("tuned", withKeys("scheduler", "wlc", "persistence-timeout", "60", "connection-drain", "on", "connection-drain-timeout", "30", "proxy-protocol", "on", "additional-resource-tags", "Team=web", "name", "shop")),
		props.Service("checked", withKeys("health-check-type", "http", "health-check-uri", "/live", "health-check-interval", "5", "healthy-threshold", "4", "unhealthy-threshold", "5", "health-check-connect-timeout", "7")),
		props.Service("by http", withKeys("protocol-port", "http:80", "idle-timeout", "30", "health-check-flag", "on", "health-check-method", "get")),
		props.Service("other ports", nil, func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[0].NodePort = 8080, 31080 }),
		props.Service("other node port", withKeys("default-weight", "50"), func(s *corev1.ServiceSpec) { s.Ports[1].NodePort = 31443 }),
		props.Service("by size", withKeys("instance-charge-type", "PayBySpec", "spec", "slb.s2.small", "charge-type", "paybybandwidth", "bandwidth", "20")),
	}
}

// TestProperties holds the provider against what every cloud must be.
func TestProperties(t *testing.T) { props.Run(t, freshSubject, allCases()) }

// TestPropertiesIntranet: an intranet load balancer cannot become public, so it is moved to no
// public case. The first configured vSwitch has no free address.
func TestPropertiesIntranet(t *testing.T) {
	props.Run(t, freshSubject, []props.Case{
		props.Service("intranet", withKeys("address-type", "intranet")),
		props.Service("intranet tuned", withKeys("address-type", "intranet", "scheduler", "wrr")),
	})
}

// TestBusy: with load balancers that are busy for seconds after each write, for reads as well,
// Services are served, changed and deleted.
func TestBusy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := startCloud(t, simalibaba.Options{Busy: 2 * time.Second, BusyReads: true, Seed: simalibaba.SeedOptions{Nodes: 3}})
		var many []props.Case
		for _, name := range []string{"a", "b", "c", "d"} {
			many = append(many, props.Service(name, nil))
		}
		props.Together(t, s, many)
	})
}

// envOf is what the program gives a session.
func envOf() providers.Env { return providers.Env{Cluster: "kubernetes", Now: time.Now} }
