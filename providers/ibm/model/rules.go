package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Parts of updates that are calls of their own.
const (
	PartSubnets = "subnets"
	PartMembers = "members"
	PartJoin    = "groups+"
	PartLeave   = "groups-"
)

// Rules returns how resources of every kind are compared and written.
func Rules() diff.Rules {
	return diff.Rules{
		Kinds: map[stack.Kind]diff.Rule{
			KindBalancer: {
				Fields: diff.Fields{
					// Build refuses a change of these before anything is written.
					Ignore: []string{"Name", "Kind", "Public", "Hostname", "Addresses", "Awaited"},
					Sticky: []string{"Subnets", "Groups", "DNS"},
					// Groups are added before others are removed: a load balancer is never without one.
					Sets:  map[string]diff.Set{"Groups": {}},
					Parts: map[string]string{"Subnets": PartSubnets},
				},
				Clash:   diff.Doubled,
				Failed:  diff.Report,
				Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
			},
			KindPool: {
				Traffic: diff.Traffic{Role: diff.Members, FollowsBackends: true, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
				Within:  diff.Within{Inline: true, Cascade: true},
				Fields: diff.Fields{
					// The official controller sets the algorithm at creation only.
					Ignore:    []string{"Algorithm", "Managed"},
					Immutable: []string{"Protocol"},
					Parts:     map[string]string{"Members": PartMembers},
					Equal:     map[string]diff.Equal{"Members": sameMembers, "Health": sameHealth},
				},
			},
			KindListener: {
				Traffic: diff.Traffic{Role: diff.Port, Impact: map[string]plan.Impact{"delete": plan.Interrupts, "replace": plan.Brief}},
				Within:  diff.Within{Inline: true, Cascade: true},
				Fields: diff.Fields{
					// The official controller sets the limit at creation only.
					Ignore:    []string{"Limit"},
					Sticky:    []string{"Idle"},
					Immutable: []string{"Protocol", "Port", "Last"},
				},
				Replace: diff.DeleteFirst, // a port has one listener
				Restore: true,
			},
			// A rule only opens: nothing waits for it. Its name has the address and the port.
			KindRule: {Fields: diff.Fields{Immutable: []string{"Group", "Address", "Port"}}, Replace: diff.DeleteFirst},
		},
		Lock: lockBalancer,
	}
}

// lockBalancer allows one change at a time in a load balancer.
func lockBalancer(_ stack.Owner, r stack.Resource, found func(stack.Key) (stack.Resource, bool)) []string {
	key := r.Key
	if r.In != (stack.Key{}) {
		key = r.In
	}
	if lb, ok := found(key); ok && lb.ID != "" {
		return []string{"load balancer " + lb.ID}
	}
	return nil
}

// sameMembers reports whether two lists have the same members; the API keeps no order.
func sameMembers(want, have any) bool {
	sorted := func(list any) []Member {
		members, _ := list.([]Member)
		return slices.SortedFunc(slices.Values(members), compareMembers)
	}
	return slices.Equal(sorted(want), sorted(have))
}

// sameHealth reports whether two health checks are equal; the API does not show that of a
// private path load balancer.
func sameHealth(want, have any) bool { return have == Health{} || want == have }

func compareMembers(a, b Member) int {
	if c := strings.Compare(a.target(), b.target()); c != 0 {
		return c
	}
	return int(a.Port - b.Port)
}
