package diff

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Orders returns the orders of the rule table: those that follow from roles and evidence,
// and those of Edges. Each has its reason.
func (r Rules) Orders() []Edge {
	d := &derivation{rules: r, kinds: slices.Sorted(maps.Keys(r.Kinds))}
	for _, kind := range d.kinds {
		rule := r.Kinds[kind]
		for _, evidence := range rule.ProvenBy {
			d.evidence(evidence, kind)
		}
		if rule.Role.Is(Admits) {
			d.admission(kind)
		}
		if rule.Role.Is(Port) {
			d.port(kind)
		} else if rule.Role.Is(EntryPoint) {
			d.entryPoint(kind)
		}
	}
	return slices.Concat(r.Edges, d.out)
}

// derivation collects orders that follow from what rules say of kinds.
type derivation struct {
	rules Rules
	kinds []stack.Kind // in order
	out   []Edge
}

func (d *derivation) of(role Role) []stack.Kind {
	return slices.DeleteFunc(slices.Clone(d.kinds), func(k stack.Kind) bool { return !d.rules.Kinds[k].Role.Is(role) })
}

func (d *derivation) hard(first, then Match, reason string, kinds ...any) {
	d.out = append(d.out, Edge{First: first, Then: then, Reason: fmt.Sprintf(reason, kinds...)})
}

func (d *derivation) soft(first, then Match, reason string, kinds ...any) {
	d.out = append(d.out, Edge{First: first, Then: then, Soft: true, Reason: fmt.Sprintf(reason, kinds...)})
}

// evidence: a crash at any moment leaves the resource that the ownership of the other one
// is known by.
func (d *derivation) evidence(of, kind stack.Kind) {
	d.hard(Match{Action: plan.Create, Kind: of}, Match{Action: plan.Create, Kind: kind}, "%[1]s is the evidence of who owns %[2]s, and is created before it", of, kind)
	d.hard(Match{Action: plan.Delete, Kind: kind}, Match{Action: plan.Delete, Kind: of}, "%[1]s is the evidence of who owns %[2]s, and is deleted after it", of, kind)
}

// admission: what admits traffic does so before the traffic comes, and for as long as it
// comes. What could admit traffic to other Services waits until the port it is for exists.
func (d *derivation) admission(kind stack.Kind) {
	rule := d.rules.Kinds[kind]
	wider, narrower := Match{Kind: kind, Effect: Widens}, Match{Kind: kind, Effect: Narrows}
	for _, user := range d.of(Port | EntryPoint) {
		opens := d.rules.Kinds[user].Role.Is(Port)
		proves := slices.Contains(rule.ProvenBy, user)
		create, remove := Match{Action: plan.Create, Kind: user}, Match{Action: plan.Delete, Kind: user}
		reroute := Match{Kind: user, Effect: Reroutes}
		if rule.WidenLast {
			d.hard(create, wider, "%[2]s may admit traffic to other Services, and is widened after %[1]s is created", user, kind)
			if opens {
				d.hard(reroute, wider, "%[2]s may admit traffic to other Services, and is widened after %[1]s is updated", user, kind)
			}
		} else {
			if opens && !proves {
				d.soft(wider, create, "%[2]s admits the clients of %[1]s, and is widened before it is created", user, kind)
			}
			d.soft(wider, reroute, "%[2]s admits the traffic of %[1]s, and is widened before it is switched", user, kind)
		}
		if opens {
			d.soft(wider, remove, "%[1]s is deleted when what admits traffic to its successors is complete: %[2]s", user, kind)
		}
		if opens && proves {
			for _, part := range d.of(Port | Members) {
				d.soft(Match{Action: plan.Create, Kind: part}, narrower, "a new port that is refused closes no old one: %[1]s before %[2]s", part, kind)
			}
		}
		d.soft(reroute, narrower, "%[2]s admits the traffic of %[1]s until it is switched", user, kind)
		if !proves {
			d.soft(remove, narrower, "%[2]s admits the clients of %[1]s until it is deleted", user, kind)
		}
	}
	for _, members := range d.of(Members) {
		d.soft(Match{Kind: members, Effect: Reroutes}, narrower, "%[2]s admits the traffic to %[1]s until that is updated", members, kind)
	}
	d.soft(wider, narrower, "what %[1]s admits before and after is admitted in between", kind)
}

// port: new ports come before old ones are deleted, and with backends behind them.
func (d *derivation) port(kind stack.Kind) {
	create, remove := Match{Action: plan.Create, Kind: kind}, Match{Action: plan.Delete, Kind: kind}
	for _, part := range d.of(Port | Members) {
		d.soft(Match{Action: plan.Create, Kind: part}, remove, "a new port that is refused closes no old one: %[1]s before %[2]s", part, kind)
	}
	for _, members := range d.of(Members) {
		if !d.rules.Kinds[members].FollowsBackends {
			continue
		}
		for _, then := range []Match{create, {Kind: kind, Effect: Reroutes}} {
			d.out = append(d.out, Edge{
				First: Match{Kind: members, Effect: Widens}, Then: then, Same: true, Soft: true,
				Reason: fmt.Sprintf("%[2]s is not created or switched before %[1]s has backends", members, kind),
			})
		}
	}
}

// entryPoint: another one of the kind serves before an old one is deleted.
func (d *derivation) entryPoint(kind stack.Kind) {
	d.soft(Match{Action: plan.Create, Kind: kind}, Match{Action: plan.Delete, Kind: kind}, "a new %[1]s serves before an old one is deleted", kind)
}
