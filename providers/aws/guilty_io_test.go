package aws

import (
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/ec2"
)

// TestGuiltyNodeRules: the rules of many Services in the group of the nodes, of which
// some are for a group that is gone.
func TestGuiltyNodeRules(t *testing.T) {
	props.Guilty(t, func(t *testing.T) props.Shared {
		r := newRig(t, simaws.Options{EC2: ec2.Options{Limits: ec2.Limits{RulesPerGroup: 1000}}})
		const gone = "sg-0bad0bad0bad0bad0"
		return props.Shared{
			Engine: engine.New(r.session.Apply, r.book, engine.Options{PerOwner: 100}), Mark: gone,
			Calls: func() int { return r.calls()["ec2.AuthorizeSecurityGroupIngress"] },
			Step: func(n int, bad bool) plan.Step {
				step := r.ruleSteps(plan.Create, n, n+1)[0]
				if bad {
					rule := step.Target.Spec.(NodeRule)
					rule.CIDR, rule.Source = "", stack.RefID(gone)
					step.Target = counted(rule)
					step.ID.Key = step.Target.Key
				}
				return step
			},
		}
	})
}
