package wire

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/ec2"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestRejectedNodeRules: the rules of many Services in the group of the nodes, of which
// some are for a deleted group.
func TestRejectedNodeRules(t *testing.T) {
	props.RejectedMembers(t, func(t *testing.T) props.Shared {
		r := newRig(t, simaws.Options{EC2: ec2.Options{Limits: ec2.Limits{RulesPerGroup: 1000}}})
		const gone = "sg-0bad0bad0bad0bad0"
		return props.Shared{
			Engine: engine.New(r.session.Apply, r.book, engine.Options{PerOwner: 100}), Mark: gone,
			Calls: func() int { return r.calls()["ec2.AuthorizeSecurityGroupIngress"] },
			Step: func(n int, bad bool) plan.Step {
				step := r.ruleSteps(plan.Create, n, n+1)[0]
				if bad {
					rule := step.Target.Spec.(model.NodeRule)
					rule.CIDR, rule.Source = "", stack.RefID(gone)
					step.Target = sharedRule(rule)
					step.ID.Key = step.Target.Key
				}
				return step
			},
		}
	})
}

// TestGroupOfNodesGone: where a group of nodes was deleted while its rules were cached,
// no rule is at fault, and no search tries one rule after the other.
func TestGroupOfNodesGone(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{})
		const gone = "sg-0bad0bad0bad0bad0"
		r.session.facts.learnGroups(time.Now(), []model.NodeGroup{{ID: gone}}, nil, nil)
		steps := r.ruleSteps(plan.Create, 0, 40)
		for i := range steps {
			rule := steps[i].Target.Spec.(model.NodeRule)
			rule.Group = gone
			steps[i].Target = sharedRule(rule)
			steps[i].ID.Key = steps[i].Target.Key
			steps[i].Batch = "sg/" + gone
		}
		for i, o := range r.apply(steps...) {
			if !fault.Is(o.Err, fault.NotFound) {
				t.Errorf("step %d: %v", i, o.Err)
			}
		}
		if calls := r.calls(); calls["ec2.AuthorizeSecurityGroupIngress"] > 1 || calls["ec2.DescribeSecurityGroups"] > 1 {
			t.Errorf("a group that is gone took %v", calls)
		}
	})
}
