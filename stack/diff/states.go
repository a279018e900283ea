package diff

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// WhilePending says what may be done about a found resource that the cloud is still
// making or changing.
type WhilePending int

const (
	// GoOn: the cloud accepts changes meanwhile, or the call waits for it.
	GoOn WhilePending = iota
	// Settle: neither the resource nor what is in it is written, and nothing counts on it
	// before it is ready.
	Settle
)

// OnceFailed says what becomes of a wanted resource that the cloud has given up.
type OnceFailed int

const (
	// Mend: it is compared like any other; a change mends it.
	Mend OnceFailed = iota
	// Remake: it takes no change, and a new one takes its place.
	Remake
	// Report: it accepts no change, and we must not replace it: that is reported, and
	// its parts and all resources that depend on it are blocked.
	Report
	// Rewrite: it is compared like any other, and written as desired where nothing differs:
	// the cloud did not apply what it shows.
	Rewrite
)

// settling is the part of the steps that stand for what the cloud itself has to end.
const settling = "settle"

// unsettled adds, for each observed resource that accepts no change now, a blocked step
// that stands for its becoming ready, so that every step that needs the resource is
// blocked too.
func (c *comparison) unsettled() {
	c.awaited = map[stack.Key]int{}
	for _, k := range c.have.keys {
		found := c.have.byKey[k]
		rule := c.rules.Kinds[k.Kind]
		_, wanted := c.want.byKey[k]
		switch {
		case found.State == stack.Pending && rule.Pending == Settle:
			c.await(found, plan.ByBusy, "the cloud is still making or changing it; the rest follows when it has ended")
		case found.State == stack.Failed && rule.Failed == Report && wanted && !c.replaced[k]:
			c.await(found, plan.ByFailed, "the cloud reports that it has failed, and accepts no change of it; have it repaired there, or delete the Service and create it again")
		}
	}
}

func (c *comparison) await(found stack.Resource, by plan.BlockedBy, why string) {
	id := c.id(found.Key, plan.Update, settling)
	c.awaited[found.Key] = len(c.steps)
	c.steps = append(c.steps, plan.Step{ID: id, Target: found, Found: found.Spec, Reason: plan.Changed, Why: "the cloud has to end what it does"})
	c.block(id, by, why)
}

// isAwaited reports whether the step with the place stands for a change by the cloud.
func (c *comparison) isAwaited(i int) bool {
	at, ok := c.awaited[c.steps[i].ID.Key]
	return ok && at == i
}

// needSettled makes a step need that the resource with the key, and its parents, accept
// changes.
func (c *comparison) needSettled(s *plan.Step, k stack.Key) {
	for range maxNesting {
		if at, ok := c.awaited[k]; ok {
			s.Needs = append(s.Needs, c.steps[at].ID)
		}
		in := c.want.byKey[k].In
		if in == (stack.Key{}) {
			in = c.have.byKey[k].In
		}
		if k = in; k == (stack.Key{}) {
			return
		}
	}
}

// leads reports whether the step is one of the first ones of an edge. A change that the
// cloud has to complete counts as the creation and as any change of the resource.
func (c *comparison) leads(e *Edge, i int) bool {
	if !c.isAwaited(i) {
		return c.matches(e.First, &c.steps[i])
	}
	s := c.steps[i]
	s.ID.Part = ""
	made := s
	made.ID.Action = plan.Create
	return c.matches(e.First, &s) || c.matches(e.First, &made)
}

// withoutIdle leaves out steps that are blocked by a busy resource, if no step waits for
// it. A failed resource is reported in any case.
func withoutIdle(held []plan.Blocked) []plan.Blocked {
	return slices.DeleteFunc(held, func(h plan.Blocked) bool {
		return h.By == plan.ByBusy && !slices.ContainsFunc(held, func(o plan.Blocked) bool { return o.By == plan.ByNeeds && o.Needs == h.Step.ID })
	})
}

// rewrite plans an update of a failed resource that is as desired.
func (c *comparison) rewrite(w, found stack.Resource, rule Rule) {
	c.add(plan.Step{
		ID: c.id(w.Key, plan.Update, plan.PartRewrite), Target: w, Found: found.Spec, Reason: plan.Changed,
		Why: "the cloud reports that its last change has failed", Batch: rule.batch(w, plan.Update, plan.PartRewrite),
	})
}
