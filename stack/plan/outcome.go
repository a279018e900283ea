package plan

import (
	"time"

	"github.com/berth-lb/berth/stack"
)

// Sent is the possible effect of a call.
type Sent int

const (
	// NotSent means that nothing left this process, or that the cloud refused.
	NotSent Sent = iota
	// WasSent means that the cloud confirmed the call.
	WasSent
	// MaybeSent means that the call was sent and no answer was received.
	MaybeSent
)

// Refusal is a member of a set step that the cloud refused.
type Refusal struct {
	Member any
	Err    error
}

// Outcome is the result of one step.
type Outcome struct {
	After   stack.Resource   // the resource in the cloud now, normalised; becomes the known state
	Parts   []stack.Resource // the same for parts of the same call
	Refused []Refusal        // members that were left out; the step counts as done without them
	Wait    time.Duration    // accepted but not complete: pause before the next read
	// Manual is an action for an administrator with more rights, in words. The step counts
	// as done, since nothing else waits for it; reads show whether it was performed.
	Manual string
	// Gone lists other resources that the owner no longer has after this step: a load
	// balancer that it leaves to the others on it, a claim on a deleted resource.
	Gone []stack.Key
	// Used means that the resource stays, because an unknown user uses it. The step counts
	// as done; it can be retried later.
	Used bool
	Sent Sent
	Err  error // a fault; nil with no Wait is done
}

// Done is the outcome of a step that left the resource as given.
func Done(after stack.Resource) Outcome { return Outcome{After: after, Sent: WasSent} }

// Failed is the outcome of a step that the cloud refused.
func Failed(err error) Outcome { return Outcome{Err: err} }

// Claims returns, at the moment of a write, the other users of a shared entry.
type Claims interface {
	// Others returns the other owners that use the entry, in order.
	Others(me stack.Owner, entry stack.Resource) []stack.Owner
	// Older returns the oldest other owner that uses the same entry, or the same slot of a
	// shared resource, and is older than the owner; false: there is none.
	Older(me stack.Owner, entry stack.Resource) (stack.Owner, bool)
	// Find returns the first known owner that matches; false: there is none. Providers
	// resolve names that contain a part of an identity, such as a UID.
	Find(match func(stack.Owner) bool) (stack.Owner, bool)
}

// Resolver turns a reference of an owner's stack into an identifier; false
// while it does not exist yet.
type Resolver func(stack.Owner, stack.Ref) (string, bool)

// Batch is the input of one call of a provider: steps with the same batch key, of any
// owners.
type Batch struct {
	Key    string
	Steps  []Step
	IDs    Resolver
	Claims Claims
}

// ID resolves a reference of a step; empty when it is unknown, which the
// order of the steps prevents.
func (b Batch) ID(s Step, r stack.Ref) string {
	if r.ID != "" || b.IDs == nil {
		return r.ID
	}
	id, _ := b.IDs(s.ID.Owner, r)
	return id
}
