package reconcile

import (
	"time"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// What a Service asks for is bounded before it is built, so building and comparing take
// moments. Should they not, for what nobody has thought of, they end at a deadline, and
// with the context of the draft: a Service keeps no processor busy for good.

// overdueWait is how soon a Service is planned again that took too long.
const overdueWait = 5 * time.Minute

// wants builds what a Service wants, in time.
func (r *Reconciler) wants(d *Draft, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	req := d.Request
	req.Over = r.until(d)
	want, problems, err := r.cloud.Build(req, d.Facts, have)
	if req.Over() {
		return nil, nil, r.late(d)
	}
	return want, problems, err
}

// difference compares, in time.
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

// until begins to measure the time that a Service may take.
func (r *Reconciler) until(d *Draft) (over func() bool) {
	end := r.options.Now().Add(r.options.PlanTime)
	return func() bool { return d.ended != nil && d.ended() != nil || !r.options.Now().Before(end) }
}

// late is what is told of a Service whose time is over.
func (r *Reconciler) late(d *Draft) error {
	if d.ended != nil && d.ended() != nil {
		return d.ended()
	}
	return &fault.Fault{
		Meaning: fault.Internal, After: overdueWait,
		Text: "planning this Service was given up after " + r.options.PlanTime.String() + "; ask for fewer ports and source ranges, or give the controller more processor time",
	}
}
