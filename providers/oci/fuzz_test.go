package oci_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/oci"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/mutate"
)

type fuzzed = common.Fuzzed[model.Config, *model.Facts]

const configText = "compartment: ocid1.compartment.oc1..c\nvcn: ocid1.vcn.oc1..v\nloadBalancer: {subnet1: ocid1.subnet.oc1..a}\n"

// fuzzer is one Service in a cluster of three nodes.
func fuzzer(testing.TB) common.Fuzzer[model.Config, *model.Facts] {
	cloud := oci.Cloud()
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
	var nodes []corev1.Node
	subnet := func(id, cidr string) model.Subnet {
		return model.Subnet{ID: id, VCN: config.VCN, CIDR: netip.MustParsePrefix(cidr), CIDR6: []netip.Prefix{netip.MustParsePrefix("fd00::/64")}, List: "list-of-" + id}
	}
	front, behind := subnet("ocid1.subnet.oc1..a", "10.0.1.0/24"), subnet("ocid1.subnet.oc1..b", "10.0.0.0/24")
	facts := &model.Facts{
		Subnets: map[string]model.Subnet{front.ID: front, behind.ID: behind}, Machines: []model.Subnet{behind},
		Addresses: map[string]model.PublicIP{"192.0.2.7": {ID: "ocid1.publicip.oc1..p", Available: true}},
	}
	for i := range 3 {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}, Spec: corev1.NodeSpec{ProviderID: fmt.Sprint("ocid1.instance.oc1..", i)}}
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.0.%d", i+1)}}
		nodes = append(nodes, n)
	}
	base := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "0a1b"}}
	base.Spec.Type, base.Spec.IPFamilies = corev1.ServiceTypeLoadBalancer, []corev1.IPFamily{corev1.IPv4Protocol}
	base.Spec.Ports = []corev1.ServicePort{{Name: "a", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 31080}, {Name: "b", Protocol: corev1.ProtocolTCP, Port: 53, NodePort: 31053}}
	cloud := oci.Cloud()
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
	mutate.Add(f, 60, "auth: {region: x, key: [\"\"]}\nloadBalancer: {securityListManagementMode: All, securityLists: {a: b}}\nrateLimiter: {rateLimitQPSRead: -1}\n")
	f.Fuzz(func(_ *testing.T, text string) { _, _, _ = model.ReadConfig(strings.NewReader(text)) })
}

// TestLargest: the largest Service of the kind takes little, and ends with its time.
func TestLargest(t *testing.T) {
	z, c := sized(t)
	z.Bounded(t, c)
}
