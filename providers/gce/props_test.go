package gce_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/compute"
	"github.com/berth-lb/berth/test/sim/gce/simtest"
)

// subject is a simulated project with six nodes.
type subject struct {
	beside  bool // the annotations of the other clouds are known, as in the program
	running *simtest.Running
	config  string // added to the cloud configuration
}

const cluster = "\n[berth]\ncluster-id = 0123456789abcdef\ncluster-uid = 0123456789abcdef\nkube-system-uid = 11111111-2222-3333-4444-555555555555\n"

func (s subject) Open(t testing.TB) providers.Bound {
	t.Helper()
	file := string(s.running.Cloud.Seed.CloudConf(s.running.URL)) + cluster + s.config
	entry := entryOnce()
	if s.beside {
		var err error
		if entry, err = all.Find("gce"); err != nil {
			t.Fatal(err)
		}
	}
	cloud, problems, err := entry.Open(t.Context(), bytes.NewReader([]byte(file)), providers.Env{Cluster: "kubernetes", Now: time.Now})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return cloud
}

// entryOnce returns the cloud with its declarations, which are parsed once.
var entryOnce = sync.OnceValue(func() providers.Entry { return providers.EntryOf(gce.Cloud()) })

func (s subject) Nodes() []nodeports.Node {
	return props.Project(s.running.Cloud.Seed.KubernetesNodes())
}

func (s subject) Cloud() providers.Entry { return entryOnce() }

func (s subject) KubernetesNodes() []corev1.Node { return s.running.Cloud.Seed.KubernetesNodes() }

func (s subject) Control() *sim.Control { return &s.running.Cloud.Control }

func (s subject) Answers() []int { return props.AllAnswers() }

// SetRole has the cloud judge by a custom role.
func (s subject) SetRole(t testing.TB, role []byte) {
	t.Helper()
	props.Judge(t, role, simgce.ParseRole, s.running.Cloud.SetRole)
}

func newSubject(config string) props.New {
	return func(t testing.TB) props.Subject {
		s := subject{running: simtest.Start(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 6}, Compute: compute.Options{QuotaFactor: 10}}), config: config}
		s.SetRole(t, props.Role(t, "gce.yaml"))
		return s
	}
}

// serviceCase returns a case of a class of Google Cloud.
func serviceCase(name, class string, annotations map[string]string, changes ...func(*corev1.ServiceSpec)) props.Case {
	return props.Service(name, annotations, append(changes, func(s *corev1.ServiceSpec) { s.LoadBalancerClass = new("networking.gke.io/" + class) })...)
}

func mixProtocols(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }

func useClientAffinity(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP }

func propsCases() []props.Case {
	return []props.Case{
		serviceCase("target-pool", "l4-regional-external-legacy", nil),
		serviceCase("netlb", "l4-regional-external", nil),
		serviceCase("ilb-ig", "l4-regional-internal-legacy", nil),
		serviceCase("ilb-neg", "l4-regional-internal", nil),
		serviceCase("target-pool-local-udp", "l4-regional-external-legacy", nil, props.Local, props.UDP, useClientAffinity),
		serviceCase("netlb-mixed", "l4-regional-external", nil, mixProtocols),
		serviceCase("ilb-ig-local", "l4-regional-internal-legacy", map[string]string{"networking.gke.io/internal-load-balancer-allow-global-access": "true"}, props.Local),
		serviceCase("ilb-neg-mixed", "l4-regional-internal", nil, mixProtocols, useClientAffinity),
		serviceCase("netlb-dual", "l4-regional-external", map[string]string{"networking.gke.io/load-balancer-subnet": "berth-demo-dual"}, props.Dual),
		serviceCase("ilb-neg-dual", "l4-regional-internal", map[string]string{"networking.gke.io/load-balancer-subnet": "berth-demo-dual-internal"}, props.Dual),
	}
}

func TestProperties(t *testing.T) { props.Run(t, newSubject(""), propsCases()) }

// TestPropertiesOtherFlags runs what the official controllers do with flags on.
func TestPropertiesOtherFlags(t *testing.T) {
	props.Run(t, newSubject("enable-l4-netlb-neg-default = true\nenable-l4-deny-firewall = true\nenable-l3-default-forwarding-rule-for-netlb-mixed-protocol = true\n"), []props.Case{
		serviceCase("netlb-neg-deny", "l4-regional-external", nil),
		serviceCase("target-pool-deny", "l4-regional-external-legacy", nil),
		serviceCase("netlb-neg-l3", "l4-regional-external", nil, mixProtocols),
	})
}

// TestPlanned: what `berth plan` shows is what the controller does.
func TestPlanned(t *testing.T) {
	refused := serviceCase("refused", "l4-regional-external", map[string]string{"cloud.google.com/network-tier": "Gold"})
	props.Planned(t, newSubject(""), propsCases(), refused, 60,
		150, 342, 489, // a neighbour has taken the node out of the group before
		377, 485, // the firewall of a check that others use
		260, 452) // the subnet of an address of IPv6
}
