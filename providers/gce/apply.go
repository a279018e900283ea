package gce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// mergeTries is how often an object that somebody else changes at the same time is
// read again before a step gives up.
const mergeTries = 3

// Apply performs the steps of one batch and returns one outcome per step. Steps
// of several Services that do the same to something shared become one call.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	out := make([]plan.Outcome, len(b.Steps))
	for _, same := range alike(b) {
		lead := &change{Session: s, ctx: ctx, batch: b, step: b.Steps[same[0]], steps: same}
		for i, outcome := range lead.outcomes() {
			out[same[i]] = outcome
		}
	}
	return out
}

// alike groups the steps of a batch, by index, that do the same to one resource.
// What is made comes first, and what is removed last.
func alike(b plan.Batch) [][]int {
	type work struct {
		owner   stack.Owner // zero for what is shared
		key     stack.Key
		verb    verb
		content string // of what is shared
	}
	var order []work
	groups := map[work][]int{}
	for _, action := range []plan.Action{plan.Create, plan.Update, plan.Delete} {
		for i, s := range b.Steps {
			if s.ID.Action != action {
				continue
			}
			w := work{owner: s.ID.Owner, key: s.ID.Key, verb: verbOf(s)}
			if s.Target.Hold == stack.Counted {
				w.owner, w.content = stack.Owner{}, contentOf(s)
			}
			if groups[w] == nil {
				order = append(order, w)
			}
			groups[w] = append(groups[w], i)
		}
	}
	out := make([][]int, 0, len(order))
	for _, w := range order {
		out = append(out, groups[w])
	}
	return out
}

// contentOf is what a step writes, whoever wants it: Services that have seen the
// cloud at different times may want different things of what they share. It is empty
// for deletions, which are all the same, and for instance groups, where the members
// that all steps want are put together.
func contentOf(s plan.Step) string {
	if s.ID.Action == plan.Delete || s.ID.Key.Kind == KindGroup {
		return ""
	}
	s.ID.Owner = stack.Owner{}
	return s.Digest()
}

// change is a step at work, and for something shared all steps of the batch that
// do the same.
type change struct {
	*Session
	ctx   context.Context
	batch plan.Batch
	step  plan.Step
	steps []int // all that it stands for, by index in the batch
}

func (c *change) outcomes() []plan.Outcome {
	c.awaitNeeds()
	id := c.step.ID
	if id.Key.Kind == KindGroup && id.Action == plan.Update {
		return c.changeMembers()
	}
	outcome := c.oneForAll()
	out := make([]plan.Outcome, len(c.steps))
	for i := range out {
		out[i] = outcome
	}
	return out
}

// oneForAll does something to a shared thing once for all that want the same of
// it, also for those whose steps gathered while another batch did it.
func (c *change) oneForAll() plan.Outcome {
	if !c.shared() {
		return c.run()
	}
	id := c.step.ID
	what := cmp.Or(contentOf(c.step), fmt.Sprintf("%s %s %+v", id.Action, id.Part, c.step.Target.Spec))
	if id.Action == plan.Delete {
		if c.claimed() {
			return plan.Outcome{}
		}
		what = string(plan.Delete)
	}
	if o, ok := c.done.again(id.Key, what, c.now()); ok {
		return o
	}
	o := c.run()
	c.done.note(id.Key, what, c.now(), o)
	return o
}

func (c *change) run() plan.Outcome {
	if c.shared() && c.step.ID.Action == plan.Delete {
		return c.release()
	}
	run, ok := verbs()[verbOf(c.step)]
	if !ok {
		return plan.Failed(fault.New(fault.Internal, "%s: there is no call that does this", c.step.ID))
	}
	return run(c)
}

func (c *change) shared() bool { return c.step.Target.Hold == stack.Counted }

// claimed tells whether at this moment another Service wants the shared thing,
// which may have come since the plan was made.
func (c *change) claimed() bool {
	return c.batch.Claims != nil && slices.ContainsFunc(c.steps, func(i int) bool {
		s := c.batch.Steps[i]
		return len(c.batch.Claims.Others(s.ID.Owner, s.Target)) > 0
	})
}

// release deletes something shared. What others use, of whom nothing is known, stays.
func (c *change) release() plan.Outcome {
	if c.step.ID.Key.Kind == KindCheckFirewall {
		if used, err := c.checksExist(); used || err != nil {
			return plan.Outcome{Used: used && err == nil, Err: err}
		}
	}
	outcome := verbs()[verbOf(c.step)](c)
	if fault.Is(outcome.Err, fault.InUse) {
		return plan.Outcome{Used: true}
	}
	return outcome
}

// verb is what a step does, down to the part that its call writes.
type verb struct {
	kind   stack.Kind
	action plan.Action
	part   string
}

// verbOf drops the number that the part of a set has from its second chunk on.
func verbOf(s plan.Step) verb {
	return verb{s.ID.Key.Kind, s.ID.Action, strings.TrimRight(s.ID.Part, "0123456789")}
}

// verbs is the table of all calls. What members groups have is changed for many
// steps at once; see changeMembers.
func verbs() map[verb]func(*change) plan.Outcome {
	return map[verb]func(*change) plan.Outcome{
		{KindExternalRule, plan.Create, ""}: with(createRule),
		{KindExternalRule, plan.Update, ""}: with(updateRule),
		{KindExternalRule, plan.Delete, ""}: deleteRule,
		{KindInternalRule, plan.Create, ""}: with(createRule),
		{KindInternalRule, plan.Update, ""}: with(updateRule),
		{KindInternalRule, plan.Delete, ""}: deleteRule,
		{KindAddress, plan.Create, ""}:      with(createAddress),
		{KindAddress, plan.Delete, ""}:      deleteAddress,

		{KindPool, plan.Create, ""}:           with(createPool),
		{KindPool, plan.Update, "instances+"}: addToPool,
		{KindPool, plan.Update, "instances-"}: removeFromPool,
		{KindPool, plan.Update, "checks+"}:    addPoolChecks,
		{KindPool, plan.Update, "checks-"}:    removePoolChecks,
		{KindPool, plan.Delete, ""}:           deletePool,

		{KindBackend, plan.Create, ""}:         with(createBackend),
		{KindBackend, plan.Update, ""}:         with(updateBackend),
		{KindBackend, plan.Update, "protocol"}: with(updateBackend),
		{KindBackend, plan.Delete, ""}:         deleteBackend,

		{KindCheck, plan.Create, ""}:         with(createCheck),
		{KindCheck, plan.Update, ""}:         with(updateCheck),
		{KindCheck, plan.Delete, ""}:         deleteCheck,
		{KindRegionalCheck, plan.Create, ""}: with(createRegionalCheck),
		{KindRegionalCheck, plan.Update, ""}: with(updateRegionalCheck),
		{KindRegionalCheck, plan.Delete, ""}: deleteRegionalCheck,
		{KindHTTPCheck, plan.Create, ""}:     with(createHTTPCheck),
		{KindHTTPCheck, plan.Update, ""}:     with(updateHTTPCheck),
		{KindHTTPCheck, plan.Delete, ""}:     deleteHTTPCheck,

		{KindGroup, plan.Create, ""}:         with(createGroup),
		{KindGroup, plan.Delete, ""}:         deleteGroup,
		{KindNEG, plan.Create, ""}:           with(createNEG),
		{KindNEG, plan.Update, "endpoints+"}: attachEndpoints,
		{KindNEG, plan.Update, "endpoints-"}: detachEndpoints,
		{KindNEG, plan.Delete, ""}:           deleteNEG,

		{KindFirewall, plan.Create, ""}:      with(createFirewall),
		{KindFirewall, plan.Update, ""}:      with(updateFirewall),
		{KindFirewall, plan.Delete, ""}:      deleteFirewall,
		{KindCheckFirewall, plan.Create, ""}: with(createFirewall),
		{KindCheckFirewall, plan.Update, ""}: with(updateFirewall),
		{KindCheckFirewall, plan.Delete, ""}: deleteFirewall,
		{KindDeny, plan.Create, ""}:          with(createFirewall),
		{KindDeny, plan.Update, ""}:          with(updateFirewall),
		{KindDeny, plan.Delete, ""}:          deleteFirewall,
	}
}

// with hands a step to the function for its spec; a step with another spec is a
// defect of the plan.
func with[T any](run func(*change, T) plan.Outcome) func(*change) plan.Outcome {
	return func(c *change) plan.Outcome {
		spec, ok := c.step.Target.Spec.(T)
		if !ok {
			return plan.Failed(fault.New(fault.Internal, "%s: its content is a %T", c.step.ID, c.step.Target.Spec))
		}
		return run(c, spec)
	}
}

// id is the path of the step's resource.
func (c *change) id() string {
	return cmp.Or(c.step.Target.ID, c.batch.ID(c.step, stack.RefTo(c.step.Target.Key)))
}

// name is the name of the step's resource.
func (c *change) name() string { return lastOf(c.id()) }

// link is the URL of what a reference leads to; empty for none.
func (c *change) link(r stack.Ref) string {
	if r.IsZero() {
		return ""
	}
	return c.urlOf(c.batch.ID(c.step, r))
}

func (c *change) links(refs []stack.Ref) []string {
	var out []string
	for _, r := range refs {
		out = append(out, c.link(r))
	}
	return out
}

// linkBase is how the cloud writes links to its resources, whatever the address
// that it is called at. Both official controllers compare some of them as texts.
const linkBase = "https://www.googleapis.com/compute/v1/"

// urlOf is the URL of a path of ours, or of a path that names its project.
func (s *Session) urlOf(path string) string {
	switch {
	case path == "" || strings.Contains(path, "://"):
		return path
	case strings.HasPrefix(path, "projects/"):
		return linkBase + path
	}
	return linkBase + "projects/" + s.config.Project + "/" + path
}

// created is the outcome of a creation.
func (c *change) created(id string, proof stack.Proof, spec stack.Spec) plan.Outcome {
	r := c.step.Target
	r.ID, r.Proof, r.Spec = id, proof, spec
	return plan.Done(r)
}

// updated is the outcome of an update after which the resource has the spec.
func (c *change) updated(spec stack.Spec, err error) plan.Outcome {
	if err != nil {
		return failed(err)
	}
	r := c.step.Target
	r.ID, r.Spec = c.id(), spec
	return plan.Done(r)
}

// deleted is the outcome of a deletion: what is not there is gone.
func deleted(err error) plan.Outcome {
	if err == nil || fault.Is(err, fault.NotFound) {
		return plan.Outcome{Sent: plan.WasSent}
	}
	return failed(err)
}

// failed is the outcome of a call that ended with a fault, or whose operation has
// not ended yet.
func failed(err error) plan.Outcome {
	var w *unfinished
	switch {
	case errors.As(err, &w):
		return plan.Outcome{Wait: unfinishedDelay, Sent: plan.WasSent}
	case fault.Is(err, fault.Ambiguous):
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	return plan.Outcome{Err: err}
}

// optional leaves empty texts out of a request.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// orNil leaves zeros out of a request.
func orNil[N ~int32 | ~int64](n N) *int32 {
	if n == 0 {
		return nil
	}
	return new(int32(n))
}
