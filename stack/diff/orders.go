package diff

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Orders returns the orders of the rule table: derived from roles and evidence, and Edges. Each has its reason.
func (r Rules) Orders() []Edge {
	d := &derivation{rules: r, kinds: slices.Sorted(maps.Keys(r.Kinds))}
	for _, kind := range d.kinds {
		rule := r.Kinds[kind]
		for _, evidence := range rule.ProvenBy {
			d.deriveEvidence(evidence, kind)
		}
		if rule.Role.Is(Admits) {
			d.deriveAdmission(kind)
		}
		if rule.Role.Is(Port) {
			d.derivePort(kind)
		} else if rule.Role.Is(EntryPoint) {
			d.deriveEntryPoint(kind)
		}
	}
	return slices.Concat(r.Edges, d.out)
}

// WithOrders returns the rules with their orders, so that these are derived once and not for
// each plan. Kinds and Edges must not be changed afterwards.
func (r Rules) WithOrders() Rules {
	r.orders = r.Orders()
	return r
}

// derivation collects orders that follow from what rules say of kinds.
type derivation struct {
	rules Rules
	kinds []stack.Kind // in order
	out   []Edge
}

func (d *derivation) withRole(role Role) []stack.Kind {
	return slices.DeleteFunc(slices.Clone(d.kinds), func(k stack.Kind) bool { return !d.rules.Kinds[k].Role.Is(role) })
}

func (d *derivation) addHard(first, then Match, reason string, kinds ...any) {
	d.out = append(d.out, Edge{First: first, Then: then, Reason: fmt.Sprintf(reason, kinds...)})
}

func (d *derivation) addSoft(first, then Match, reason string, kinds ...any) {
	d.out = append(d.out, Edge{First: first, Then: then, Soft: true, Reason: fmt.Sprintf(reason, kinds...)})
}

// deriveEvidence adds the orders by which a crash at any moment leaves the evidence of
// ownership in place.
func (d *derivation) deriveEvidence(of, kind stack.Kind) {
	d.addHard(Match{Action: plan.Create, Kind: of}, Match{Action: plan.Create, Kind: kind}, "%[1]s is the evidence of ownership of %[2]s, and is created before it", of, kind)
	d.addHard(Match{Action: plan.Delete, Kind: kind}, Match{Action: plan.Delete, Kind: of}, "%[1]s is the evidence of ownership of %[2]s, and is deleted after it", of, kind)
}

// deriveAdmission adds the orders by which traffic is admitted before the first and until
// the last resource that receives it. A kind that may admit traffic to other Services is
// widened after its port exists.
func (d *derivation) deriveAdmission(kind stack.Kind) {
	rule := d.rules.Kinds[kind]
	wider, narrower := Match{Kind: kind, Effect: Widens}, Match{Kind: kind, Effect: Narrows}
	early, late := wider, wider
	late.Where = rule.WidenLast
	if rule.WidenLast != nil {
		early.Where = func(r stack.Resource) bool { return !rule.WidenLast(r) }
	}
	for _, user := range d.withRole(Port | EntryPoint) {
		opens := d.rules.Kinds[user].Role.Is(Port)
		proves := slices.Contains(rule.ProvenBy, user)
		create, remove := Match{Action: plan.Create, Kind: user}, Match{Action: plan.Delete, Kind: user}
		reroute := Match{Kind: user, Effect: Reroutes}
		if rule.WidenLast != nil {
			d.addHard(create, late, "%[2]s may admit traffic to other Services, and is widened after %[1]s is created", user, kind)
			if opens {
				d.addHard(reroute, late, "%[2]s may admit traffic to other Services, and is widened after %[1]s is updated", user, kind)
			}
		}
		if opens && !proves {
			d.addSoft(early, create, "%[2]s admits the clients of %[1]s, and is widened before it is created", user, kind)
		}
		d.addSoft(early, reroute, "%[2]s admits the traffic of %[1]s, and is widened before it is switched", user, kind)
		if opens {
			d.addSoft(wider, remove, "%[1]s is deleted when what admits traffic to its successors is complete: %[2]s", user, kind)
		}
		if opens && proves {
			for _, part := range d.withRole(Port | Members) {
				d.addSoft(Match{Action: plan.Create, Kind: part}, narrower, "a new port that is refused closes no old one: %[1]s before %[2]s", part, kind)
			}
		}
		d.addSoft(reroute, narrower, "%[2]s admits the traffic of %[1]s until it is switched", user, kind)
		if !proves {
			d.addSoft(remove, Match{Kind: kind, Effect: OnlyNarrows}, "%[2]s admits the clients of %[1]s until it is deleted", user, kind)
		}
	}
	for _, members := range d.withRole(Members) {
		d.addSoft(Match{Kind: members, Effect: Reroutes}, narrower, "%[2]s admits the traffic to %[1]s until that is updated", members, kind)
	}
	d.addSoft(wider, narrower, "what %[1]s admits before and after is admitted in between", kind)
}

// derivePort adds the orders by which new ports have backends, and exist before old ones
// are deleted.
func (d *derivation) derivePort(kind stack.Kind) {
	create, remove := Match{Action: plan.Create, Kind: kind}, Match{Action: plan.Delete, Kind: kind}
	for _, part := range d.withRole(Port | Members) {
		d.addSoft(Match{Action: plan.Create, Kind: part}, remove, "a new port that is refused closes no old one: %[1]s before %[2]s", part, kind)
	}
	for _, members := range d.withRole(Members) {
		if !d.rules.Kinds[members].FollowsBackends {
			continue
		}
		for _, then := range []Match{create, {Kind: kind, Effect: Reroutes}} {
			d.out = append(d.out, Edge{
				First: Match{Kind: members, Effect: Widens}, Then: then, routed: true, Soft: true,
				Reason: fmt.Sprintf("%[2]s is not created or switched before %[1]s has backends", members, kind),
			})
		}
	}
}

// deriveEntryPoint adds the orders by which a new entry point of the kind serves before an
// old one is deleted.
func (d *derivation) deriveEntryPoint(kind stack.Kind) {
	remove := Match{Action: plan.Delete, Kind: kind}
	d.addSoft(Match{Action: plan.Create, Kind: kind}, remove, "a new %[1]s serves before an old one is deleted", kind)
	for _, last := range d.withRole(Completes) {
		d.addSoft(Match{Kind: last, Effect: Widens}, remove, "a new %[1]s is complete before an old one is deleted: %[2]s", kind, last)
	}
}
