package wire

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// mergeTries is how often an object is read again after a conflicting write before a step
// fails.
const mergeTries = 8

// Apply performs the steps of one batch and returns one outcome per step. Steps
// of a batch are about the same object, which is written once for all of them; see the
// batches of the rules.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	c := &change{Session: s, ctx: ctx, batch: b, out: make([]plan.Outcome, len(b.Steps))}
	switch b.Steps[0].ID.Key.Kind {
	case model.KindEntries, model.KindPool:
		c.writeBalancer()
	case model.KindNICs:
		c.writeInterfaces()
	case model.KindScaleSet:
		c.writeScaleSet()
	case model.KindAccess:
		c.writeSecurity()
	case model.KindRegistered, model.KindAttached, model.KindPods:
		c.writeGateway()
	default:
		for i, step := range b.Steps {
			c.out[i] = c.writeAlone(step)
		}
	}
	return c.out
}

// mostYield is for how long a write of a load balancer or of the security group, which is
// for many Services, lets go first what each of them waits for: about as long as Azure
// takes for it.
const mostYield = 2 * time.Second

// Yield implements providers.Yielder.
func (s *Session) Yield(ctx context.Context, b plan.Batch) {
	switch step := b.Steps[0]; step.ID.Key.Kind {
	case model.KindEntries, model.KindPool:
		s.limits.Yield(ctx, mostYield, bucketsOf(http.MethodPut, s.config.BalancerID(balancerOf(b)))...)
	case model.KindAccess:
		s.limits.Yield(ctx, mostYield, bucketsOf(http.MethodPut, s.config.SecurityID())...)
	}
}

// change is a batch at work.
type change struct {
	*Session
	ctx   context.Context // lives for one batch
	batch plan.Batch
	out   []plan.Outcome
	at    []int // where the outcomes go; nil: in order
	// balancers holds the load balancers that were read for this batch, by id.
	balancers map[string]model.Object
}

// part is the change of some steps of the batch.
func (c *change) part(steps []int) *change {
	if len(steps) == len(c.batch.Steps) {
		return c
	}
	p := &change{Session: c.Session, ctx: c.ctx, batch: c.batch, out: c.out}
	p.batch.Steps = nil
	for _, i := range steps {
		p.batch.Steps = append(p.batch.Steps, c.batch.Steps[i])
		if c.at != nil {
			i = c.at[i]
		}
		p.at = append(p.at, i)
	}
	return p
}

func (c *change) set(i int, o plan.Outcome) {
	if c.at != nil {
		i = c.at[i]
	}
	c.out[i] = o
}

// setAll gives every step its outcome: its refusal, or one that depends on err and the step.
func (c *change) setAll(refused map[int]error, err error, outcome func(plan.Step) plan.Outcome) {
	for i, step := range c.batch.Steps {
		switch {
		case refused[i] != nil:
			c.set(i, plan.Failed(refused[i]))
		case err != nil:
			c.set(i, kit.Failed(err))
		default:
			c.set(i, outcome(step))
		}
	}
}

// writeAlone performs a step that is written alone.
func (c *change) writeAlone(step plan.Step) plan.Outcome {
	switch spec := step.Target.Spec.(type) {
	case model.PublicIP:
		return c.writePublicIP(step, spec)
	case model.Binding:
		return c.writeBinding(step, spec)
	case model.Link:
		return c.writeLink(step, spec)
	case model.Policy:
		return c.writePolicy(step, spec)
	case model.Container:
		return c.writeContainer(step, spec)
	case model.ContainerIP:
		return c.writeContainerIP(step, spec)
	}
	return plan.Failed(fault.New(fault.Internal, "%s: its content is a %T", step.ID, step.Target.Spec))
}

// doneOutcome returns the outcome of a step after which the resource has the spec.
func doneOutcome(step plan.Step, id string, proof stack.Proof, spec stack.Spec) plan.Outcome {
	r := step.Target
	r.ID, r.Proof, r.Spec = id, proof, spec
	return plan.Done(r)
}

// changedFields returns the names of the fields that an update writes.
func changedFields(step plan.Step) []string {
	var out []string
	for _, c := range step.Changes {
		out = append(out, c.Field)
	}
	return out
}

// writeSecurity writes the entries of all steps with one PUT.
func (c *change) writeSecurity() {
	var refused map[int]error
	var object model.Object
	path := c.config.SecurityID()
	err := kit.Merge(mergeTries, func() error {
		found, err := c.current(c.ctx, path, networkVersion)
		if err != nil {
			return err
		}
		edit := model.MergeSecurity(c.config, found, c.batch)
		refused, object = edit.Refused, edit.Object
		if !edit.Changed && model.StateOf(found) != stack.Failed || len(refused) == len(c.batch.Steps) {
			return nil
		}
		object, err = c.put(c.ctx, path, edit.Object, found.Text("etag"))
		return err
	})
	c.setAll(refused, err, func(step plan.Step) plan.Outcome {
		if step.ID.Action == plan.Delete {
			return kit.Deleted(nil)
		}
		entry, _ := step.Target.Spec.(model.Access)
		entry.Rank = 0 // which Azure does not store
		return doneOutcome(step, ruleID(object, entry), stack.Derived, entry)
	})
}

// ruleID is the id of the rule that an entry is in.
func ruleID(nsg model.Object, want model.Access) string {
	rules := nsg.Props().List(model.ListSecurity)
	i := slices.IndexFunc(rules, func(r model.Object) bool {
		content, ok := model.ContentOf(r)
		return ok && content.Rule == want.Rule && model.ContainsFold(model.Destinations(r), want.Destination)
	})
	if i < 0 {
		return ""
	}
	return rules[i].Text("id")
}
