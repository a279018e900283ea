package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/mutate"
)

func TestLoadBalancerName(t *testing.T) {
	tests := map[string]string{
		"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0": "a0f1e2d3c4b5a69788796a5b4c3d2e1f",
		"short":                                "ashort",
		"":                                     "a",
	}
	for uid, want := range tests {
		if got := LoadBalancerName(uid); got != want {
			t.Errorf("loadBalancerName(%q) = %q, want %q", uid, got, want)
		}
	}
}

// TestTargetGroupName has the vectors of the official controller's own tests.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer_test.go.
func TestTargetGroupName(t *testing.T) {
	tests := []struct {
		cluster, namespace, name string
		port, nodePort           int32
		protocol, targetType     string
		want                     string
	}{
		{"cluster-a", "default", "service-a", 80, 8080, "TCP", "instance", "k8s-default-servicea-7fa2e07508"},
		{"cluster-a", "default", "service-a", 80, 8080, "UDP", "instance", "k8s-default-servicea-3868761686"},
		{"cluster-a", "default", "service-a", 80, 8080, "TCP", "ip", "k8s-default-servicea-0fa31f4b0f"},
		{"cluster-a", "default", "service-a", 9090, 8080, "TCP", "instance", "k8s-default-servicea-06876706cb"},
		{"cluster-a", "default", "service-a", 80, 9090, "TCP", "instance", "k8s-default-servicea-119f844ec0"},
		{"cluster-b", "default", "service-a", 80, 8080, "TCP", "instance", "k8s-default-servicea-719ee635da"},
		{"cluster-a", "another", "service-a", 80, 8080, "TCP", "instance", "k8s-another-servicea-f66e09847d"},
		{"cluster-a", "default", "service-b", 80, 8080, "TCP", "instance", "k8s-default-serviceb-196c19c881"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			group := TargetGroup{Port: tt.nodePort, Protocol: tt.protocol, TargetType: tt.targetType}
			// The vectors were made without a health check, for which the
			// interval 0 is written.
			if got := TargetGroupName(tt.cluster, stack.Owner{Namespace: tt.namespace, Name: tt.name}, tt.port, group); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestManagedGroupName(t *testing.T) {
	tests := []struct {
		cluster string
		owner   stack.Owner
		want    string
	}{
		{"test-cluster", stack.Owner{Namespace: "default", Name: "my-service", UID: "12345678-1234-1234-1234-123456789abc"}, "k8s-default-myservic-b7cb8b02f0"},
		{"test-cluster", stack.Owner{Namespace: "kube-system", Name: "my-service-123", UID: "87654321-4321-4321-4321-cba987654321"}, "k8s-kubesyst-myservic-5aa269aeaf"},
		{"test", stack.Owner{Namespace: "___@@@___", Name: "---***---", UID: "special-uid"}, "k8s---a9ace1b206"},
	}
	for _, tt := range tests {
		if got := ManagedGroupName(tt.cluster, tt.owner); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestFixedTexts(t *testing.T) {
	o := stack.Owner{Namespace: "shop", Name: "web", UID: "u-1"}
	got := []string{
		OwnGroupName("au1"), ownGroupDescription("au1", o), ManagedGroupDescription,
		ProxyPolicyName, sslPolicyName("X-2016"), ClientDescription("au1"), HealthDescription("au1"), RuleMTU,
		TargetGroupPrefix(o), PortKey(corev1.ProtocolTCP, 80), PortSlot(80),
		NodeRuleKey("sg-n", Permission{Protocol: "tcp", FromPort: 1, ToPort: 2, CIDR: "10.0.0.0/8"}, "").Name,
		NodeRuleKey("sg-n", Permission{Protocol: "-1", Source: stack.RefTo(stack.Key{Kind: KindGroup})}, "k8s-elb-au1").Name,
		NodeRuleKey("sg-n", Permission{Protocol: "-1", Source: stack.RefID("sg-x")}, "").Name,
	}
	want := []string{
		"k8s-elb-au1", "Security group for Kubernetes ELB au1 (shop/web)", "[k8s] Managed SecurityGroup for LoadBalancer",
		"k8s-proxyprotocol-enabled", "k8s-SSLNegotiationPolicy-X-2016", "kubernetes.io/rule/nlb/client=au1", "kubernetes.io/rule/nlb/health=au1", "kubernetes.io/rule/nlb/mtu",
		"k8s-shop-web-", "tcp-80", "port 80",
		"sg-n/tcp/1-2/10.0.0.0/8", "sg-n/-1/0-0/k8s-elb-au1", "sg-n/-1/0-0/sg-x",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("texts (-want +got):\n%s", d)
	}
}

func TestClusterTag(t *testing.T) {
	plain, legacy := ClusterTag{ID: "shop"}, ClusterTag{ID: "shop", Legacy: true}
	tests := []struct {
		name        string
		cluster     ClusterTag
		tags        Tags
		marks, owns bool
		other       string
	}{
		{"owned", plain, Tags{"kubernetes.io/cluster/shop": "owned"}, true, true, ""},
		{"shared", plain, Tags{"kubernetes.io/cluster/shop": "shared"}, true, false, ""},
		{"legacy tag of a plain cluster", plain, Tags{"KubernetesCluster": "shop"}, true, true, ""},
		{"legacy", legacy, Tags{"KubernetesCluster": "shop"}, true, true, ""},
		{"other", plain, Tags{"kubernetes.io/cluster/b": "owned", "kubernetes.io/cluster/a": "shared"}, false, false, "a"},
		{"both", plain, Tags{"kubernetes.io/cluster/shop": "shared", "kubernetes.io/cluster/a": "owned"}, true, false, ""},
		{"no id", ClusterTag{}, Tags{"kubernetes.io/cluster/a": "owned"}, true, false, ""},
		{"none", plain, nil, false, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.cluster.Marks(tt.tags); got != tt.marks {
				t.Errorf("Marks = %t, want %t", got, tt.marks)
			}
			if got := tt.cluster.Owns(tt.tags); got != tt.owns {
				t.Errorf("Owns = %t, want %t", got, tt.owns)
			}
			if got := tt.cluster.Other(tt.tags); got != tt.other {
				t.Errorf("Other = %q, want %q", got, tt.other)
			}
		})
	}
}

func TestClusterTagFrom(t *testing.T) {
	tests := []struct {
		name string
		tags Tags
		want ClusterTag
		bad  bool
	}{
		{"new", Tags{"kubernetes.io/cluster/shop": "owned", "Name": "n"}, ClusterTag{ID: "shop"}, false},
		{"legacy", Tags{"KubernetesCluster": "shop"}, ClusterTag{ID: "shop", Legacy: true}, false},
		{"both", Tags{"KubernetesCluster": "shop", "kubernetes.io/cluster/shop": "owned"}, ClusterTag{ID: "shop", Legacy: true}, false},
		{"differ", Tags{"KubernetesCluster": "a", "kubernetes.io/cluster/b": "owned"}, ClusterTag{}, true},
		{"two", Tags{"kubernetes.io/cluster/a": "owned", "kubernetes.io/cluster/b": "owned"}, ClusterTag{}, true},
		{"none", nil, ClusterTag{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ClusterTagFrom(tt.tags)
			if (err != nil) != tt.bad || got != tt.want {
				t.Errorf("got %+v, %v; want %+v, error %t", got, err, tt.want, tt.bad)
			}
		})
	}
}

func FuzzNames(f *testing.F) {
	mutate.Add(f, 200, "shop", "web", "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "kubernetes", int32(80), int32(31080))
	mutate.Add(f, 200, "äöü", "--", "", "", int32(-1), int32(0))
	f.Fuzz(func(t *testing.T, namespace, name, uid, cluster string, port, nodePort int32) {
		o := stack.Owner{Namespace: namespace, Name: name, UID: uid}
		for _, n := range []string{
			TargetGroupName(cluster, o, port, TargetGroup{Port: nodePort}), ManagedGroupName(cluster, o),
		} {
			if len(n) > maxNameLength {
				t.Errorf("%q is longer than %d characters", n, maxNameLength)
			}
			if !strings.HasPrefix(n, TargetGroupPrefix(o)) {
				t.Errorf("%q does not begin with %q", n, TargetGroupPrefix(o))
			}
			if strings.ContainsFunc(n, func(r rune) bool { return r > 'z' || r < '-' }) {
				t.Errorf("%q has characters that AWS refuses", n)
			}
		}
		if n := LoadBalancerName(uid); len(n) > maxNameLength || strings.Contains(n, "-") {
			t.Errorf("load balancer name %q", n)
		}
	})
}
