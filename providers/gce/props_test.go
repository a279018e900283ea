package gce_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/compute"
	"github.com/berth-lb/berth/test/sim/gce/simtest"
)

// subject is a simulated project with six nodes.
type subject struct {
	running *simtest.Running
	config  string // added to the cloud configuration
}

const cluster = "\n[berth]\ncluster-id = 0123456789abcdef\ncluster-uid = 0123456789abcdef\nkube-system-uid = 11111111-2222-3333-4444-555555555555\n"

func (s subject) Open(t testing.TB) providers.Bound {
	t.Helper()
	file := string(s.running.Cloud.Seed.CloudConf(s.running.URL)) + cluster + s.config
	cloud, problems, err := providers.EntryOf(gce.Cloud()).Open(t.Context(), bytes.NewReader([]byte(file)), providers.Env{Cluster: "kubernetes", Now: time.Now})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return cloud
}

func (s subject) Nodes() []nodeports.Node {
	var out []nodeports.Node
	for _, n := range s.running.Cloud.Seed.KubernetesNodes() {
		out = append(out, nodeports.Project(&n, func(string) bool { return true }))
	}
	return out
}

func (s subject) Control() *sim.Control { return &s.running.Cloud.Control }

func fresh(t *testing.T, config string) props.New {
	// The token server asks the metadata server first, which any simulator will do for.
	machine := simtest.Start(t, simgce.Options{})
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(machine.URL, "http://"))
	return func(t testing.TB) props.Subject {
		return subject{running: simtest.Start(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 6}, Compute: compute.Options{QuotaFactor: 10}}), config: config}
	}
}

// service is a Service as the API server would have completed it.
func service(name, class string, annotations map[string]string, changes ...func(*corev1.ServiceSpec)) props.Case {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: types.UID("5a0c1f6e-0000-4000-8000-000000000001"), Annotations: annotations},
		Spec: corev1.ServiceSpec{
			Type:                  corev1.ServiceTypeLoadBalancer,
			LoadBalancerClass:     new("networking.gke.io/" + class),
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster,
			SessionAffinity:       corev1.ServiceAffinityNone,
			IPFamilies:            []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{
				{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080},
				{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, NodePort: 30443},
			},
		},
	}
	for _, change := range changes {
		change(&svc.Spec)
	}
	return props.Case{Name: name, Service: svc}
}

func local(s *corev1.ServiceSpec) {
	s.ExternalTrafficPolicy, s.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyLocal, 31999
}

func udp(s *corev1.ServiceSpec) {
	for i := range s.Ports {
		s.Ports[i].Protocol = corev1.ProtocolUDP
	}
}

func mixed(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }

func dual(s *corev1.ServiceSpec) {
	s.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
}

func sticky(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP }

func cases() []props.Case {
	return []props.Case{
		service("target-pool", "l4-regional-external-legacy", nil),
		service("netlb", "l4-regional-external", nil),
		service("ilb-ig", "l4-regional-internal-legacy", nil),
		service("ilb-neg", "l4-regional-internal", nil),
		service("target-pool-local-udp", "l4-regional-external-legacy", nil, local, udp, sticky),
		service("netlb-mixed", "l4-regional-external", nil, mixed),
		service("ilb-ig-local", "l4-regional-internal-legacy", map[string]string{"networking.gke.io/internal-load-balancer-allow-global-access": "true"}, local),
		service("ilb-neg-mixed", "l4-regional-internal", nil, mixed, sticky),
		service("netlb-dual", "l4-regional-external", map[string]string{"networking.gke.io/load-balancer-subnet": "berth-demo-dual"}, dual),
		service("ilb-neg-dual", "l4-regional-internal", map[string]string{"networking.gke.io/load-balancer-subnet": "berth-demo-dual-internal"}, dual),
	}
}

func TestProperties(t *testing.T) { props.Run(t, fresh(t, ""), cases()) }

// TestPropertiesOtherFlags runs what the official controllers do with flags on.
func TestPropertiesOtherFlags(t *testing.T) {
	props.Run(t, fresh(t, "enable-l4-netlb-neg-default = true\nenable-l4-deny-firewall = true\nenable-l3-default-forwarding-rule-for-netlb-mixed-protocol = true\n"), []props.Case{
		service("netlb-neg-deny", "l4-regional-external", nil),
		service("target-pool-deny", "l4-regional-external-legacy", nil),
		service("netlb-neg-l3", "l4-regional-external", nil, mixed),
	})
}
