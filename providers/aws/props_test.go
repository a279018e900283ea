package aws_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/providers/aws"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/iam"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
)

// subject is a simulated AWS with six nodes.
type subject struct {
	beside  bool // the annotations of the other clouds are known, as in the program
	running *simtest.Running
	config  string // added to the cloud configuration
	notes   providers.Notes
	pods    func(ctx context.Context, namespace string, labels map[string]string) ([]*corev1.Pod, error)
}

func (s subject) Open(t testing.TB) providers.Bound {
	t.Helper()
	file := append(s.running.Cloud.Seed.CloudConf(s.running.URL), s.config...)
	entry := entryOnce()
	if s.beside {
		var err error
		if entry, err = all.Find("aws"); err != nil {
			t.Fatal(err)
		}
	}
	cloud, problems, err := entry.Open(t.Context(), bytes.NewReader(file), providers.Env{Cluster: "kubernetes", Now: time.Now, Share: kit.Unlimited(), Notes: s.notes, Pods: s.pods})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return cloud
}

// entryOnce returns the cloud with its declarations, which are parsed once.
var entryOnce = sync.OnceValue(func() providers.Entry { return providers.EntryOf(aws.Cloud()) })

func (s subject) Nodes() []nodeports.Node {
	return props.Project(s.running.Cloud.Seed.KubernetesNodes())
}

func (s subject) Cloud() providers.Entry { return entryOnce() }

func (s subject) KubernetesNodes() []corev1.Node { return s.running.Cloud.Seed.KubernetesNodes() }

func (s subject) Control() *sim.Control { return &s.running.Cloud.Control }

// Answers implements props.Answering.
func (s subject) Answers() []int { return props.AllAnswers() }

// SetRole has the cloud judge by an IAM policy for the cluster.
func (s subject) SetRole(t testing.TB, role []byte) {
	t.Helper()
	props.Judge(t, bytes.ReplaceAll(role, []byte("CLUSTER_ID"), []byte(s.running.Cloud.Seed.ClusterID)), iam.Parse, s.running.Cloud.SetRole)
}

func newSubject(config string) props.New {
	return func(t testing.TB) props.Subject {
		s := subject{running: simtest.Start(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 6}}), config: config}
		s.SetRole(t, props.Role(t, "aws.json"))
		return s
	}
}

const prefix = "service.beta.kubernetes.io/"

// serviceCase returns a case with annotations of the cloud.
func serviceCase(name string, annotations map[string]string, change func(*corev1.ServiceSpec)) props.Case {
	return props.Service(name, props.Prefixed(prefix, annotations), change)
}

// certificates is what the names of those of the simulated account begin with; behind it stand 1 to 9 and a to c.
const certificates = "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000-4000-8000-00000000000"

const certificate = certificates + "1"

func propsCases() []props.Case {
	return []props.Case{
		serviceCase("clb", nil, nil),
		serviceCase("nlb", map[string]string{"aws-load-balancer-type": "nlb"}, nil),
		serviceCase("clb-tls", map[string]string{
			"aws-load-balancer-ssl-cert": certificate, "aws-load-balancer-ssl-ports": "https", "aws-load-balancer-backend-protocol": "http",
			"aws-load-balancer-ssl-negotiation-policy": "ELBSecurityPolicy-TLS-1-2-2017-01",
		}, nil),
		serviceCase("nlb-local-tls", map[string]string{
			"aws-load-balancer-type": "nlb", "aws-load-balancer-ssl-cert": certificate, "aws-load-balancer-ssl-ports": "443",
			"aws-load-balancer-cross-zone-load-balancing-enabled": "true",
		}, props.Local),
		serviceCase("clb-everything", map[string]string{
			"aws-load-balancer-proxy-protocol": "*", "aws-load-balancer-connection-idle-timeout": "120",
			"aws-load-balancer-connection-draining-enabled": "true", "aws-load-balancer-connection-draining-timeout": "60",
			"aws-load-balancer-access-log-enabled": "true", "aws-load-balancer-access-log-s3-bucket-name": "logs", "aws-load-balancer-access-log-emit-interval": "5",
			"aws-load-balancer-cross-zone-load-balancing-enabled": "true", "load-balancer-source-ranges": "10.1.0.0/16,192.0.2.0/24",
			"aws-load-balancer-additional-resource-tags": "team=shop,stage=test",
		}, nil),
		serviceCase("nlb-udp", map[string]string{"aws-load-balancer-type": "nlb"}, func(s *corev1.ServiceSpec) { props.Local(s); props.UDP(s) }),
		serviceCase("clb-internal-local", map[string]string{"aws-load-balancer-internal": "true"}, props.Local),
		serviceCase("nlb-internal-ranges", map[string]string{
			"aws-load-balancer-type": "nlb", "aws-load-balancer-internal": "true",
			"aws-load-balancer-target-group-attributes": "preserve_client_ip.enabled=false,proxy_protocol_v2.enabled=true",
			"aws-load-balancer-healthcheck-protocol":    "http", "aws-load-balancer-healthcheck-path": "/ready", "aws-load-balancer-healthcheck-port": "8080",
		}, func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.2.0.0/16"} }),
	}
}

// setCredentials sets arbitrary credentials: the simulator requires a signature and
// verifies none.
func setCredentials(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "simulated")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "simulated")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_MAX_ATTEMPTS", "1") // a crash ends all tries; without it the tests mostly wait
}

func TestProperties(t *testing.T) {
	setCredentials(t)
	props.Run(t, newSubject(""), propsCases())
}

func TestPropertiesManagedGroups(t *testing.T) {
	setCredentials(t)
	managed := serviceCase("nlb-managed", map[string]string{"aws-load-balancer-type": "nlb"}, nil)
	managedRanges := serviceCase("nlb-managed-ranges", map[string]string{"aws-load-balancer-type": "nlb", "load-balancer-source-ranges": "10.1.0.0/16"}, props.Local)
	props.Run(t, newSubject("\n[Global]\nNLBSecurityGroupMode = Managed\n"), []props.Case{managed, managedRanges})
}

// TestPlanned: what `berth plan` shows is what the controller does.
func TestPlanned(t *testing.T) {
	setCredentials(t)
	props.Planned(t, newSubject(""), propsCases(), serviceCase("refused", map[string]string{"aws-load-balancer-cross-zone-load-balancing-enabled": "perhaps"}, nil), 60,
		223,                // a part that exists from the beginning, and was never read
		372, 378, 379, 457) // unused policies
}
