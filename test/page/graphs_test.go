package page

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	openstacktest "github.com/berth-lb/berth/test/sim/openstack/simtest"
)

// object is a resource in the state of a simulator.
type object struct {
	ID       string `json:"id"`
	Balancer string `json:"loadbalancer"`
	Pool     string `json:"default_pool_id"`
	Monitor  string `json:"healthmonitor_id"`
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
