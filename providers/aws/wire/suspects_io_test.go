package wire

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/ec2"
)

// elsewhere moves machines into another network, which no target group of ours takes
// members from.
func (r *rig) elsewhere(ids []string) {
	w := r.sim.Cloud.EC2.World()
	other := ec2.VPC{ID: ec2.ID("vpc", "other"), CIDR: "10.99.0.0/16"}
	w.VPCs = append(slices.Clone(w.VPCs), other)
	subnet := w.Subnets[0]
	subnet.ID, subnet.VPC, subnet.CIDR = ec2.ID("subnet", "other"), other.ID, "10.99.0.0/20"
	w.Subnets = append(slices.Clone(w.Subnets), subnet)
	w.Instances = slices.Clone(w.Instances)
	for i := range w.Instances {
		if slices.Contains(ids, w.Instances[i].ID) {
			w.Instances[i].Subnet, w.Instances[i].VPC = subnet.ID, other.ID
		}
	}
	r.sim.Cloud.EC2.Load(w)
}

// refusedIn are the members that a run was refused.
func (r *rig) refusedIn(w networkWish) []plan.Refusal {
	r.Helper()
	var out []plan.Refusal
	for _, res := range r.walk(w.owner, w.stack()).Results {
		out = append(out, res.Outcome.Refused...)
		if res.Outcome.Err != nil {
			r.Errorf("%s: %v", res.Step.ID, res.Outcome.Err)
		}
	}
	return out
}

// TestSuspectsGoAlone: machines that AWS does not take keep no other one out; they are
// found with few calls, and once they are known they are tried after the others, one
// call each.
func TestSuspectsGoAlone(t *testing.T) {
	const nodes, bad = 61, 3
	r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: nodes}})
	all := slices.Sorted(slices.Values(r.seed.InstanceIDs()))
	r.elsewhere([]string{all[0], all[20], all[40]})
	w := r.networkWish(ownerOf(1))
	w.targets = slices.Clone(all[:nodes-1])
	members := func() int {
		found, _ := r.read(w.owner).Get(stack.Key{Kind: model.KindTargets, Name: model.PortKey("tcp", 80)})
		return len(found.Spec.(model.Targets).Targets)
	}
	if got := r.refusedIn(w); len(got) != bad {
		t.Errorf("refused at first: %v, want %d", got, bad)
	}
	if n := r.calls()["elbv2.RegisterTargets"]; n > bad*6+3*bad {
		t.Errorf("%d calls to find %d of %d", n, bad, nodes-1)
	}
	if got := members(); got != nodes-1-bad {
		t.Errorf("%d are members, want %d", got, nodes-1-bad)
	}

	w.targets = slices.Clone(all)
	r.reset()
	for _, refusal := range r.refusedIn(w) {
		if !fault.Is(refusal.Err, fault.Invalid) {
			t.Errorf("refused: %v", refusal)
		}
	}
	if n := r.calls()["elbv2.RegisterTargets"]; n != 1+bad {
		t.Errorf("%d calls for a machine that came and %d that are known, want %d", n, bad, 1+bad)
	}
	if got := members(); got != nodes-bad {
		t.Errorf("%d are members, want %d", got, nodes-bad)
	}
}
