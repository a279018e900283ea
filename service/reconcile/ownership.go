package reconcile

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// beginRelease records what the Service has when its release begins, and removes from the
// view what belongs to a later Service of the same name. Without a record from before the
// later Service existed, everything that is found by the name counts as the later one's.
func (r *Reconciler) beginRelease(o stack.Owner, v View) View {
	if r.cloud.FoundByName == nil {
		return v
	}
	var has []ledger.Identity
	if later, _ := r.ledger.Namesake(o); !later {
		has = r.listIdentities(o, v.Have)
	}
	r.ledger.BeginRelease(o, has)
	v.shown, v.Have = v.Have, r.leaveNamesake(o, v.Have)
	return v
}

// recordIdentities records the identities of what a served Service has, so that no release of an earlier
// Service of the same name deletes it.
func (r *Reconciler) recordIdentities(p Parsed, basis Basis, have *stack.Stack) {
	if r.cloud.FoundByName != nil && p.Intent != Release {
		r.ledger.Own(p.Owner, r.listIdentities(p.Owner, have), basis < Remembered)
	}
}

// recordIdentitiesAfter does the same after a run. A creation that was not answered may have succeeded.
func (r *Reconciler) recordIdentitiesAfter(d *Draft, report engine.Report) {
	r.recordIdentities(d.Parsed, d.Basis, report.Have)
	if r.cloud.FoundByName != nil && slices.ContainsFunc(report.Results, func(res engine.Result) bool {
		return res.Step.ID.Action == plan.Create && res.Outcome.Sent == plan.MaybeSent
	}) {
		r.ledger.Doubt(d.Owner)
	}
}

// listIdentities lists the resources that only the name of the Service attributes to it, without
// their parts.
func (r *Reconciler) listIdentities(o stack.Owner, have *stack.Stack) []ledger.Identity {
	var out []ledger.Identity
	for _, res := range have.Resources {
		if res.ID != "" && r.isNamed(o, have, res) {
			out = append(out, identityOf(have, res))
		}
	}
	return out
}

// isNamed reports whether a found resource is the Service's alone, no part of such a resource,
// and attributed to it by namespace and name.
func (r *Reconciler) isNamed(o stack.Owner, have *stack.Stack, res stack.Resource) bool {
	if res.Ownership != stack.Owned || res.Proof == stack.None || !r.cloud.FoundByName(o, res) {
		return false
	}
	parent, isPart := have.Get(res.In)
	return !isPart || parent.Ownership != stack.Owned
}

// identityOf returns the identity of a resource that is part of nothing, or of something that
// is not the Service's alone.
func identityOf(have *stack.Stack, res stack.Resource) ledger.Identity {
	id := ledger.Identity{Kind: res.Key.Kind, ID: res.ID}
	if parent, known := have.Get(res.In); known && parent.ID != "" {
		id.In = parent.ID
	} else if res.In != (stack.Key{}) {
		id.In = res.In.String()
	}
	return id
}

// leaveNamesake returns the resources found for a Service that is released, without the
// resources of a later Service of the same name; the ledger has the identities of both. While a
// creation of the later one is in doubt everything is left to it: its next run reads every
// resource of the name.
func (r *Reconciler) leaveNamesake(o stack.Owner, have *stack.Stack) *stack.Stack {
	if r.cloud.FoundByName == nil || have == nil {
		return have
	}
	later, doubted := r.ledger.Namesake(o)
	if !later {
		return have
	}
	out := have.Clone()
	for _, res := range have.Resources {
		if !r.isNamed(o, have, res) {
			continue
		}
		if doubted || !r.ledger.MayRelease(o, identityOf(have, res)) {
			out.Drop(res.Key)
		}
	}
	return out
}
