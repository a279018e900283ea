package plan

import (
	"time"

	"github.com/berth-lb/berth/stack"
)

// Sent says whether the cloud may have committed a call.
type Sent int

const (
	// NotSent means that nothing left this process, or that the cloud refused.
	NotSent Sent = iota
	// WasSent means that the cloud answered that it did it.
	WasSent
	// MaybeSent means that the call went out and no answer came.
	MaybeSent
)

// Refusal is a member of a set step that the cloud would not take.
type Refusal struct {
	Member any
	Err    error
}

// Outcome is what became of one step.
type Outcome struct {
	After   stack.Resource   // as the cloud has it now, normalised; becomes what is known
	Parts   []stack.Resource // the same for what was created in the same call
	Refused []Refusal        // members that were left out; the step counts as done without them
	Wait    time.Duration    // accepted but not finished: look again after
	// Manual is what somebody with more rights has to do, in words for them. The step
	// counts as done, since nothing else waits for it; reads show whether it was.
	Manual string
	// Gone lists what else the owner no longer has by this step, without one of its own: a
	// load balancer that its maker leaves to the others on it, a claim on what was removed.
	Gone []stack.Key
	// Used means that what was to be deleted stays, since somebody of whom nothing is
	// known here uses it. The step counts as done; whether it is free may be looked at later.
	Used bool
	Sent Sent
	Err  error // a fault; nil with no Wait is done
}

// Done is the outcome of a step that left the resource as given.
func Done(after stack.Resource) Outcome { return Outcome{After: after, Sent: WasSent} }

// Failed is the outcome of a step that the cloud refused.
func Failed(err error) Outcome { return Outcome{Err: err} }

// Claims tells, at the moment of writing, who else wants a shared entry.
type Claims interface {
	// Others lists the other owners that want the entry, in order.
	Others(me stack.Owner, entry stack.Resource) []stack.Owner
	// Older is the oldest other owner that wants the same entry, or the same slot of
	// something shared, and is older than the owner; false: there is none.
	Older(me stack.Owner, entry stack.Resource) (stack.Owner, bool)
}

// Resolver turns a reference of an owner's stack into an identifier; false
// while it does not exist yet.
type Resolver func(stack.Owner, stack.Ref) (string, bool)

// Batch is what one call of a provider gets: steps with the same batch key, of
// any owners.
type Batch struct {
	Key    string
	Steps  []Step
	IDs    Resolver
	Claims Claims
}

// ID resolves a reference of a step; empty when it is not known, which the
// order of the steps rules out.
func (b Batch) ID(s Step, r stack.Ref) string {
	if r.ID != "" || b.IDs == nil {
		return r.ID
	}
	id, _ := b.IDs(s.ID.Owner, r)
	return id
}
