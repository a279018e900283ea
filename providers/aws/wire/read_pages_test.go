package wire

import (
	"context"
	"fmt"
	"testing"
	"time"

	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// readMany reads for Services in one go. The answer is how many Classic Load
// Balancers were found with all three machines, and the calls for them.
func (r *rig) readMany(owners ...int) (complete, calls int) {
	r.Helper()
	var scopes []providers.Scope
	for _, n := range owners {
		scopes = append(scopes, r.scope(ownerOf(n)))
	}
	r.reset()
	found := r.session.Read(r.Context(), scopes)
	if len(found) != len(scopes) {
		r.Fatalf("read: got %d answers, want %d", len(found), len(scopes))
	}
	for i, f := range found {
		if f.Err != nil || len(f.Blind) > 0 {
			r.Fatalf("read of %d: %v, blind for %v", owners[i], f.Err, f.Blind)
		}
		for _, res := range f.Have.Resources {
			if spec, ok := res.Spec.(model.ClassicInstances); ok && len(spec.Instances) == 3 {
				complete++
			}
		}
	}
	return complete, r.calls()["elb.DescribeLoadBalancers"]
}

// TestReadByName: in an account whose list takes many calls, a few load balancers are
// asked for by name, also when one of them was deleted.
func TestReadByName(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		for n := range 3 {
			r.arrive(ownerOf(n), r.classicWish(ownerOf(n)).stack())
		}
		type answer struct{ Complete, Calls int }
		check := func(when string, want answer) {
			t.Helper()
			complete, calls := r.readMany(0, 1, 2)
			if diff := cmp.Diff(want, answer{complete, calls}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		check("the account was not listed yet", answer{3, 1})
		r.session.facts.classic.calls = 20 // as if there were thousands
		check("all are there", answer{3, 1})
		name := model.LoadBalancerName(ownerOf(1).UID)
		if _, err := r.session.classic.DeleteLoadBalancer(t.Context(), &elb.DeleteLoadBalancerInput{LoadBalancerName: &name}); err != nil {
			t.Fatal(err)
		}
		check("one was deleted by hand", answer{2, 4})
		check("of which it is known", answer{2, 2})
		r.arrive(ownerOf(1), r.classicWish(ownerOf(1)).stack())
		check("it is created again", answer{3, 1})
		r.arrive(ownerOf(2), nil)
		check("one was deleted by us", answer{2, 2})
	})
}

// TestReadLean: in a large account full of machines those of the load balancers that no
// scope asks for are left out.
func TestReadLean(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		for n := range 3 {
			r.arrive(ownerOf(n), r.classicWish(ownerOf(n)).stack())
		}
		var machines []string
		for i := range 5000 {
			machines = append(machines, fmt.Sprint("i-", i))
		}
		if _, _, err := r.session.facts.machines.Get(t.Context(), time.Now(), machines, func(_ context.Context, ids []string) (map[string]model.Instance, error) {
			out := map[string]model.Instance{}
			for _, id := range ids {
				out[id] = model.Instance{ID: id}
			}
			return out, nil
		}); err != nil {
			t.Fatal(err)
		}
		var asked []int
		for n := range 3 * pageWorth {
			asked = append(asked, n)
		}
		if complete, calls := r.readMany(asked...); complete != 3 || calls != 1 {
			t.Errorf("at first: %d complete in %d calls, want 3 in one list", complete, calls)
		}
		r.session.facts.classic.calls = 2
		if complete, calls := r.readMany(asked...); complete != 3 || calls != 2 {
			t.Errorf("then: %d complete in %d calls, want 3 in a list and one call by name", complete, calls)
		}
		r.session.facts.classic.calls = 2
		if complete, calls := r.readMany(asked[3 : 3+pageWorth]...); complete != 0 || calls != pageWorth {
			t.Errorf("those that are not there: %d complete in %d calls, want none in %d", complete, calls, pageWorth)
		}
	})
}

// TestReadWithoutMachines: a presence check of load balancers returns no machines,
// unless another scope in the same read wants them.
func TestReadWithoutMachines(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		var scopes []providers.Scope
		for n := range 2 {
			r.arrive(ownerOf(n), r.classicWish(ownerOf(n)).stack())
			s := r.scope(ownerOf(n))
			s.Depth = providers.Shallow
			scopes = append(scopes, s)
		}
		for _, depth := range []providers.Depth{providers.Shallow, providers.Deep} {
			scopes[1].Depth = depth
			in := newRead(t.Context(), r.session, scopes).classics
			if err := in.listClassic(); err != nil {
				t.Fatal(err)
			}
			if got := len(in.found); got != 2 {
				t.Errorf("depth %v: found %d load balancers, want 2", depth, got)
			}
			want := 0
			if depth == providers.Deep {
				want = 3
			}
			if got := len(in.found[model.LoadBalancerName(ownerOf(1).UID)].machines); got != want {
				t.Errorf("depth %v: got %d machines, want %d", depth, got, want)
			}
		}
	})
}

// TestFactsAreKept: Facts are computed again only when their inputs have changed.
func TestFactsAreKept(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		scope := r.scope(ownerOf(1))
		scope.Own = nil // as for a build alone
		read := func(of providers.Scope) *model.Facts {
			t.Helper()
			found := r.session.Read(t.Context(), []providers.Scope{of})
			noFaults(t, found)
			return found[0].Facts
		}
		first := read(scope)
		if n := len(first.Instances); n != 3 {
			t.Fatalf("instances: got %d, want 3", n)
		}
		if read(scope) != first {
			t.Error("nothing has changed, and they were made again")
		}
		fewer := scope
		fewer.Nodes = r.nodes(2)
		if n := len(read(fewer).Instances); n != 2 {
			t.Errorf("instances of fewer nodes: got %d, want 2", n)
		}
		if _, err := r.session.facts.refresh(t.Context(), time.Now(), []string{r.seed.Nodes[0].InstanceID}, r.session.instancesByID); err != nil {
			t.Fatal(err)
		}
		second := read(scope)
		if second == first {
			t.Error("an instance was looked at again, and they are the old ones")
		}
		for name, change := range map[string]func(){
			"rules of a group": func() { r.session.facts.learnRules(r.seed.NodeGroup, nil) },
			"subnets":          r.session.facts.network.Forget,
		} {
			before := read(scope)
			change()
			if read(scope) == before {
				t.Errorf("%s have changed, and they are the old ones", name)
			}
		}
	})
}
