package wire

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// ruleSteps are creations or deletions of one client rule for each of the owners.
func (r *rig) ruleSteps(action plan.Action, from, to int) []plan.Step {
	var out []plan.Step
	for n := from; n < to; n++ {
		o := ownerOf(n)
		target := sharedRule(r.nodeRule("tcp", int32(30000+n), "0.0.0.0/0", model.ClientDescription(model.LoadBalancerName(o.UID))))
		out = append(out, plan.Step{ID: plan.StepID{Owner: o, Key: target.Key, Action: action}, Target: target, Batch: "sg/" + r.seed.NodeGroup})
	}
	return out
}

func (r *rig) apply(steps ...plan.Step) []plan.Outcome {
	return r.session.Apply(r.Context(), plan.Batch{Key: steps[0].Batch, Steps: steps, Claims: r.book})
}

func (r *rig) ruleCount() int {
	r.Helper()
	rules, err := r.session.rulesIn(r.Context(), r.seed.NodeGroup)
	if err != nil {
		r.Fatal(err)
	}
	return len(rules) - 1 // the rule by which nodes reach each other
}

func noErrors(t testing.TB, outcomes []plan.Outcome) {
	t.Helper()
	for i, o := range outcomes {
		if o.Err != nil {
			t.Errorf("step %d: %v", i, o.Err)
		}
	}
}

// TestNodeRulesOfManyServices: one read, one grant and one revocation for all.
func TestNodeRulesOfManyServices(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{})
		noErrors(t, r.apply(r.ruleSteps(plan.Create, 0, 5)...))

		r.reset()
		mixed := append(r.ruleSteps(plan.Create, 5, 10), r.ruleSteps(plan.Delete, 0, 5)...)
		noErrors(t, r.apply(mixed...))
		want := map[string]int{"ec2.DescribeSecurityGroups": 1, "ec2.AuthorizeSecurityGroupIngress": 1, "ec2.RevokeSecurityGroupIngress": 1}
		if diff := cmp.Diff(want, r.calls()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if got := r.ruleCount(); got != 5 {
			t.Errorf("rules in the group: got %d, want 5", got)
		}

		r.reset()
		noErrors(t, r.apply(mixed...))
		if diff := cmp.Diff(map[string]int{"ec2.DescribeSecurityGroups": 1}, r.calls()); diff != "" {
			t.Errorf("calls of what is done already (-want +got):\n%s", diff)
		}
	})
}

// TestNodeRulesAtTheQuota: the rules that fit are granted, the others are refused by
// name.
func TestNodeRulesAtTheQuota(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{})
		noErrors(t, r.apply(r.ruleSteps(plan.Create, 0, 57)...)) // 58 with the existing one
		r.reset()
		steps := append(r.ruleSteps(plan.Create, 100, 105), r.ruleSteps(plan.Delete, 0, 1)...)
		outcomes := r.apply(steps...)
		var got []string
		for _, o := range outcomes {
			if o.Err == nil {
				got = append(got, "done")
				continue
			}
			got = append(got, fault.Of(o.Err).String())
		}
		if diff := cmp.Diff([]string{"done", "done", "done", "Quota", "Quota", "done"}, got); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
		if got := r.ruleCount(); got != 59 {
			t.Errorf("rules of load balancers: got %d, want 59", got)
		}
	})
}

// TestNodeRulesClaimedMeanwhile: a rule that another Service has come to want
// since the plan was made stays.
func TestNodeRulesClaimedMeanwhile(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{})
		noErrors(t, r.apply(r.ruleSteps(plan.Create, 1, 2)...))
		gone := r.ruleSteps(plan.Delete, 1, 2)
		r.book.Enter(ownerOf(9), []stack.Resource{gone[0].Target})
		noErrors(t, r.apply(gone...))
		if got := r.ruleCount(); got != 1 {
			t.Errorf("rules: got %d, want 1", got)
		}
	})
}

// TestNodeRulesRace: another process writes to the group between our read and
// our grant; the batch reads again and ends well.
func TestNodeRulesRace(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{})
		for range 5 {
			var all sync.WaitGroup
			steps := r.ruleSteps(plan.Create, 1, 9)
			for i := range 2 {
				all.Add(1)
				go func() {
					defer all.Done()
					noErrors(t, r.apply(slices.Clone(steps[i:i+7])...))
				}()
			}
			all.Wait()
			if got := r.ruleCount(); got != 8 {
				t.Errorf("rules: got %d, want 8", got)
			}
			noErrors(t, r.apply(r.ruleSteps(plan.Delete, 1, 9)...))
		}
	})
}

// TestNodeRulesLostAnswer: the grant succeeds, its response is lost. SDK retries find
// the rules existing, and the batch reads them back.
func TestNodeRulesLostAnswer(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{})
		r.fault(sim.Fault{Operation: "AuthorizeSecurityGroupIngress", Kind: sim.FaultCutAfter, Count: 1})
		noErrors(t, r.apply(r.ruleSteps(plan.Create, 1, 4)...))
		if got := r.ruleCount(); got != 3 {
			t.Errorf("rules: got %d, want 3", got)
		}
	})
}

func mergeCounts(maps ...map[string]int) map[string]int {
	out := map[string]int{}
	for _, m := range maps {
		for k, v := range m {
			out[k] += v
		}
	}
	return out
}

func noFaults(t testing.TB, found []providers.Found[*model.Facts]) {
	t.Helper()
	for i, f := range found {
		if f.Err != nil || len(f.Blind) > 0 {
			t.Errorf("scope %d: %v, blind %v", i, f.Err, f.Blind)
		}
	}
}

// TestMembersThatAreRefused: valid members are added, invalid ones are named, and
// removing an unknown member succeeds.
func TestMembersThatAreRefused(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 200}, ELBV2: manyNetwork()})
		w := r.classicWish(ownerOf(1))
		w.instances = nil
		r.arrive(w.owner, w.stack())
		good := r.seed.InstanceIDs()
		for _, tc := range []struct {
			name string
			bad  []int
		}{{"none", nil}, {"first", []int{0}}, {"middle", []int{97}}, {"last", []int{199}}, {"two", []int{3, 150}}} {
			virtual.Step(t, tc.name, func() {
				members := slices.Clone(good)
				var bad []string
				for _, at := range tc.bad {
					members[at] = fmt.Sprintf("i-0bad%013d", at)
					bad = append(bad, members[at])
				}
				step := r.memberStep(w.owner, members)
				r.reset()
				o := r.session.Apply(t.Context(), plan.Batch{Steps: []plan.Step{step}, IDs: r.ids(w.owner)})[0]
				if o.Err != nil {
					t.Fatal(o.Err)
				}
				var named []string
				for _, m := range o.Refused {
					if !fault.Is(m.Err, fault.Invalid) {
						t.Errorf("%v: got %v, want Invalid", m.Member, m.Err)
					}
					named = append(named, m.Member.(string))
				}
				slices.Sort(named)
				if diff := cmp.Diff(bad, named); diff != "" {
					t.Errorf("refused (-want +got):\n%s", diff)
				}
				if calls := r.sim.Cloud.Journal.Writes(); calls > 1+fault.MaxSplits {
					t.Errorf("calls: got %d, want at most %d", calls, 1+fault.MaxSplits)
				}
				lb, _ := r.read(w.owner).Get(stack.Key{Kind: model.KindClassicInst})
				if in := len(lb.Spec.(model.ClassicInstances).Instances); in != 200-len(bad) {
					t.Errorf("registered: got %d, want %d", in, 200-len(bad))
				}
				step.ID.Part, step.Changes[0].Added, step.Changes[0].Removed = "instances-", nil, step.Changes[0].Added
				if o := r.session.Apply(t.Context(), plan.Batch{Steps: []plan.Step{step}, IDs: r.ids(w.owner)})[0]; o.Err != nil || len(o.Refused) > 0 {
					t.Errorf("removal: %v, refused %v", o.Err, o.Refused)
				}
			})
		}
	})
}

func (r *rig) memberStep(o stack.Owner, members []string) plan.Step {
	key := stack.Key{Kind: model.KindClassicInst}
	change := plan.Change{Field: "Instances"}
	for _, m := range members {
		change.Added = append(change.Added, m)
	}
	return plan.Step{
		ID:     plan.StepID{Owner: o, Key: key, Action: plan.Update, Part: "instances+"},
		Target: stack.Resource{Key: key, In: stack.Key{Kind: model.KindClassic}, Spec: model.ClassicInstances{Instances: members}},
		Found:  model.ClassicInstances{}, Changes: []plan.Change{change},
	}
}

// ids resolves references by what a read finds.
func (r *rig) ids(o stack.Owner) plan.Resolver {
	have := r.read(o)
	return func(_ stack.Owner, ref stack.Ref) (string, bool) {
		res, ok := have.Get(ref.To)
		return res.ID, ok
	}
}

// TestNodeRulesFromMemory: rules that are remembered rightly need no read, and
// wrongly remembered ones are found out.
func TestNodeRulesFromMemory(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		noFaults(t, r.session.Read(t.Context(), []providers.Scope{r.scope(ownerOf(1))}))
		write := func(action plan.Action, from, to int, want map[string]int) {
			t.Helper()
			r.reset()
			noErrors(t, r.apply(r.ruleSteps(action, from, to)...))
			if diff := cmp.Diff(want, r.calls()); diff != "" {
				t.Errorf("%s %d to %d: calls (-want +got):\n%s", action, from, to, diff)
			}
		}
		write(plan.Create, 1, 4, map[string]int{"ec2.AuthorizeSecurityGroupIngress": 1})
		write(plan.Delete, 3, 4, map[string]int{"ec2.RevokeSecurityGroupIngress": 1})
		write(plan.Create, 1, 3, map[string]int{"ec2.DescribeSecurityGroups": 1}) // seems done: looked at

		byHand := func(call func(context.Context, string, []model.FoundRule) error, n int32) {
			t.Helper()
			rule := model.FoundRule{Permission: model.Permission{Protocol: "tcp", FromPort: 30000 + n, ToPort: 30000 + n, CIDR: "0.0.0.0/0"}}
			if err := call(t.Context(), r.seed.NodeGroup, []model.FoundRule{rule}); err != nil {
				t.Fatal(err)
			}
		}
		byHand(r.session.authorize, 7)
		write(plan.Create, 6, 8, map[string]int{"ec2.AuthorizeSecurityGroupIngress": 2, "ec2.DescribeSecurityGroups": 1})
		byHand(r.session.revoke, 2)
		write(plan.Delete, 1, 3, map[string]int{"ec2.RevokeSecurityGroupIngress": 2, "ec2.DescribeSecurityGroups": 1})
		if got := r.ruleCount(); got != 2 {
			t.Errorf("rules: got %d, want 2", got)
		}
	})
}

// TestReleaseWithoutNodes: a process that has seen no node finds the rule of a
// released Service in a group that carries no mark of the cluster.
func TestReleaseWithoutNodes(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		w := r.classicWish(ownerOf(1))
		w.nodeGroup = r.seed.DefaultGroup // it has no tag of the cluster
		r.walk(w.owner, w.stack())
		trace := r.cloud.OwnedScope(r.identity(w.owner))
		found := r.session.Read(t.Context(), []providers.Scope{trace})
		noFaults(t, found)
		rules := found[0].Have.Of(model.KindNodeRule)
		if !slices.ContainsFunc(rules, func(res stack.Resource) bool {
			return res.In.Name == r.seed.DefaultGroup && res.Proof == stack.Derived
		}) {
			t.Errorf("rules: got %+v, want the one in %s", rules, r.seed.DefaultGroup)
		}
	})
}
