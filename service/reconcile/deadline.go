package reconcile

import (
	"time"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// A request is bounded before it is built, so building and comparing take milliseconds. If they
// do not, for an unforeseen reason, they end at a deadline and with the context of the draft, so
// that no Service keeps a processor busy.

// overdueWait is the delay before a Service that took too long is planned again.
const overdueWait = 5 * time.Minute

// wants builds the desired stack, in time.
func (r *Reconciler) wants(d *Draft, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	req := d.Request
	req.Over, req.Find = r.until(d), r.ledger.Find
	want, problems, err := r.cloud.Build(req, d.Facts, have)
	if req.Over() {
		return nil, nil, r.late(d)
	}
	return want, problems, err
}

// difference compares the desired with an observed stack, in time.
func (r *Reconciler) difference(d *Draft, want, have *stack.Stack) (plan.Plan, error) {
	rules := r.cloud.Rules
	rules.Over = r.until(d)
	if d.Intent == Serve && r.cloud.KeepServing != nil {
		rules.Today = func() *stack.Stack { return r.cloud.KeepServing(d.Request, d.Facts, have) }
	}
	p := diff.Compare(want, have, rules, r.ledger)
	if rules.Over() {
		return plan.Plan{}, r.late(d)
	}
	return p, nil
}

// until starts to measure the time that a Service may take.
func (r *Reconciler) until(d *Draft) (over func() bool) {
	end := r.options.Now().Add(r.options.PlanTime)
	return func() bool { return d.ended != nil && d.ended() != nil || !r.options.Now().Before(end) }
}

// late returns the error for a Service whose time is over.
func (r *Reconciler) late(d *Draft) error {
	if d.ended != nil && d.ended() != nil {
		return d.ended()
	}
	return &fault.Fault{
		Meaning: fault.Internal, After: overdueWait,
		Text: "planning this Service was given up after " + r.options.PlanTime.String() + "; ask for fewer ports and source ranges, or give the controller more processor time",
	}
}
