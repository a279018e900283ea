package openstack_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/mutate"
)

type fuzzed = common.Fuzzed[model.Config, *model.Facts]

const configText = "[LoadBalancer]\nsubnet-id = s-1\nfloating-network-id = n-1\nmanage-security-groups = true\ncreate-monitor = true\n" +
	"[LoadBalancerClass \"public\"]\nfloating-subnet-tags = fast\n"

// fuzzer is one Service in a cluster of three nodes.
func fuzzer(testing.TB) common.Fuzzer[model.Config, *model.Facts] {
	cloud := openstack.Cloud()
	return common.Fuzzer[model.Config, *model.Facts]{
		Cloud: &cloud, Cases: 1, Case: func(t testing.TB, _ int) fuzzed { return fuzzWorld(t) },
		Found: func(want, _ *stack.Stack) *stack.Stack { return asFound(want) },
	}
}

// asFound is what is wanted as a read brings it.
func asFound(want *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: want.Owner}
	for _, r := range want.Resources {
		r.ID, r.Proof = "id-of-"+r.Key.String(), stack.Name
		out.Put(r)
	}
	return out
}

func fuzzWorld(t testing.TB) fuzzed {
	config := common.Config(t, model.ReadConfig, configText)
	config.Features = model.Features{Tags: true, Ranges: true, Timeouts: true, Flavors: true, Zones: true}
	var nodes []corev1.Node
	facts := &model.Facts{External: "n-1", NodeSubnets: map[string]string{}, Subnets: map[string]model.Subnet{
		"s-1": {ID: "s-1", Network: "n-2", CIDR: netip.MustParsePrefix("10.0.0.0/24")}, "s-2": {ID: "s-2", Network: "n-1"},
	}}
	for i := range 3 {
		ip := fmt.Sprintf("10.0.0.%d", i+1)
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}, Spec: corev1.NodeSpec{ProviderID: fmt.Sprint("openstack:///", i)}}
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}}
		nodes, facts.NodeSubnets[ip] = append(nodes, n), "s-1"
	}
	base := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "0a1b"}}
	base.Spec.Type, base.Spec.IPFamilies = corev1.ServiceTypeLoadBalancer, []corev1.IPFamily{corev1.IPv4Protocol}
	base.Spec.Ports = []corev1.ServicePort{{Name: "a", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 31080}, {Name: "b", Protocol: corev1.ProtocolUDP, Port: 53, NodePort: 31053}}
	cloud := openstack.Cloud()
	return fuzzed{
		Name: "web", Service: base, Facts: facts, Have: &stack.Stack{}, Book: common.ReadyLedger(),
		Input: func(svc *corev1.Service) (providers.Input[model.Config], annotations.Problems) {
			return common.Input(&cloud, config, svc, common.Around{Cluster: "kubernetes", Nodes: nodes})
		},
	}
}

// sized is a Service that can be made as large as one likes.
func sized(t testing.TB) (common.Fuzzer[model.Config, *model.Facts], fuzzed) {
	return fuzzer(t), fuzzWorld(t)
}

func FuzzBuild(f *testing.F) { fuzzer(f).Build(f) }

func FuzzCompare(f *testing.F) { fuzzer(f).Compare(f) }

func FuzzRead(f *testing.F) { fuzzer(f).Read(f) }

// FuzzConfig reads any cloud configuration without a panic.
func FuzzConfig(f *testing.F) {
	mutate.Add(f, 60, configText)
	mutate.Add(f, 60, "[LoadBalancer]\nmonitor-delay = x\nnode-selector = =,=\n")
	f.Fuzz(func(_ *testing.T, text string) { _, _, _ = model.ReadConfig(strings.NewReader(text)) })
}

// TestGrowth: ten times the ports x ranges are at most ten times the work.
func TestGrowth(t *testing.T) {
	z, c := sized(t)
	common.NearLinear(t, c.Service, z.Planned(t, c, nil))
}

// TestLargest: the largest Service of the kind takes little, and ends with its time.
func TestLargest(t *testing.T) {
	z, c := sized(t)
	z.Bounded(t, c)
}

func BenchmarkSizes(b *testing.B) {
	z, c := sized(b)
	common.BenchmarkSizes(b, c.Service, z.Planned(b, c, nil))
}
