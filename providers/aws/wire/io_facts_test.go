package wire

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack/plan"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestReadOfManyServices counts what a deep read costs.
func TestReadOfManyServices(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const services = 40
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 20}, ELB: manyClassic(), ELBV2: manyNetwork()})
		var scopes []providers.Scope
		for n := range services {
			scopes = append(scopes, r.scope(ownerOf(n)))
		}
		shared := map[string]int{
			"ec2.DescribeSubnets": 1, "ec2.DescribeRouteTables": 1, "ec2.DescribeAvailabilityZones": 1, "ec2.DescribeInstances": 1,
			"ec2.DescribeSecurityGroups": 2, // the groups of the nodes, and the Services' own by name
			"elb.DescribeLoadBalancers":  1, "elbv2.DescribeLoadBalancers": 1, "elbv2.DescribeTargetGroups": 1,
		}
		virtual.Step(t, "nothing there", func() {
			r.reset()
			noFaults(t, r.session.Read(t.Context(), scopes))
			if diff := cmp.Diff(shared, r.calls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
		for n := range services {
			o := ownerOf(n)
			if n%2 == 0 {
				w := r.classicWish(o)
				w.nodeGroup = ""
				r.arrive(o, w.stack())
				continue
			}
			w := r.networkWish(o)
			w.rules = nil
			r.arrive(o, w.stack())
		}
		for _, fact := range []string{"ec2.DescribeSubnets", "ec2.DescribeRouteTables", "ec2.DescribeAvailabilityZones", "ec2.DescribeInstances"} {
			delete(shared, fact) // known since the first read
		}
		for _, tc := range []struct {
			name   string
			depth  providers.Depth
			count  int
			beside map[string]int
		}{
			{"shallow", providers.Shallow, services, map[string]int{"elb.DescribeLoadBalancers": 1, "elbv2.DescribeLoadBalancers": 1, "ec2.DescribeSecurityGroups": 1}},
			{"deep", providers.Deep, services, mergeCounts(shared, map[string]int{
				"elb.DescribeTags": 1, "elb.DescribeLoadBalancerAttributes": 20,
				"elbv2.DescribeTags": 1, "elbv2.DescribeLoadBalancerAttributes": 20, "elbv2.DescribeListeners": 20,
				"elbv2.DescribeTargetHealth": 20, "elbv2.DescribeTargetGroupAttributes": 20, // the latter because the scopes ask for them
			})},
			{"one by name", providers.Deep, 1, mergeCounts(shared, map[string]int{"elb.DescribeTags": 1, "elb.DescribeLoadBalancerAttributes": 1})},
		} {
			virtual.Step(t, tc.name, func() {
				asked := slices.Clone(scopes[:tc.count])
				for i := range asked {
					asked[i].Depth = tc.depth
				}
				r.reset()
				noFaults(t, r.session.Read(t.Context(), asked))
				if diff := cmp.Diff(tc.beside, r.calls()); diff != "" {
					t.Errorf("calls for %d Services (-want +got):\n%s", tc.count, diff)
				}
			})
		}
	})
}

// TestReadBeyondOneFilter: more names than the filters of one call take.
func TestReadBeyondOneFilter(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 1}})
		var scopes []providers.Scope
		for n := range filterValues + 1 {
			scopes = append(scopes, r.scope(ownerOf(n)))
		}
		noFaults(t, r.session.Read(t.Context(), scopes))
	})
}

// TestFactsAreRemembered: a Service that is known is built from what the session
// remembers, without a call, and sees the rules that were written meanwhile.
func TestFactsAreRemembered(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		scope := r.scope(ownerOf(1))
		noFaults(t, r.session.Read(t.Context(), []providers.Scope{scope}))
		noErrors(t, r.apply(r.ruleSteps(plan.Create, 1, 4)...))
		noErrors(t, r.apply(r.ruleSteps(plan.Delete, 1, 2)...))
		scope.Own = nil
		r.reset()
		found := r.session.Read(t.Context(), []providers.Scope{scope})
		noFaults(t, found)
		if calls := r.calls(); len(calls) > 0 {
			t.Errorf("calls: %v", calls)
		}
		f := found[0].Facts
		if len(f.Subnets) == 0 || len(f.Instances) != 3 || len(f.NodeGroups) != 1 {
			t.Fatalf("facts: got %d subnets, %d instances, %d groups", len(f.Subnets), len(f.Instances), len(f.NodeGroups))
		}
		fresh, err := r.session.rulesIn(t.Context(), r.seed.NodeGroup)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fresh, f.NodeGroups[0].Rules); diff != "" {
			t.Errorf("rules (-in the cloud +remembered):\n%s", diff)
		}
	})
}
