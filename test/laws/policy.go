package laws

import "github.com/berth-lb/berth/stack/plan"

// underPolicy returns a plan without what the policy of the scenario blocks.
func (x *run) underPolicy(p *planned) *planned {
	for i, r := range x.scenario.Refuse {
		if r.How != Held || x.lifted {
			continue
		}
		blocks := func(s plan.Step) plan.Verdict {
			return plan.Verdict{Blocked: s.ID == r.Step && (s.ID.Action != plan.Create || sameSpec(r.Spec, s.Target.Spec)), By: plan.ByPolicy, Policy: "laws"}
		}
		next := p.held[r.Step]
		if next == nil {
			next = newPlanned(p.plan.Under(blocks), p.desired, p.have)
			if p.held == nil {
				p.held = map[plan.StepID]*planned{}
			}
			p.held[r.Step] = next
		}
		if len(next.plan.Blocked) > len(p.plan.Blocked) {
			x.met[i]++
		}
		p = next
	}
	return p
}
