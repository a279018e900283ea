package model

import (
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Parts of updates that are calls of their own.
const (
	PartBinding   = "binding"
	PartMembers   = "members"
	PartBandwidth = "bandwidth"
)

// Rules returns how resources of every kind are compared and written.
func Rules() diff.Rules {
	inside := diff.Within{Cascade: true}
	group := diff.Rule{
		Role: diff.Members, FollowsBackends: true, Within: inside, Clash: diff.Doubled, Ignore: []string{"Name", "Mark"},
		Sets:   map[string]diff.Set{"Members": {Whole: true}},
		Impact: map[string]plan.Impact{"delete": plan.Interrupts},
	}
	return diff.Rules{
		Lock: lockBalancer,
		Kinds: map[stack.Kind]diff.Rule{
			KindBalancer: {
				// Build refuses a change of the place. The others count at creation only.
				Ignore: []string{"Type", "Name", "Description", "VPC", "Subnet", "Tags", "Address"},
				Parts:  map[string]string{"EIP": PartBinding},
				Clash:  diff.Doubled, Role: diff.EntryPoint, Single: true,
				Impact: map[string]plan.Impact{"delete": plan.Interrupts, "EIP": plan.Brief},
			},
			KindAddress: {
				// Build refuses a change of the payment.
				Ignore: []string{"Name", "Payment", "Billing", "Months", "Tags", "Instance"},
				Sticky: []string{"Bandwidth"}, Parts: map[string]string{"Bandwidth": PartBandwidth}, Clash: diff.Doubled,
				Impact: map[string]plan.Impact{"delete": plan.Interrupts},
			},
			KindGroup: group,
			KindPool:  group,
			KindTarget: {
				Role: diff.Members, Within: inside, Clash: diff.Refused, Immutable: []string{"Protocol", "Port"},
				Equal: map[string]diff.Equal{"Health": isHealth},
			},
			KindListener: {
				Role: diff.Port, Within: inside, Clash: diff.Refused, Ignore: []string{"Mark"}, Immutable: []string{"Protocol", "Port"}, Sticky: []string{"Scheduler", "BackendPort"},
				Equal:  map[string]diff.Equal{"Health": isHealth},
				Impact: map[string]plan.Impact{"delete": plan.Interrupts},
			},
			KindPolicy: {
				Role: diff.Port, Within: inside, Clash: diff.Refused, Ignore: []string{"Mark", "Target"}, Immutable: []string{"Group", "Backend"},
				Replace: diff.DeleteFirst, Restore: true, // a listener has one policy
				Impact: map[string]plan.Impact{"delete": plan.Interrupts, "replace": plan.Brief},
			},
			KindBackends: {
				Role: diff.Members, FollowsBackends: true, Within: diff.Within{Inherent: true, Cascade: true}, Sets: map[string]diff.Set{"Members": {Whole: true}},
			},
			KindClaim: {},
		},
	}
}

// isHealth reports whether a health check has the desired settings. Others are kept.
func isHealth(want, have any) bool {
	w, _ := want.(Health)
	h, _ := have.(Health)
	return w.Over(h) == h
}

// Over returns the settings of the health check, and those of another one where it has none.
func (h Health) Over(found Health) Health {
	for to, from := range map[*int]int{&h.Timeout: found.Timeout, &h.Interval: found.Interval, &h.Unhealthy: found.Unhealthy, &h.Healthy: found.Healthy} {
		if *to == 0 {
			*to = from
		}
	}
	if h.Text == "" {
		h.Text = found.Text
	}
	return h
}

// lockBalancer allows one change at a time in a load balancer.
func lockBalancer(_ stack.Owner, r stack.Resource, found func(stack.Key) (stack.Resource, bool)) []string {
	for range 2 { // a part of a part
		if above, ok := found(r.In); ok && r.In != (stack.Key{}) {
			r = above
		}
	}
	if lb, ok := found(r.Key); ok && lb.ID != "" && r.Key.Kind == KindBalancer {
		return []string{"load balancer " + lb.ID}
	}
	return nil
}
