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
		Traffic: diff.Traffic{Role: diff.Members, FollowsBackends: true, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
		Within:  inside,
		Clash:   diff.Doubled,
		Fields:  diff.Fields{Ignore: []string{"Name", "Mark"}, Sets: map[string]diff.Set{"Members": {Whole: true}}},
	}
	return diff.Rules{
		Lock: lockBalancer,
		Kinds: map[stack.Kind]diff.Rule{
			KindBalancer: {
				Fields: diff.Fields{
					// Build refuses a change of the place. The others count at creation only.
					Ignore: []string{"Type", "Name", "Description", "VPC", "Subnet", "Tags", "Address"},
					Parts:  map[string]string{"EIP": PartBinding},
				},
				Clash: diff.Doubled, Traffic: diff.Traffic{Role: diff.EntryPoint, Single: true, Impact: map[string]plan.Impact{"delete": plan.Interrupts, "EIP": plan.Brief}},
			},
			KindAddress: {
				Fields: diff.Fields{
					// Build refuses a change of the payment.
					Ignore: []string{"Name", "Payment", "Billing", "Months", "Tags", "Instance"},
					Sticky: []string{"Bandwidth"}, Parts: map[string]string{"Bandwidth": PartBandwidth},
				},
				Clash:   diff.Doubled,
				Traffic: diff.Traffic{Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
			},
			KindGroup: group,
			KindPool:  group,
			KindTarget: {
				Traffic: diff.Traffic{Role: diff.Members},
				Within:  inside,
				Clash:   diff.Refused,
				Fields:  diff.Fields{Immutable: []string{"Protocol", "Port"}, Equal: map[string]diff.Equal{"Health": isHealth}},
			},
			KindListener: {
				Traffic: diff.Traffic{Role: diff.Port, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
				Within:  inside,
				Clash:   diff.Refused,
				Fields:  diff.Fields{Ignore: []string{"Mark"}, Immutable: []string{"Protocol", "Port"}, Sticky: []string{"Scheduler", "BackendPort"}, Equal: map[string]diff.Equal{"Health": isHealth}},
			},
			KindPolicy: {
				Traffic: diff.Traffic{Role: diff.Port, Impact: map[string]plan.Impact{"delete": plan.Interrupts, "replace": plan.Brief}},
				Within:  inside,
				Clash:   diff.Refused,
				Fields:  diff.Fields{Ignore: []string{"Mark", "Target"}, Immutable: []string{"Group", "Backend"}},
				Replace: diff.DeleteFirst, Restore: true, // a listener has one policy
			},
			KindBackends: {
				Traffic: diff.Traffic{Role: diff.Members, FollowsBackends: true},
				Within:  diff.Within{Inherent: true, Cascade: true},
				Fields:  diff.Fields{Sets: map[string]diff.Set{"Members": {Whole: true}}},
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
