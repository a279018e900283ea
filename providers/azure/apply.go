package azure

import (
	"context"
	"errors"
	"slices"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// regrafts is how often an object that somebody else changes at the same time is
// read again before a step gives up.
const regrafts = 3

// Apply performs the steps of one batch and returns one outcome per step. Steps
// of a batch are about the same object, which is written once for all of them.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	c := &change{Session: s, ctx: ctx, batch: b, out: make([]plan.Outcome, len(b.Steps))}
	var balancers, entries, interfaces, gateway []int
	for i, step := range b.Steps {
		switch step.ID.Key.Kind {
		case KindEntries, KindPool:
			balancers = append(balancers, i)
		case KindNICs:
			interfaces = append(interfaces, i)
		case KindAccess:
			entries = append(entries, i)
		case KindRegistered, KindAttached, KindPods:
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
	if len(entries) > 0 {
		c.part(entries).writeSecurity()
	}
	if len(gateway) > 0 {
		c.part(gateway).writeGateway()
	}
	return c.out
}

// change is a batch at work.
type change struct {
	*Session
	ctx   context.Context // lives for one batch
	batch plan.Batch
	out   []plan.Outcome
	at    []int // where the outcomes go; nil: in order
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

// all gives every step that has no outcome of its own the same one.
func (c *change) all(refused map[int]error, o plan.Outcome) {
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
	run := map[stack.Kind]func(plan.Step) plan.Outcome{
		KindPublicIP: c.writePublicIP, KindBinding: c.writeBinding, KindLink: c.writeLink, KindPolicy: c.writePolicy,
		KindScaleSet: c.writeScaleSet, KindContainer: c.writeContainer, KindContainerIP: c.writeContainerIP,
	}[step.ID.Key.Kind]
	if run == nil {
		return plan.Failed(fault.New(fault.Internal, "%s: there is no call that does this", step.ID))
	}
	return run(step)
}

// again runs a read, graft and write, anew if somebody else wrote in between.
func again(try func() error) error {
	var err error
	for range regrafts + 1 {
		if err = try(); !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	return err
}

// failed is the outcome of a call that ended with a fault, or whose operation has
// not ended yet.
func failed(err error) plan.Outcome {
	var w *slow
	switch {
	case errors.As(err, &w):
		return plan.Outcome{Wait: lateDelay, Sent: plan.WasSent}
	case fault.Is(err, fault.Ambiguous):
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	return plan.Outcome{Err: err}
}

// after is the outcome of a step after which the resource has the spec.
func after(step plan.Step, id string, proof stack.Proof, spec stack.Spec) plan.Outcome {
	r := step.Target
	r.ID, r.Proof, r.Spec = id, proof, spec
	return plan.Done(r)
}

// gone is the outcome of a deletion that is done.
func gone() plan.Outcome { return plan.Outcome{Sent: plan.WasSent} }

// fields are those that an update writes.
func fields(step plan.Step) []string {
	var out []string
	for _, c := range step.Changes {
		out = append(out, c.Field)
	}
	return out
}

// writeSecurity writes the entries of all steps with one PUT.
func (c *change) writeSecurity() {
	var refused map[int]error
	var object Object
	path := c.config.securityID()
	err := again(func() error {
		found, err := c.current(c.ctx, path, networkVersion)
		if err != nil {
			return err
		}
		edit := graftSecurity(c.config, found, c.batch)
		refused, object = edit.Refused, edit.Object
		if !edit.Changed && stateOf(found) != stack.Failed || len(refused) == len(c.batch.Steps) {
			return nil
		}
		object, err = c.put(c.ctx, path, networkVersion, edit.Object, found.text("etag"))
		return err
	})
	if err != nil {
		c.all(refused, failed(err))
		return
	}
	for i, step := range c.batch.Steps {
		switch {
		case refused[i] != nil:
			c.set(i, plan.Failed(refused[i]))
		case step.ID.Action == plan.Delete:
			c.set(i, gone())
		default:
			c.set(i, after(step, ruleID(object, step.Target.Spec), stack.Derived, step.Target.Spec))
		}
	}
}

// ruleID is the id of the rule that an entry is in.
func ruleID(nsg Object, spec stack.Spec) string {
	want, _ := spec.(Access)
	rules := nsg.props().list(listSecurity)
	i := slices.IndexFunc(rules, func(r Object) bool {
		content, ok := contentOf(r)
		return ok && content.Rule == want.Rule && containsFold(destinations(r), want.Destination)
	})
	if i < 0 {
		return ""
	}
	return rules[i].text("id")
}
