package openstack_test

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/openstack"
	"github.com/berth-lb/berth/providers/openstack/model"
	common "github.com/berth-lb/berth/test/cases"
)

const configText = "[LoadBalancer]\nsubnet-id = s-1\nfloating-network-id = n-1\nmanage-security-groups = true\ncreate-monitor = true\n" +
	"[LoadBalancerClass \"public\"]\nfloating-subnet-tags = fast\n"

// newFuzzer returns a fuzzer of one Service in a cluster of three nodes.
func newFuzzer(t testing.TB) common.Fuzzer[model.Config, *model.Facts] {
	config := common.Config(t, model.ReadConfig, configText)
	config.Features = model.Features{Tags: true, Ranges: true, Timeouts: true, Flavors: true, Zones: true}
	service, nodes := common.Web("openstack:///", [2]corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP})
	facts := &model.Facts{External: "n-1", NodeSubnets: map[string]string{}, Subnets: map[string]model.Subnet{
		"s-1": {ID: "s-1", Network: "n-2", CIDR: netip.MustParsePrefix("10.0.0.0/24")}, "s-2": {ID: "s-2", Network: "n-1"},
	}}
	for i := range nodes {
		facts.NodeSubnets[nodes[i].Status.Addresses[0].Address] = "s-1"
	}
	return common.Single(openstack.Cloud(), config, service, nodes, facts)
}

func FuzzBuild(f *testing.F) { newFuzzer(f).Build(f) }

func FuzzCompare(f *testing.F) { newFuzzer(f).Compare(f) }

func FuzzRead(f *testing.F) { newFuzzer(f).Read(f) }

// FuzzConfig reads any cloud configuration without a panic.
func FuzzConfig(f *testing.F) {
	common.FuzzConfig(f, model.ReadConfig,
		configText,
		"[LoadBalancer]\nmonitor-delay = x\nnode-selector = =,=\n",
	)
}

// TestGrowth: ten times the ports x ranges are at most ten times the work.
func TestGrowth(t *testing.T) { newFuzzer(t).Growth(t) }

// TestLargest: the largest Service of the kind takes little, and ends with its time.
func TestLargest(t *testing.T) { newFuzzer(t).Largest(t) }

func BenchmarkSizes(b *testing.B) { newFuzzer(b).Measure(b) }
