package model

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Parts of updates that are calls of their own.
const (
	PartAttributes  = "attributes"
	PartGroups      = "groups"
	PartMembers     = "members"
	PartCertificate = "certificate"
)

// Batches of steps that share calls, before what shares them.
const (
	BatchListeners = "listeners "
	BatchDropped   = "dropped listeners "
	BatchRules     = "rules "
	BatchTargets   = "targets "
)

// Rules returns how resources of every kind are compared and written.
func Rules() diff.Rules {
	inside := diff.Within{Cascade: true}
	return diff.Rules{
		Lock: lockBalancer,
		Kinds: map[stack.Kind]diff.Rule{
			KindBalancer: {
				Fields: diff.Fields{
					// Build refuses a change of the type, the subnet, the network and the region. The others count at creation only.
					Ignore: []string{"Name", "Type", "IPVersion", "Region", "VPC", "Subnet", "ChargeType", "Tags", "Addresses", "Address6", "Domain"},
					Sticky: []string{"Bandwidth", "PassToTarget", "Groups"},
					Parts:  map[string]string{"Bandwidth": PartAttributes, "PassToTarget": PartAttributes, "Groups": PartGroups},
				},
				Clash: diff.Doubled, Pending: diff.Settle, Traffic: diff.Traffic{Role: diff.EntryPoint, Single: true, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
			},
			KindListener: {
				Traffic: diff.Traffic{Role: diff.Port, FollowsBackends: true, Impact: map[string]plan.Impact{"delete": plan.Interrupts, "replace": plan.Brief}},
				Within:  inside,
				Clash:   diff.Refused,
				Fields: diff.Fields{
					Immutable: []string{"Protocol", "Port", "Name"}, Sticky: []string{"Certificate"},
					Sets:  map[string]diff.Set{"Members": {Whole: true}},
					Equal: map[string]diff.Equal{"Settings": hasSettings, "SNI": isSwitchedOn},
				},
				Replace: diff.DeleteFirst, // a port has one listener of each transport
				Restore: true,
				Batch:   batchListener,
			},
			KindRule: {
				Traffic: diff.Traffic{
					// A listener of HTTP serves no client without its rules.
					Role: diff.Port | diff.Completes, FollowsBackends: true,
					Impact: map[string]plan.Impact{"delete": plan.Interrupts},
				},
				Within:  inside,
				Clash:   diff.Refused,
				Restore: true,
				Fields: diff.Fields{
					Immutable: []string{"Domain", "URL"}, Sticky: []string{"Certificate"},
					Sets:  map[string]diff.Set{"Members": {Whole: true}},
					Equal: map[string]diff.Equal{"Settings": hasSettings},
					Parts: map[string]string{"Certificate": PartCertificate},
				},
				Batch: batchRule,
			},
			KindClaim: {Fields: diff.Fields{Equal: map[string]diff.Equal{"Listeners": sameIDs}}},
		},
	}
}

// batchListener names the calls that steps of listeners of one Service share.
func batchListener(r stack.Resource, action plan.Action, part string) string {
	spec, _ := r.Spec.(Listener)
	switch {
	case action == plan.Create:
		return BatchListeners + spec.Batch
	case action == plan.Delete:
		return BatchDropped + spec.Batch
	case part == PartMembers:
		return BatchTargets + spec.Batch
	}
	return ""
}

// batchRule names the calls that steps of rules of one Service share: rules are created by listener.
func batchRule(r stack.Resource, action plan.Action, part string) string {
	spec, _ := r.Spec.(Rule)
	switch {
	case action == plan.Create:
		return BatchRules + spec.Batch + " " + r.In.Name
	case action == plan.Update && part == PartMembers:
		return BatchTargets + spec.Batch
	}
	return ""
}

// hasSettings reports whether a listener has the desired settings. Others are those of the cloud or
// of the user.
func hasSettings(want, have any) bool {
	asked, _ := want.(map[string]string)
	found, _ := have.(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if asked[name] != found[name] {
			return false
		}
	}
	return true
}

// isSwitchedOn compares a switch that the cloud does not switch off again.
func isSwitchedOn(want, have any) bool { return want == have || have == true }

func sameIDs(want, have any) bool {
	w, _ := want.([]string)
	h, _ := have.([]string)
	return slices.Equal(w, h)
}

// lockBalancer allows one change at a time in a load balancer.
func lockBalancer(_ stack.Owner, r stack.Resource, found func(stack.Key) (stack.Resource, bool)) []string {
	for range 2 { // rule, listener
		if r.In == (stack.Key{}) {
			break
		}
		above, ok := found(r.In)
		if !ok {
			return nil
		}
		r = above
	}
	if lb, ok := found(r.Key); ok && lb.ID != "" && r.Key.Kind == KindBalancer {
		return []string{"load balancer " + lb.ID}
	}
	return nil
}
