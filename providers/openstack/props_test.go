package openstack_test

import (
	"bytes"
	"cmp"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/providers/openstack"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/openstack/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// subject is a simulated project with six nodes.
type subject struct {
	beside  bool // the annotations of the other clouds are known, as in the program
	running *simtest.Running
	cluster string // --cluster-name; empty: kubernetes
	config  string // added to the cloud configuration, whose last section is LoadBalancer
}

func (s subject) Open(t testing.TB) providers.Bound {
	t.Helper()
	file := string(s.running.Cloud.Seed.CloudConf(s.running.URL)) + s.config
	entry := entryOnce()
	if s.beside {
		var err error
		if entry, err = all.Find("openstack"); err != nil {
			t.Fatal(err)
		}
	}
	cloud, problems, err := entry.Open(t.Context(), bytes.NewReader([]byte(file)), providers.Env{Cluster: cmp.Or(s.cluster, "kubernetes"), Now: time.Now})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return cloud
}

// entryOnce returns the cloud with its declarations, which are parsed once.
var entryOnce = sync.OnceValue(func() providers.Entry { return providers.EntryOf(openstack.Cloud()) })

func (s subject) Nodes() []nodeports.Node {
	return props.Project(s.running.Cloud.Seed.KubernetesNodes())
}

func (s subject) Cloud() providers.Entry { return entryOnce() }

func (s subject) KubernetesNodes() []corev1.Node { return s.running.Cloud.Seed.KubernetesNodes() }

func (s subject) Control() *sim.Control { return &s.running.Cloud.Control }

// Answers implements props.Answering.
func (s subject) Answers() []int { return props.AllAnswers() }

// SetRole judges by access rules.
func (s subject) SetRole(t testing.TB, role []byte) {
	t.Helper()
	if err := s.running.Cloud.SetAccessRules(role); err != nil {
		t.Fatal(err)
	}
}

func newSubject(config string) props.New {
	return func(t testing.TB) props.Subject {
		opt := simopenstack.Options{Seed: simopenstack.SeedOptions{Nodes: 6, DualStack: true}}
		return subject{running: simtest.Start(t, opt), config: config}
	}
}

const prefix = "loadbalancer.openstack.org/"

// prefixedKeys returns annotations under the prefix of the load balancers.
func prefixedKeys(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		out[prefix+pairs[i]] = pairs[i+1]
	}
	return out
}

func useClientAffinity(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP }

func mixProtocols(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }

func propsCases() []props.Case {
	internal := map[string]string{"service.beta.kubernetes.io/openstack-internal-load-balancer": "true"}
	return []props.Case{
		props.Service("plain", nil),
		props.Service("internal", internal),
		props.Service("mixed-sticky", nil, mixProtocols, useClientAffinity),
		props.Service("local-checked", prefixedKeys("enable-health-monitor", "true"), props.Local),
		props.Service("http", prefixedKeys("x-forwarded-for", "true", "lb-method", "LEAST_CONNECTIONS", "connection-limit", "100")),
		props.Service("proxied", prefixedKeys("proxy-protocol", "v2", "timeout-client-data", "1000")),
		props.Service("ranges", nil, func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.0.0.0/8", "192.0.2.0/24"} }),
		props.Service("kept-elsewhere", prefixedKeys("keep-floatingip", "false", "member-subnet-id", "")),
		props.Service("floating-subnet", prefixedKeys("floating-subnet", "public-b"), props.UDP),
	}
}

func TestProperties(t *testing.T) { props.Run(t, newSubject(""), propsCases()) }

// TestPropertiesDrivers: drivers that take one part at a time, that do layer 4 only, and
// load balancers with addresses of IPv6.
func TestPropertiesDrivers(t *testing.T) {
	six := func(s *corev1.ServiceSpec) { s.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol} }
	for name, c := range map[string]struct {
		config string
		cases  []props.Case
	}{
		"serial": {"provider-requires-serial-api-calls = true\ncascade-delete = false\n", []props.Case{props.Service("serial", prefixedKeys("enable-health-monitor", "true"), props.Local)}},
		"ovn":    {"lb-provider = ovn\nlb-method = SOURCE_IP_PORT\n", []props.Case{props.Service("ovn", nil, mixProtocols)}},
		"ipv6":   {"subnet-id =\n" + managed, []props.Case{props.Service("ipv6", nil, six)}},
	} {
		t.Run(name, func(t *testing.T) { props.Run(t, newSubject(c.config), c.cases) })
	}
}

// TestSerial verifies that a driver that takes one part at a time gets no tree, no list of
// members and no cascading deletion. An added or removed node is one call for each pool.
func TestSerial(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, "provider-requires-serial-api-calls = true\ncascade-delete = false\n")
		svc := props.Service("web", prefixedKeys("enable-health-monitor", "true")).Service
		w.serve(svc)
		w.nodes = w.nodes[1:]
		w.process.SetNodes(w.nodes)
		w.serve(svc)
		w.release(svc)
		calls := w.Control().Journal.Counts()
		for name, want := range map[string]int{"CreateMember": 6, "DeleteMember": 2, "BatchUpdateMembers": 0, "DeletePool": 2, "DeleteListener": 2, "CreateHealthMonitor": 2} {
			if got := calls["load-balancer."+name]; got != want {
				t.Errorf("%s: %d, want %d", name, got, want)
			}
		}
		for _, e := range w.Control().Journal.Entries() {
			if e.Operation == "DeleteLoadBalancer" && e.Request["?cascade"] == "true" {
				t.Error("a load balancer is deleted with all below it")
			}
		}
	})
}

// TestPropertiesGivenAddress: a floating IP of the user's stays bound while the Service
// is external, as the official controller has it, so it is moved to no other case.
func TestPropertiesGivenAddress(t *testing.T) {
	props.Run(t, newSubject(""), []props.Case{
		props.Service("given-address", nil, func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.200" }),
		props.Service("other-address", nil, func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.201" }),
	})
}

// TestNoWriteWhileBusy: with load balancers that stay busy for half a second after each
// change, many Services at once are served and deleted without a single refusal, in
// about the time of one.
func TestNoWriteWhileBusy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		running := simtest.Start(t, simopenstack.Options{Busy: 500 * time.Millisecond, Seed: simopenstack.SeedOptions{Nodes: 3}})
		s := subject{running: running}
		var many []props.Case
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			many = append(many, props.Service(name, prefixedKeys("enable-health-monitor", "true")))
		}
		props.Together(t, s, many)
		for _, e := range running.Cloud.Journal.Entries() {
			if e.Status >= 400 {
				t.Errorf("%s %s was refused: %d %s", e.Service, e.Operation, e.Status, e.Code)
			}
		}
	})
}

// TestPlanned: what `berth plan` shows is what the controller does.
func TestPlanned(t *testing.T) {
	props.Planned(t, newSubject(""), propsCases(), props.Service("refused", prefixedKeys("timeout-client-data", "soon")), 60,
		96, 128, // the subnets of a floating IP
		160, 188, 319, 372) // health checks that were made with their load balancer
}
