package wire

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/stack"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestHealth: members are reported as AWS judges them, on both kinds of load balancers,
// and by the resource that has them.
func TestHealth(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		network, classic := r.networkWish(ownerOf(1)), r.classicWish(ownerOf(2))
		network.lb.Mappings = nil // every zone, or targets there are unused
		for _, s := range slices.Sorted(slices.Values(r.seed.PublicSubnets())) {
			network.lb.Mappings = append(network.lb.Mappings, model.Mapping{Subnet: s})
		}
		r.arrive(network.owner, network.stack())
		r.arrive(classic.owner, classic.stack())
		stopped := network.targets[0]
		if _, err := ec2.NewFromConfig(r.sim.Config).StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{stopped}}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			health []providers.MemberHealth
			what   string
		}{
			{r.health(ownerOf(1)), "target-group/tcp-80"},
			{r.health(ownerOf(2)), "classic-load-balancer"},
		} {
			if len(c.health) < 2 {
				t.Fatalf("%s: %d members: %v", c.what, len(c.health), c.health)
			}
			for _, h := range c.health {
				is := h.Member == stopped || h.Member == stopped+":30080"
				if h.Of.String() != c.what || h.Healthy == is || h.State == "" || is != (h.Why != "") {
					t.Errorf("%s: %+v; stopped is %s", c.what, h, stopped)
				}
			}
		}
	})
}

func (r *rig) health(o stack.Owner) []providers.MemberHealth {
	r.Helper()
	out, err := r.session.Health(r.Context(), r.read(o))
	if err != nil {
		r.Fatal(err)
	}
	return out
}
