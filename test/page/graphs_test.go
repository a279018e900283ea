package page

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure"
	"github.com/berth-lb/berth/providers/openstack"
	"github.com/berth-lb/berth/test/harness"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	azuretest "github.com/berth-lb/berth/test/sim/azure/simtest"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	openstacktest "github.com/berth-lb/berth/test/sim/openstack/simtest"
)

// object is a resource in the state of a simulator.
type object struct {
	ID string `json:"id"`

	// OpenStack
	Balancer string `json:"loadbalancer"`
	Pool     string `json:"default_pool_id"`
	Monitor  string `json:"healthmonitor_id"`

	// Azure
	Properties struct {
		Pools     []object `json:"backendAddressPools"`
		Frontends []object `json:"frontendIPConfigurations"`
		PublicIP  *object  `json:"publicIPAddress"`
	} `json:"properties"`
}

// TestGraphOfOpenStack compares the graph on the page with everything that Octavia has.
func TestGraphOfOpenStack(t *testing.T) {
	b := startBrowser(t)
	r := openstacktest.StartLoopback(t, simopenstack.Options{Seed: simopenstack.SeedOptions{Nodes: 2}})
	a := &account{entry: providers.EntryOf(openstack.Cloud()), url: r.URL, nodes: r.Cloud.Seed.KubernetesNodes()}
	a.serve(t, nil, func(dir string) error { return r.Cloud.WriteFiles(dir, r.URL) })
	state := stateOf[map[string][]object](t, a.url)
	var ids, edges []string
	for _, kind := range []string{"loadbalancers", "listeners", "pools", "healthmonitors"} {
		for _, o := range state[kind] {
			ids = append(ids, o.ID)
			for from, to := range map[string]string{o.Balancer: o.ID, o.ID: o.Pool} {
				if from != "" && to != "" {
					edges = append(edges, from+" > "+to)
				}
			}
			if o.Monitor != "" {
				edges = append(edges, o.ID+" > "+o.Monitor)
			}
		}
	}
	b.compare(t, a, []string{"load-balancer", "listener", "pool", "health-monitor"}, 5, ids, edges) // a load balancer, and a listener and a pool for each port
}

// TestGraphOfAzure compares the graph on the page with the load balancer, its pools and the public
// addresses of its frontends. Frontends, rules and probes are one node: they are written together.
func TestGraphOfAzure(t *testing.T) {
	b := startBrowser(t)
	r := azuretest.StartLoopback(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 2}})
	t.Setenv("IDENTITY_ENDPOINT", r.PlainURL+"/msi/token")
	t.Setenv("IDENTITY_HEADER", "any")
	a := &account{entry: providers.EntryOf(azure.Cloud()), url: r.PlainURL, nodes: r.Cloud.Seed.KubernetesNodes()}
	a.serve(t, nil, func(dir string) error {
		return errors.Join(r.Cloud.WriteFiles(dir, r.PlainURL), harness.Identify("azure", dir))
	})
	var ids, edges []string
	for id, o := range stateOf[map[string]object](t, a.url) {
		if !strings.Contains(id, "/loadBalancers/") {
			continue
		}
		ids = append(ids, id)
		for _, pool := range o.Properties.Pools {
			ids, edges = append(ids, pool.ID), append(edges, id+" > "+pool.ID)
		}
		for _, frontend := range o.Properties.Frontends {
			if to := frontend.Properties.PublicIP; to != nil {
				ids, edges = append(ids, to.ID), append(edges, id+" > "+to.ID)
			}
		}
	}
	b.compare(t, a, []string{"load-balancer-entries", "backend-pool", "public-ip"}, 3, ids, edges)
}
