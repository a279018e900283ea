package plan

import "slices"

// BlockedBy is the reason why a step may not run now. The set is closed: readers handle
// every value, and a new reason is added here.
type BlockedBy string

const (
	// ByPolicy means that the operator does not allow it; Policy has the name.
	ByPolicy BlockedBy = "policy"
	// ByNeeds means that it is blocked with a step that it needs or is one half of a
	// replacement with; Needs has that step.
	ByNeeds BlockedBy = "needs"
	// ByUse means that an observed resource uses it and stays.
	ByUse BlockedBy = "use"
	// BySlot means that another resource has the slot that it needs.
	BySlot BlockedBy = "slot"
	// ByCycle means that steps need each other, so that none can be first.
	ByCycle BlockedBy = "cycle"
	// ByFilter means that the operator excludes the object of the step.
	ByFilter BlockedBy = "filter"
	// ByTakeover means that it is drift that another controller left.
	ByTakeover BlockedBy = "takeover"
	// ByLedger means that other Services use the shared resource, or are not known yet.
	ByLedger BlockedBy = "ledger"
	// ByProof means that there is no proof that the observed resource is ours.
	ByProof BlockedBy = "proof"
	// ByBlind means that resources of the kind could not be read.
	ByBlind BlockedBy = "blind"
	// ByBusy means that the cloud is still creating or changing the observed resource.
	ByBusy BlockedBy = "busy"
	// ByFailed means that the observed resource has failed and accepts no changes.
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

// Blocked is a step that may not run now, with the reason.
type Blocked struct {
	Step   Step
	By     BlockedBy
	Policy string // of ByPolicy: its name
	Needs  StepID // of ByNeeds: the step that is blocked itself
	Why    string // one sentence for the user
}

// Cause returns the reason with its details, such as "policy no-delete" or
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

// InCloud reports whether the cause is in the observed or unreadable state of the cloud:
// its end causes no event, so the cloud has to be read again.
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

// FollowsOther reports whether the step is blocked only because of another one, which
// has the cause.
func (b Blocked) FollowsOther() bool { return b.By == ByNeeds }

// Verdict is a policy's decision about one step.
type Verdict struct {
	Blocked bool
	By      BlockedBy
	Policy  string // of ByPolicy: its name
	Why     string
}

// blockedByPolicy returns the verdict of a policy of the operator.
func blockedByPolicy(name, why string) Verdict {
	return Verdict{Blocked: true, By: ByPolicy, Policy: name, Why: why}
}
