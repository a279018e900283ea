package azure_test

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure"
	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestMistaken: what annotations name and Azure does not have takes nothing away.
func TestMistaken(t *testing.T) {
	const subnet, linkSubnet = "load-balancer-internal-subnet", "pls-ip-configuration-subnet"
	internal := func(name string, change func(*corev1.ServiceSpec), more map[string]string) props.Case {
		values := map[string]string{"load-balancer-internal": "true"}
		maps.Copy(values, more)
		return serviceCase(name, values, change)
	}
	public := serviceCase("public", nil, nil)
	for _, pools := range []simazure.PoolType{simazure.NodeIP, simazure.NodeNIC} {
		t.Run(fmt.Sprint("pools ", pools), func(t *testing.T) {
			mistaken := func(c props.Case, key, value string) {
				props.Mistaken(t, newSubject(simazure.SeedOptions{Nodes: 3, Pools: pools, DualStack: true}), c, prefix+key, value)
			}
			mistaken(internal("internal", nil, nil), subnet, "nowhere")
			mistaken(internal("subnet", props.Local, map[string]string{subnet: "internal"}), subnet, "nowhere")
			mistaken(internal("dual", props.Dual, nil), subnet, "nowhere")
			mistaken(public, "pip-name", "nowhere")
			mistaken(public, "load-balancer-resource-group", "nowhere")
			mistaken(serviceCase("named", map[string]string{"load-balancer-resource-group": "rg-network"}, nil), "load-balancer-resource-group", "nowhere")
			mistaken(public, "load-balancer-ipv4", "192.0.2.1")
			if pools == simazure.NodeNIC {
				mistaken(internal("link", nil, map[string]string{"pls-create": "true", linkSubnet: "links"}), linkSubnet, "nowhere")
				mistaken(internal("link", nil, map[string]string{"pls-create": "true", linkSubnet: "links"}), "pls-resource-group", "nowhere")
			}
		})
	}
}

// TestMisspelt: a misspelt wish for an internal load balancer takes nothing away from a live
// public one.
func TestMisspelt(t *testing.T) {
	cloud, start := providers.EntryOf(azure.Cloud()), newSubject(simazure.SeedOptions{Nodes: 3, DualStack: true})
	props.Misspelt(t, start, cloud, serviceCase("public", nil, nil), "azure-load-balancer-internal", "true")
	props.Misspelt(t, start, cloud, serviceCase("public", nil, nil), prefix+"load-balancer-internal", "yes")
	props.Misspelt(t, start, cloud, serviceCase("public", nil, nil), prefix+"allowed-ip-range", "10.0.0.0/8")
}
