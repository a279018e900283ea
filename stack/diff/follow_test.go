package diff_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// TestFollow: steps that end or change what has backends carry an update with those of today.
func TestFollow(t *testing.T) {
	members := func(name string, ids ...string) stack.Resource {
		return ownedResource(newKey("targets", name), newKey("group", name), targets{IDs: ids})
	}
	inGroup := func(name string) stack.Resource {
		return ownedResource(newKey("group", name), stack.Key{}, group{Port: 30080})
	}
	yesterday, today := []string{"a", "b"}, []string{"a", "c"}
	have := observedStack(inGroup("80"), members("80", yesterday...), inGroup("81"), members("81", yesterday...))
	rules := toyRules()
	for kind, change := range map[stack.Kind]func(*diff.Rule){
		"targets": func(r *diff.Rule) {
			r.FollowsBackends = true
			r.Sets = map[string]diff.Set{"IDs": {Whole: true}}
		},
		"group": func(r *diff.Rule) { r.Pending = diff.Settle },
	} {
		rule := rules.Kinds[kind]
		change(&rule)
		rules.Kinds[kind] = rule
	}
	for name, tc := range map[string]struct {
		want  *stack.Stack
		today []string
		have  func(*stack.Stack)
		holds func(plan.Step) plan.Verdict
		plan  []string
	}{
		"a deletion carries it": {want: desiredStack(inGroup("80"), members("80", today...)), today: today, plan: []string{
			"update targets/80 ids | update targets/80 ids", "delete group/81 | update targets/81 ids"}},
		"nothing changes":    {want: desiredStack(inGroup("80"), members("80", yesterday...)), today: yesterday, plan: []string{"delete group/81"}},
		"a release has none": {want: desiredStack(), today: today, plan: []string{"delete group/80", "delete group/81"}},
		"a blocked deletion leaves it": {want: desiredStack(inGroup("80"), members("80", yesterday...)), today: today, holds: plan.NoDelete,
			plan: []string{"update targets/81 ids"}},
		"but not where it is blocked too": {want: desiredStack(inGroup("80"), members("80", yesterday...)), today: today, holds: plan.DryRun},
		"nor in what takes no change": {want: desiredStack(inGroup("80"), members("80", yesterday...)), today: today,
			have: func(s *stack.Stack) {
				busy, _ := s.Get(newKey("group", "81"))
				busy.State = stack.Pending
				s.Put(busy)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			found, rules := have.Clone(), rules
			if tc.have != nil {
				tc.have(found)
			}
			rules.Today = func() *stack.Stack {
				out := found.Clone()
				out.Put(members("80", tc.today...))
				out.Put(members("81", tc.today...))
				return out
			}
			p := diff.Compare(tc.want, found, rules, ledgerWith(nil))
			if tc.holds != nil {
				p = p.Under(tc.holds)
			}
			var got []string
			for _, s := range p.Steps {
				line := s.ID.String()
				for _, o := range s.Otherwise {
					line += " | " + o.ID.String()
				}
				got = append(got, line)
			}
			slices.Sort(got)
			slices.Sort(tc.plan)
			if d := cmp.Diff(tc.plan, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestUndo: a refused release of what proves rules creates them again, and no other plan does.
func TestUndo(t *testing.T) {
	rules := toyRules()
	for kind, role := range map[stack.Kind]diff.Role{"lb": diff.EntryPoint, "wall": diff.Admits} {
		rule := rules.Kinds[kind]
		rule.Role, rule.ProvenBy = role, map[stack.Kind][]stack.Kind{"wall": {"lb"}}[kind]
		rules.Kinds[kind] = rule
	}
	have := observedStack(ownedResource(theLB, stack.Key{}, lb{}), ownedResource(newKey("wall", "80"), stack.Key{}, wall{Ports: []int{80}}), ownedResource(newKey("group", "80"), stack.Key{}, group{}))
	for name, tc := range map[string]struct {
		want *stack.Stack
		undo []string
	}{
		"a release": {want: desiredStack(), undo: []string{"create wall/80"}},
		"a change":  {want: desiredStack(ownedResource(theLB, stack.Key{}, lb{}))},
	} {
		var got []string
		for _, s := range diff.Compare(tc.want, have, rules, ledgerWith(nil)).Steps {
			for _, again := range s.Otherwise {
				if got = append(got, again.ID.String()); s.ID.Key != theLB || again.Target.ID != "" {
					t.Errorf("%s: %s in place of %s", name, again.ID, s.ID)
				}
			}
		}
		if d := cmp.Diff(tc.undo, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	stays := diff.Compare(desiredStack(), have, rules, ledgerWith(nil)).Under(func(s plan.Step) plan.Verdict {
		return plan.Verdict{Blocked: s.ID.Key == theLB, By: plan.ByPolicy}
	})
	for _, s := range stays.Steps {
		if s.ID.Key.Kind == "wall" {
			t.Errorf("a policy keeps the load balancer: got %s", s.ID)
		}
	}
}

// TestFollowSharesMembers: an update with the backends of today keeps no second copy of members that are desired anyway.
func TestFollowSharesMembers(t *testing.T) {
	members := func(ids ...string) stack.Resource {
		return ownedResource(newKey("targets", "80"), newKey("group", "80"), targets{IDs: ids})
	}
	in := ownedResource(newKey("group", "80"), stack.Key{}, group{Port: 30080})
	rules := toyRules()
	rule := rules.Kinds["targets"]
	rule.FollowsBackends, rule.Sets = true, map[string]diff.Set{"IDs": {Whole: true}}
	rules.Kinds["targets"] = rule
	for name, today := range map[string][]string{"equal": {"a", "c"}, "other": {"a", "d"}} {
		rules.Today = func() *stack.Stack { return observedStack(in, members(today...)) }
		p := diff.Compare(desiredStack(in, members("a", "c")), observedStack(in, members("a", "b")), rules, ledgerWith(nil))
		if len(p.Steps) != 1 || len(p.Steps[0].Otherwise) != 1 {
			t.Fatalf("%s: %v", name, p.Steps)
		}
		planned, _ := p.Steps[0].Target.Spec.(targets)
		otherwise, _ := p.Steps[0].Otherwise[0].Target.Spec.(targets)
		if d := cmp.Diff(today, otherwise.IDs); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if shared := &planned.IDs[0] == &otherwise.IDs[0]; shared != (name == "equal") {
			t.Errorf("%s: one copy: %t", name, shared)
		}
	}
}
