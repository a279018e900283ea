package kit

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Verb names the action of a step, down to the part that its call writes.
type Verb struct {
	Kind   stack.Kind
	Action plan.Action
	Part   string
}

// VerbOf returns the verb of a step. From its second chunk on the part of a set
// carries a number, which does not count.
func VerbOf(s plan.Step) Verb {
	return Verb{s.ID.Key.Kind, s.ID.Action, strings.TrimRight(s.ID.Part, "0123456789")}
}

// Change is one running step, in a session of type S.
type Change[S any] struct {
	Session S
	Ctx     context.Context //nolint:containedctx // of the one call that uses the value
	Batch   plan.Batch
	Step    plan.Step
	// Same are the indices in Batch of all steps that the change is for; empty: of
	// Step alone.
	Same []int
}

// Verbs is the table of a provider's write calls.
type Verbs[S any] map[Verb]func(*Change[S]) plan.Outcome

// Run performs the change's step. A step that is not in the table is a defect, and
// ends with an Internal fault.
func (v Verbs[S]) Run(c *Change[S]) plan.Outcome {
	run, ok := v[VerbOf(c.Step)]
	if !ok {
		return plan.Failed(fault.New(fault.Internal, "%s: there is no call that does this", c.Step.ID))
	}
	return run(c)
}

// Apply performs the steps of a batch one after the other, and returns one outcome
// for each.
func (v Verbs[S]) Apply(ctx context.Context, s S, b plan.Batch) []plan.Outcome {
	out := make([]plan.Outcome, 0, len(b.Steps))
	for _, step := range b.Steps {
		out = append(out, v.Run(&Change[S]{Session: s, Ctx: ctx, Batch: b, Step: step}))
	}
	return out
}

// With returns a verb that passes the step's content to f. Content of another type is
// a defect of the plan, and ends with an Internal fault.
func With[S, T any](f func(*Change[S], T) plan.Outcome) func(*Change[S]) plan.Outcome {
	return func(c *Change[S]) plan.Outcome {
		spec, ok := c.Step.Target.Spec.(T)
		if !ok {
			return plan.Failed(fault.New(fault.Internal, "%s: its content is a %T", c.Step.ID, c.Step.Target.Spec))
		}
		return f(c, spec)
	}
}

// ID returns the identifier of the step's resource. An inherent resource of a new
// parent is identified by that parent.
func (c *Change[S]) ID() string {
	t := c.Step.Target
	return cmp.Or(t.ID, c.Batch.ID(c.Step, stack.RefTo(t.Key)), c.Parent())
}

// Parent returns the identifier of the resource that contains the step's resource.
func (c *Change[S]) Parent() string { return c.Batch.ID(c.Step, stack.RefTo(c.Step.Target.In)) }

// IDs returns the identifiers of references, in order.
func (c *Change[S]) IDs(refs []stack.Ref) []string {
	var out []string
	for _, r := range refs {
		out = append(out, c.Batch.ID(c.Step, r))
	}
	return out
}

// Resolve returns the identifier of a reference of the step.
func (c *Change[S]) Resolve(r stack.Ref) string { return c.Batch.ID(c.Step, r) }

// Changed returns the names of the spec's fields that the step writes.
func (c *Change[S]) Changed() []string {
	var out []string
	for _, ch := range c.Step.Changes {
		out = append(out, ch.Field)
	}
	return out
}

// Created returns the outcome of a creation.
func (c *Change[S]) Created(id string, proof stack.Proof, spec stack.Spec) plan.Outcome {
	r := c.Step.Target
	r.ID, r.Proof, r.Spec = id, proof, spec
	return plan.Done(r)
}

// Updated returns the outcome of an update after which the resource has the spec.
func (c *Change[S]) Updated(spec stack.Spec, err error) plan.Outcome {
	if err != nil {
		return Failed(err)
	}
	r := c.Step.Target
	r.ID, r.Spec = c.ID(), spec
	return plan.Done(r)
}

// Deleted returns the outcome of a deletion: NotFound is success.
func Deleted(err error) plan.Outcome {
	if err == nil || fault.Is(err, fault.NotFound) {
		return plan.Outcome{Sent: plan.WasSent}
	}
	return Failed(err)
}

// UnendedError is an operation that the cloud has accepted, without a wait for its end.
type UnendedError struct {
	What  string
	Again time.Duration // pause before reading its result
}

// Error implements error.
func (u *UnendedError) Error() string { return u.What + " has not ended yet" }

// Failed returns the outcome of a call that ended with a fault, or whose operation has
// not ended yet.
func Failed(err error) plan.Outcome {
	if u, is := errors.AsType[*UnendedError](err); is {
		return plan.Outcome{Wait: u.Again, Sent: plan.WasSent}
	}
	if fault.Is(err, fault.Ambiguous) {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	return plan.Outcome{Err: err}
}

// Every returns the same outcome for all steps of a batch.
func Every(b plan.Batch, o plan.Outcome) []plan.Outcome {
	out := make([]plan.Outcome, len(b.Steps))
	for i := range out {
		out[i] = o
	}
	return out
}

// Merge runs a read, merge and write of an object that others write as well. It repeats
// them, a limited number of times, after a concurrent write. It returns the last error;
// an error about some of the members at once.
func Merge(times int, try func() error) error {
	var err error
	for range times + 1 {
		if err = try(); !fault.Is(err, fault.Conflict) || fault.OfMember(err) {
			return err
		}
	}
	return err
}
