package aws_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/aws/ec2"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const podGroup = "sg-0123456789abcdef0"

// branches gives pods of the first node network interfaces of their own.
func (s subject) branches(addresses ...string) {
	seed := s.running.Cloud.Seed
	node := seed.Nodes[0]
	w := ec2.World{
		Groups: []ec2.Group{{ID: podGroup, Name: "pods", Description: "pods", VPC: seed.VPC}},
		Interfaces: []ec2.Interface{{
			ID: "eni-0123456789abcde00", VPC: seed.VPC, Subnet: node.Subnet, Zone: node.Zone, Groups: []string{seed.NodeGroup}, Instance: node.InstanceID, DeviceIndex: 1, Kind: "trunk",
		}},
		Tags: map[string]ec2.Tags{podGroup: {"kubernetes.io/cluster/" + seed.ClusterID: "shared"}},
	}
	for n, address := range addresses {
		i := ec2.Interface{ID: "eni-0123456789abcde1" + string(rune('0'+n)), VPC: seed.VPC, Subnet: node.Subnet, Zone: node.Zone, Groups: []string{podGroup}, Kind: "branch"}
		if netip.MustParseAddr(address).Is4() {
			i.IPs = []string{address}
		} else {
			i.IPv6s = []string{address}
		}
		w.Interfaces = append(w.Interfaces, i)
	}
	s.running.Cloud.EC2.Load(w)
}

// letIn are the protocols and ports that the group of pods lets in.
func (s subject) letIn() []string {
	var out []string
	for _, g := range s.running.Cloud.EC2.World().Groups {
		for _, rule := range g.Ingress {
			if g.ID == podGroup {
				out = append(out, rule.Protocol)
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestPodsWithGroups: pods with network interfaces of their own are let in through the group of
// those, as long as there are any.
func TestPodsWithGroups(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		o := newRollout(t)
		o.subject.branches(o.pods(1, 2)[0].Endpoints[0].Addresses[0])
		o.serve(o.pods(2, 4))
		if got := o.subject.letIn(); len(got) > 0 {
			t.Errorf("without a pod of its own the group lets in %v", got)
		}
		o.serve(o.pods(0, 4))
		if got := o.subject.letIn(); !slices.Equal(got, []string{"tcp"}) {
			t.Errorf("the group of the pod lets in %v, want tcp", got)
		}
		calls := o.subject.Control().Journal.Counts()["ec2.DescribeNetworkInterfaces"]
		if calls == 0 || calls > 4 {
			t.Errorf("%d calls to find the interfaces of pods, want one for each read", calls)
		}
		o.restart()
		o.serve(o.pods(2, 4))
		if got := o.subject.letIn(); len(got) > 0 {
			t.Errorf("after the pod the group lets in %v", got)
		}
	})
}

// TestPodsUnseen: without the permission to read the interfaces of pods the Service is
// served, and the user gets a problem.
func TestPodsUnseen(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		o := newRollout(t)
		o.subject.branches(o.pods(1, 2)[0].Endpoints[0].Addresses[0])
		if _, err := o.subject.Control().Faults.Add(sim.Fault{Service: "ec2", Operation: "DescribeNetworkInterfaces", Kind: sim.FaultError, Code: "UnauthorizedOperation", Status: 403, Count: 100}); err != nil {
			t.Fatal(err)
		}
		o.serve(o.pods(0, 4))
		d, err := o.r.Draft(t.Context(), reconcile.Job{Service: o.svc, Slices: o.pods(0, 3)})
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(d.Problems.Strings(), "\n"); !strings.Contains(text, "ec2:DescribeNetworkInterfaces") {
			t.Errorf("problems are %q, want the missing right", text)
		}
	})
}

// TestPodsWithoutTrunk: where no node can have such pods they are not asked for.
func TestPodsWithoutTrunk(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		o := newRollout(t)
		o.serve(o.pods(0, 4))
		if n := o.subject.Control().Journal.Counts()["ec2.DescribeNetworkInterfaces"]; n != 0 {
			t.Errorf("%d calls for interfaces of pods, want none", n)
		}
	})
}
