package offline

import (
	"fmt"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack/plan"
)

// opens warns of security groups that the nodes let in on all ports because the Service
// names them: this reaches further than the Service.
func (p *planning) opens(t task) []plan.Problem {
	if t.draft.Job.Release || t.draft.Problems.Errors() {
		return nil
	}
	var out []plan.Problem
	for _, n := range p.reconciler.ReachOf(t.draft).Opens {
		out = append(out, plan.Problem{Severity: plan.Warning, Code: string(annotations.CodePlan), Where: n.Key, Text: fmt.Sprintf(
			"the nodes let every machine of the security group %s in on all ports, those of the kubelet and of other Services too, as with the official controller; forbidOpenNodes of the policy forbids that", n.Value)})
	}
	return out
}
