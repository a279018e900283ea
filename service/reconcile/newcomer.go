package reconcile

import (
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// newcomer knows what a process has made of shared things since it started: what else it
// finds in its first half minute a predecessor may have removed just before, and the cloud
// may show it all the same. It is safe for concurrent use.
type newcomer struct {
	until time.Time // from then on a read shows nothing from before the start

	mu   sync.Mutex
	made map[entry]bool
}

// longRun is how much later than the read that it began with a run may make things.
const longRun = 10 * time.Minute

func newNewcomer(started time.Time) *newcomer {
	return &newcomer{until: started.Add(shownFor), made: map[entry]bool{}}
}

// note enters what a batch has made.
func (n *newcomer) note(b plan.Batch, outcomes []plan.Outcome, now time.Time) {
	if !now.Before(n.until.Add(longRun)) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, o := range outcomes[:min(len(outcomes), len(b.Steps))] {
		if step := b.Steps[i]; step.ID.Action == plan.Create && o.Err == nil {
			for _, part := range append(slices.Clone(step.With), step.Target) {
				n.made[entryOf(part)] = true
			}
		}
	}
}

// keeps tells whether the addresses that a Service says are believed rather than those that
// were found: its predecessor may have removed those just before, and made what the Service
// says. What stands in the way of a plan with steps, its steps will meet.
func (n *newcomer) keeps(d *Draft, res *Result) bool {
	said, found := d.Job.Service.Status.LoadBalancer.Ingress, res.Status.Ingress
	if len(said) == 0 || len(found) == 0 || reflect.DeepEqual(said, found) || d.Plan.Writes() || !d.read.Before(n.until) {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return !slices.ContainsFunc(res.Serves, func(key stack.Key) bool { return n.made[entry{key: key}] })
}

// doubts returns when to look again whether what a Service shares with others is there;
// zero: there is no reason to. A Service that a predecessor had served was wanted then, and
// what it uses was not removed.
func (n *newcomer) doubts(d *Draft, have *stack.Stack) time.Time {
	if d.Job.Applied != "" || !d.read.Before(n.until) {
		return time.Time{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, res := range have.Resources {
		_, wanted := d.Want.Get(res.Key)
		if wanted && res.Ownership == stack.Shared && res.Proof != stack.None && !n.made[entryOf(res)] {
			return n.until
		}
	}
	return time.Time{}
}
