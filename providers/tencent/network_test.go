package tencent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/rest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// inAnotherNetwork asks for a load balancer in another network than that of the cluster.
func inAnotherNetwork(more ...string) map[string]string {
	return onTencent().Keys(append([]string{cloud + "cross-vpc-id", "vpc-mjekzyps"}, more...)...)
}

// TestAnotherNetwork: the targets of a load balancer in another network are addresses. They follow nodes and pods, also
// while the Service is refused.
func TestAnotherNetwork(t *testing.T) {
	onTencent().Immutable(t, withNodes(4), inAnotherNetwork(), map[string]map[string]string{
		"the network of the cluster": nil,
		"a third network":            withKey(cloud+"cross-vpc-id", "vpc-6swtxxxx"),
		"broken JSON":                inAnotherNetwork(extensive, "{"),
	})
	onTencent().PodsFollow(t, withNodes(3), props.Service("web", inAnotherNetwork(direct, "true")).Service, inAnotherNetwork(extensive, "{"), "172.16.0.11", "172.16.0.12", "172.16.0.13")
}

// TestAnotherNetworkAfterRestart: a new process that cannot build the Service follows the nodes by their addresses.
func TestAnotherNetworkAfterRestart(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onTencent().Begin(t, withNodes(4))
		svc := props.Service("web", inAnotherNetwork()).Service
		w.Serve(svc)
		svc.Annotations = inAnotherNetwork(extensive, "{")
		w.Restart(svc)
		w.Process.SetNodes(w.Machines[1:])
		if res, err := w.Once(svc, false); err != nil || res.Err != nil || !res.Draft.Problems.Errors() {
			t.Fatal(err, res.Err, res.Draft.Problems)
		}
		for _, f := range w.Sim.Forwards() {
			if len(f.To) != 3 || strings.Contains(strings.Join(f.To, " "), w.Machines[0].Internal[0].String()+":") {
				t.Errorf("3 nodes, and %v", f)
			}
		}
	})
}

// TestExistingOfAnotherNetwork: an existing load balancer of another network is used only with the key of its network.
func TestExistingOfAnotherNetwork(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onTencent().Begin(t, withUsers(2))
		w.Sim.Cloud.ChangeBalancer(w.Sim.Cloud.Seed.Users, rest.Object{"VpcId": "vpc-mjekzyps", "SnatPro": true})
		svc := props.Service("web", withKey(existed, w.Sim.Cloud.Seed.Users)).Service
		res, err := w.Once(svc, false)
		if err != nil || !strings.Contains(fmt.Sprint(res.Draft.Problems), "is in the network vpc-mjekzyps") {
			t.Fatal(err, res.Draft.Problems)
		}
		svc.Annotations = inAnotherNetwork(existed, w.Sim.Cloud.Seed.Users)
		w.Serve(svc)
		for _, f := range w.Sim.Forwards() {
			if len(f.To) != 2 || strings.Contains(strings.Join(f.To, " "), "ins-") {
				t.Errorf("2 nodes by their addresses, and %v", f)
			}
		}
	})
}
