package wire

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// mergeTries is how often an object is read again after a conflicting write before a step
// fails.
const mergeTries = 8

// Apply performs the steps of one batch and returns one outcome per step. Steps
// of a batch are about the same object, which is written once for all of them.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	c := &change{Session: s, ctx: ctx, batch: b, out: make([]plan.Outcome, len(b.Steps))}
	var balancers, entries, interfaces, gateway []int
	sets := map[string][]int{}
	for i, step := range b.Steps {
		switch step.ID.Key.Kind {
		case model.KindEntries, model.KindPool:
			balancers = append(balancers, i)
		case model.KindNICs:
			interfaces = append(interfaces, i)
		case model.KindScaleSet:
			id := scaleSetOf(step)
			sets[id] = append(sets[id], i)
		case model.KindAccess:
			entries = append(entries, i)
		case model.KindRegistered, model.KindAttached, model.KindPods:
			gateway = append(gateway, i)
		default:
			c.out[i] = c.one(step)
		}
	}
	if len(balancers) > 0 {
		c.part(balancers).writeBalancer()
	}
	if len(interfaces) > 0 {
		c.part(interfaces).writeInterfaces()
	}
	for _, steps := range sets {
		c.part(steps).writeScaleSet()
	}
	if len(entries) > 0 {
		c.part(entries).writeSecurity()
	}
	if len(gateway) > 0 {
		c.part(gateway).writeGateway()
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

// setAll gives every step that has no outcome of its own the same one.
func (c *change) setAll(refused map[int]error, o plan.Outcome) {
	for i := range c.batch.Steps {
		if err := refused[i]; err != nil {
			c.set(i, plan.Failed(err))
			continue
		}
		c.set(i, o)
	}
}

// one performs a step that is written alone.
func (c *change) one(step plan.Step) plan.Outcome {
	return callTable().Run(&kit.Change[*change]{Session: c, Ctx: c.ctx, Batch: c.batch, Step: step})
}

// callTable returns the calls for resources that are written alone; each call derives
// the action itself.
func callTable() kit.Verbs[*change] {
	out := kit.Verbs[*change]{}
	for kind, run := range map[stack.Kind]func(*kit.Change[*change]) plan.Outcome{
		model.KindPublicIP: typedVerb((*change).writePublicIP), model.KindBinding: typedVerb((*change).writeBinding), model.KindLink: typedVerb((*change).writeLink), model.KindPolicy: typedVerb((*change).writePolicy),
		model.KindContainer: typedVerb((*change).writeContainer), model.KindContainerIP: typedVerb((*change).writeContainerIP),
	} {
		for _, action := range []plan.Action{plan.Create, plan.Update, plan.Delete} {
			out[kit.Verb{Kind: kind, Action: action}] = run
		}
	}
	return out
}

// typedVerb returns a verb that receives the step and its content.
func typedVerb[T any](f func(*change, plan.Step, T) plan.Outcome) func(*kit.Change[*change]) plan.Outcome {
	return kit.With(func(c *kit.Change[*change], spec T) plan.Outcome { return f(c.Session, c.Step, spec) })
}

// doneOutcome returns the outcome of a step after which the resource has the spec.
func doneOutcome(step plan.Step, id string, proof stack.Proof, spec stack.Spec) plan.Outcome {
	r := step.Target
	r.ID, r.Proof, r.Spec = id, proof, spec
	return plan.Done(r)
}

// deletedOutcome returns the outcome of a completed deletion.
func deletedOutcome() plan.Outcome { return plan.Outcome{Sent: plan.WasSent} }

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
	if err != nil {
		c.setAll(refused, kit.Failed(err))
		return
	}
	for i, step := range c.batch.Steps {
		switch {
		case refused[i] != nil:
			c.set(i, plan.Failed(refused[i]))
		case step.ID.Action == plan.Delete:
			c.set(i, deletedOutcome())
		default:
			c.set(i, doneOutcome(step, ruleID(object, step.Target.Spec), stack.Derived, storedSpec(step.Target.Spec)))
		}
	}
}

// storedSpec returns an entry as a later read finds it, without its rank, which Azure does not
// store.
func storedSpec(spec stack.Spec) stack.Spec {
	if entry, ok := spec.(model.Access); ok {
		entry.Rank = 0
		return entry
	}
	return spec
}

// ruleID is the id of the rule that an entry is in.
func ruleID(nsg model.Object, spec stack.Spec) string {
	want, _ := spec.(model.Access)
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
