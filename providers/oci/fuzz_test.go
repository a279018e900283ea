package oci_test

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/oci"
	"github.com/berth-lb/berth/providers/oci/model"
	common "github.com/berth-lb/berth/test/cases"
)

const configText = "compartment: ocid1.compartment.oc1..c\nvcn: ocid1.vcn.oc1..v\nloadBalancer: {subnet1: ocid1.subnet.oc1..a}\n"

// newFuzzer returns a fuzzer of one Service in a cluster of three nodes.
func newFuzzer(t testing.TB) common.Fuzzer[model.Config, *model.Facts] {
	config := common.Config(t, model.ReadConfig, configText)
	tcp := corev1.ProtocolTCP
	service, nodes := common.Web("ocid1.instance.oc1..", [2]corev1.Protocol{tcp, tcp})
	subnet := func(id, cidr string) model.Subnet {
		return model.Subnet{ID: id, VCN: config.VCN, CIDR: netip.MustParsePrefix(cidr), CIDR6: []netip.Prefix{netip.MustParsePrefix("fd00::/64")}, List: "list-of-" + id}
	}
	front, behind := subnet("ocid1.subnet.oc1..a", "10.0.1.0/24"), subnet("ocid1.subnet.oc1..b", "10.0.0.0/24")
	facts := &model.Facts{
		Subnets: map[string]model.Subnet{front.ID: front, behind.ID: behind}, Machines: []model.Subnet{behind},
		Addresses: map[string]model.ReservedIP{"192.0.2.7": {ID: "ocid1.publicip.oc1..p", Available: true}},
	}
	return common.Single(oci.Cloud(), config, service, nodes, facts)
}

func FuzzBuild(f *testing.F) { newFuzzer(f).Build(f) }

func FuzzCompare(f *testing.F) { newFuzzer(f).Compare(f) }

func FuzzRead(f *testing.F) { newFuzzer(f).Read(f) }

// FuzzConfig reads any cloud configuration without a panic.
func FuzzConfig(f *testing.F) {
	common.FuzzConfig(f, model.ReadConfig,
		configText,
		"auth: {region: x, key: [\"\"]}\nloadBalancer: {securityListManagementMode: All, securityLists: {a: b}}\nrateLimiter: {rateLimitQPSRead: -1}\n",
	)
}

// TestGrowth: ten times the ports x ranges are at most ten times the work.
func TestGrowth(t *testing.T) { newFuzzer(t).Growth(t) }

// TestLargest: the largest Service of the kind takes little, and ends with its time.
func TestLargest(t *testing.T) { newFuzzer(t).Largest(t) }

func BenchmarkSizes(b *testing.B) { newFuzzer(b).Measure(b) }
