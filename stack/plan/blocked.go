package plan

import "slices"

// BlockedBy is why a step may not run now. The set is closed: who reads it handles
// each, and who blocks a step for another reason adds it here.
type BlockedBy string

const (
	// ByPolicy means that the operator does not allow it; Policy has the name.
	ByPolicy BlockedBy = "policy"
	// ByNeeds means that it is blocked with a step that it needs or is one half of a
	// replacement with; Needs has that step.
	ByNeeds BlockedBy = "needs"
	// ByUse means that something found uses the resource and stays.
	ByUse BlockedBy = "use"
	// BySlot means that something else has the place that the resource needs.
	BySlot BlockedBy = "slot"
	// ByCycle means that steps need each other, so that none can be first.
	ByCycle BlockedBy = "cycle"
	// ByFilter means that the operator keeps the object of the step from us.
	ByFilter BlockedBy = "filter"
	// ByTakeover means that it is drift that another controller left.
	ByTakeover BlockedBy = "takeover"
	// ByLedger means that other Services use what is shared, or are not known yet.
	ByLedger BlockedBy = "ledger"
	// ByProof means that nothing proves the found resource to be ours.
	ByProof BlockedBy = "proof"
	// ByBlind means that resources of the kind could not be read.
	ByBlind BlockedBy = "blind"
	// ByBusy means that the cloud is still making or changing the found resource.
	ByBusy BlockedBy = "busy"
	// ByFailed means that the cloud has given up the found resource and changes it no more.
	ByFailed BlockedBy = "failed"
	// ByIncomplete means that the step removes what serves until its replacement is complete,
	// and that part of the replacement is only planned once the cloud has chosen an address.
	ByIncomplete BlockedBy = "incomplete"
	// ByFixed means that the field can be changed neither in place nor by a replacement.
	ByFixed BlockedBy = "fixed"
	// ByRefused means that the cloud refused the same replacement before, so that it would
	// interrupt traffic for nothing.
	ByRefused BlockedBy = "refused"
)

// Blocked is a step that may not run now, and why.
type Blocked struct {
	Step   Step
	By     BlockedBy
	Policy string // of ByPolicy: its name
	Needs  StepID // of ByNeeds: the step that is blocked itself
	Why    string // one sentence for the user
}

// Cause returns the reason with what belongs to it, such as "policy no-delete" or
// "needs create listener/tcp-80".
func (b Blocked) Cause() string {
	switch b.By {
	case ByPolicy:
		return string(b.By) + " " + b.Policy
	case ByNeeds:
		return string(b.By) + " " + b.Needs.String()
	default:
		return string(b.By)
	}
}

// InCloud tells whether the cause lies in what was found in the cloud or could not
// be seen there: nothing tells when it goes, so that it is to be looked at again.
func (b Blocked) InCloud() bool {
	switch b.By {
	case ByProof, BySlot, ByUse, ByBlind, ByBusy, ByFailed:
		return true
	default:
		return false
	}
}

// Only reports whether every blocked step of the plan is blocked for the reason.
func (p Plan) Only(why BlockedBy) bool {
	return !slices.ContainsFunc(p.Blocked, func(b Blocked) bool { return b.By != why })
}

// FollowsOther tells whether the step is blocked only with another one, which
// tells the cause.
func (b Blocked) FollowsOther() bool { return b.By == ByNeeds }

// Verdict is a policy's answer to one step.
type Verdict struct {
	Blocked bool
	By      BlockedBy
	Policy  string // of ByPolicy: its name
	Why     string
}

// blockedByPolicy holds a step for a policy of the operator.
func blockedByPolicy(name, why string) Verdict {
	return Verdict{Blocked: true, By: ByPolicy, Policy: name, Why: why}
}
