package observed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// event is one thing that a store is informed of.
type event struct {
	what    string // begin, wrote, listed, forget
	at      time.Time
	step    plan.Step
	outcome plan.Outcome
	left    bool           // others claimed the resource when its deletion ended
	found   stack.Resource // of a read, by whichever owner
	reader  stack.Owner
	began   time.Time
}

// journal is the reference: it keeps every event, and computes each answer from all of them.
type journal []event

// of lists the events of writes to one place, the oldest first.
func (j journal) of(o stack.Owner, res stack.Resource) journal {
	owner, at := recordKey(o, res)
	return slices.DeleteFunc(slices.Clone(j), func(e event) bool {
		eo, ea := recordKey(e.step.ID.Owner, e.step.Target)
		return (e.what != "begin" && e.what != "wrote") || eo != owner || ea != at
	})
}

func (e event) isDone() bool { return e.outcome.Err == nil && e.outcome.Wait == 0 }

func (e event) isDeletion() bool {
	return e.what == "wrote" && e.step.ID.Action == plan.Delete && e.outcome.Err == nil && e.outcome.Sent == plan.WasSent && !e.left
}

func (j journal) isDeleted(o stack.Owner, res stack.Resource, began time.Time) bool {
	id, at, known, refilled := "", time.Time{}, false, false
	for _, e := range j.of(o, res) {
		switch {
		case e.isDeletion() && e.outcome.Wait == 0:
			id, at, known, refilled = e.step.Target.ID, e.at, true, false
		case e.step.ID.Action != plan.Create:
		case e.what == "begin":
			refilled = true
		case e.outcome.After.ID != "":
			refilled = e.outcome.After.ID == id
		}
	}
	return known && !refilled && id == res.ID && began.Sub(at) <= StaleRead && res.Proof != stack.None && res.State == stack.Ready
}

func (j journal) removedSince(res stack.Resource, known time.Time) (ongoing, removed bool) {
	calls := 0
	for _, e := range j.of(stack.Owner{}, res) {
		switch {
		case e.step.ID.Action != plan.Delete:
		case e.what == "begin":
			calls++
		default:
			calls--
			removed = removed || !known.After(e.at)
		}
	}
	return calls > 0, removed || calls > 0
}

func (j journal) unseen(o stack.Owner, began time.Time) time.Duration {
	created := map[place]event{}
	for _, e := range j {
		at, target := place{e.step.Target.In, e.step.Target.Key}, e.step.Target
		switch {
		case e.what != "wrote" || e.step.ID.Owner != o || target.Ownership != stack.Owned:
		case e.step.ID.Action == plan.Create && e.outcome.Sent != plan.NotSent && target.In == (stack.Key{}):
			created[at] = e
		case e.isDeletion():
			for p, c := range created {
				if p == at || p.key.Kind == target.Key.Kind && c.outcome.After.ID != "" && c.outcome.After.ID == target.ID {
					delete(created, p)
				}
			}
		}
	}
	var wait time.Duration
	for _, c := range created {
		wait = max(wait, c.at.Add(StaleRead).Sub(began))
	}
	for d := range j.doubts() {
		if d.by == o {
			wait = max(wait, d.at.Add(StaleRead).Sub(began))
		}
	}
	return wait
}

// doubts returns the last deletions that were not confirmed, with their resources.
func (j journal) doubts() map[doubt]stack.Resource {
	out := map[doubt]stack.Resource{}
	for _, e := range j {
		target := e.step.Target
		owner, at := recordKey(e.step.ID.Owner, target)
		maybe := e.outcome.Sent != plan.NotSent
		end := func(parts bool) {
			maps.DeleteFunc(out, func(d doubt, res stack.Resource) bool {
				o, p := recordKey(d.by, res)
				isGone := parts && p.in == (stack.Key{}) && slices.Contains(e.outcome.Gone, p.key)
				ends := o == owner && (p == at || parts && p.in == at.key || isGone)
				maybe = maybe || ends && p == at && d.maybe
				return ends
			})
		}
		switch {
		case e.what != "wrote":
		case e.step.ID.Action == plan.Create && e.outcome.Sent != plan.NotSent:
			end(false)
		case e.isDeletion():
			end(true)
		case e.step.ID.Action == plan.Delete && !e.left && (e.outcome.Err != nil || e.outcome.Sent == plan.MaybeSent) && (target.Ownership == stack.Shared || target.In == (stack.Key{})):
			end(false)
			out[doubt{id: target.ID, by: e.step.ID.Owner, at: e.at, maybe: maybe}] = target
		}
	}
	return out
}

func (j journal) doubtedUntil(reader stack.Owner, found stack.Resource, began time.Time) (until time.Time) {
	for d, res := range j.doubts() {
		sameOwner := res.Ownership == stack.Shared || d.by == reader
		same := res.Key == found.Key && res.In == found.In && d.id == found.ID && sameOwner
		if end := d.at.Add(StaleRead); same && d.maybe && found.Proof != stack.None && found.State == stack.Ready && began.Before(end) && end.After(until) {
			until = end
		}
	}
	return until
}

func (j journal) shared(now time.Time) []stack.Resource {
	known, at := map[stack.Key]stack.Resource{}, map[stack.Key]time.Time{}
	for i, e := range j {
		key := e.step.Target.Key
		switch {
		case e.what == "forget":
			known, at = map[stack.Key]stack.Resource{}, map[stack.Key]time.Time{{}: e.at}
		case e.what == "listed":
			last := at[e.found.Key]
			if at[stack.Key{}].After(last) {
				last = at[stack.Key{}]
			}
			_, removed := j[:i].removedSince(e.found, e.began)
			if isShareable(e.found) && e.found.Proof != stack.None && !removed && !j[:i].isDeleted(e.reader, e.found, e.began) && !e.began.Before(last) {
				known[e.found.Key], at[e.found.Key] = e.found, e.began
			}
		case !isShareable(e.step.Target), e.what == "begin" && e.step.ID.Action != plan.Delete, e.what == "wrote" && e.step.ID.Action == plan.Delete:
		default:
			old, was := known[key]
			delete(known, key)
			at[key] = e.at
			if e.what == "wrote" && e.isDone() && (was || e.step.ID.Action == plan.Create) {
				s := &stack.Stack{}
				if was {
					s.Put(old)
				}
				engine.Learn(s, e.step, e.outcome)
				known[key], _ = s.Get(key)
			}
		}
	}
	var out []stack.Resource
	for key, res := range known {
		if now.Sub(at[key]) < interval {
			out = append(out, res)
		}
	}
	slices.SortFunc(out, func(a, b stack.Resource) int { return a.Key.Compare(b.Key) })
	return out
}

func (j journal) overlay(have *stack.Stack, since time.Time) *stack.Stack {
	out := have.Clone()
	for _, res := range have.Resources {
		var updates journal
		for _, e := range j.of(stack.Owner{}, res) {
			switch {
			case res.Ownership != stack.Shared || e.what != "wrote":
			case e.step.ID.Action == plan.Create && (e.outcome.Sent != plan.NotSent || e.outcome.Err == nil), e.isDeletion() && e.outcome.Wait == 0:
				updates = nil
			case e.step.ID.Action == plan.Update && e.isDone() && !e.at.Before(since):
				updates = append(updates, e)
			}
		}
		for _, e := range updates {
			engine.Learn(out, e.step, e.outcome)
		}
	}
	return out
}

// random drives a store and the journal with the same events.
type random struct {
	*world
	*rand.Rand
	journal journal
	open    []event
}

func newRandom(seed uint64) *random {
	return &random{world: newWorld(), Rand: rand.New(rand.NewPCG(seed, 0))}
}

func chooseFrom[T any](r *random, from ...T) T { return from[r.IntN(len(from))] }

// resource returns one of a few resources, with one of two identifiers.
func (r *random) resource() stack.Resource {
	res := chooseFrom(r, balancer, listener, group, poolOf(chooseFrom(r, "a", "b"), "c"), withChange(balancer, func(b *stack.Resource) { b.Key.Name = "second" }))
	return withChange(res, func(c *stack.Resource) { c.ID = string(c.Key.Kind) + chooseFrom(r, "-1", "-2") })
}

func (r *random) step() plan.Step {
	step := stepOf(chooseFrom(r, plan.Create, plan.Delete), r.resource())
	if r.IntN(3) == 0 {
		step = chooseFrom(r, addNode("d", "a", "c", "d"), removeNode("a", "c"), addNode("a", "a", "c"))
	}
	step.ID.Owner = chooseFrom(r, ownerA, ownerB)
	return step
}

func (r *random) answer(step plan.Step) plan.Outcome {
	second := withChange(step.Target, func(c *stack.Resource) { c.ID = string(c.Key.Kind) + "-2" })
	return chooseFrom(r, plan.Done(step.Target), plan.Done(second), plan.Outcome{Sent: plan.WasSent}, refused, lost, plan.Outcome{Sent: plan.WasSent, Wait: time.Second},
		plan.Outcome{Err: fault.New(fault.NotFound, "no")})
}

// move performs one random event.
func (r *random) move() {
	r.pass(chooseFrom(r, 0, time.Second, 7*time.Second, 20*time.Second, time.Minute))
	switch n := r.IntN(10); {
	case n < 4:
		e := event{what: "begin", at: r.now, step: r.step()}
		r.store.Begin(plan.Batch{Steps: []plan.Step{e.step}})
		r.journal, r.open = append(r.journal, e), append(r.open, e)
	case n < 8 && len(r.open) > 0:
		i := r.IntN(len(r.open))
		e := r.open[i]
		r.open = slices.Delete(r.open, i, i+1)
		e.what, e.at, e.outcome = "wrote", r.now, r.answer(e.step)
		var others claims
		if r.IntN(4) == 0 && e.step.Target.Ownership == stack.Shared {
			others, e.left = claims{ownerB}, true
		}
		r.store.Wrote(plan.Batch{Steps: []plan.Step{e.step}, Claims: others}, []plan.Outcome{e.outcome})
		r.journal = append(r.journal, e)
	case n == 9 && r.IntN(5) == 0:
		r.store.ForgetShared()
		r.journal = append(r.journal, event{what: "forget", at: r.now})
	default:
		r.list(r.resource(), r.now.Add(-chooseFrom(r, 0, time.Second, 25*time.Second, 2*time.Minute)))
	}
}

// list has an owner read a resource.
func (r *random) list(found stack.Resource, began time.Time) {
	e := event{what: "listed", at: r.now, found: found, reader: chooseFrom(r, ownerA, ownerB), began: began}
	r.store.Listed(&stack.Stack{Owner: e.reader, Resources: []stack.Resource{found}}, began)
	r.journal = append(r.journal, e)
}

// TestStoreIsTheJournal: a store answers like a reference that keeps every event.
func TestStoreIsTheJournal(t *testing.T) {
	for seed := range uint64(250) {
		r := newRandom(seed)
		for n := range 60 {
			if r.move(); n%3 > 0 {
				continue
			}
			if diff := r.compare(); diff != "" {
				t.Fatalf("seed %d, after %d events (-journal +store):\n%s", seed, n+1, diff)
			}
		}
	}
}

// compare asks the store and the journal the same questions.
func (r *random) compare() string {
	began := r.now.Add(-chooseFrom(r, 0, time.Second, 25*time.Second, 2*time.Minute))
	if diff := cmp.Diff(r.journal.shared(r.now), r.store.Shared()); diff != "" {
		return "shared: " + diff
	}
	res, reader := r.resource(), chooseFrom(r, ownerA, ownerB)
	have := &stack.Stack{Owner: reader, Resources: []stack.Resource{res}}
	if diff := cmp.Diff(r.journal.overlay(have, began).Resources, r.store.Overlay(have, began).Resources); diff != "" {
		return "overlay: " + diff
	}
	r.store.DropDeleted(have, began)
	if want, got := r.journal.isDeleted(reader, res, began), len(have.Resources) == 0; want != got {
		return fmt.Sprintf("%v read by %v is deleted: -%v +%v", res, reader, want, got)
	}
	if want, got := max(0, r.journal.unseen(reader, began)), max(0, r.store.Unseen(reader, nil, began, claims{})); want != got {
		return fmt.Sprintf("unseen of %v: -%v +%v", reader, want, got)
	}
	shown := &stack.Stack{Owner: reader, Resources: []stack.Resource{res}}
	if want, got := r.journal.doubtedUntil(reader, res, began), r.store.DoubtedUntil(shown, began); !want.Equal(got) {
		return fmt.Sprintf("%v read by %v is doubted: -%v +%v", res, reader, want, got)
	}
	if res.Ownership != stack.Shared {
		return ""
	}
	ongoing, removed := r.store.RemovedSince(res, began)
	if wantOngoing, wantRemoved := r.journal.removedSince(res, began); wantOngoing != (ongoing != nil) || wantRemoved != removed {
		return fmt.Sprintf("%v removed: -%v %v +%v %v", res, wantOngoing, wantRemoved, ongoing != nil, removed)
	}
	return ""
}

// TestOlderListsChangeNothing: a list that began before the last write to a resource ended
// changes nothing that is known of the resource, whatever the list shows.
func TestOlderListsChangeNothing(t *testing.T) {
	for seed := range uint64(400) {
		r := newRandom(seed)
		for range 40 {
			r.move()
		}
		step := r.step()
		r.store.Begin(plan.Batch{Steps: []plan.Step{step}})
		r.pass(chooseFrom(r, time.Second, time.Minute))
		r.store.Wrote(plan.Batch{Steps: []plan.Step{step}}, []plan.Outcome{r.answer(step)})
		wrote := r.now
		r.pass(time.Second)
		before := r.answers()
		r.list(withChange(step.Target, func(c *stack.Resource) { c.ID += chooseFrom(r, "", "-other") }), wrote.Add(-chooseFrom(r, time.Nanosecond, time.Second, time.Hour)))
		if diff := cmp.Diff(before, r.answers()); diff != "" {
			t.Fatalf("seed %d: a list from before %v was accepted:\n%s", seed, step.ID, diff)
		}
	}
}

// answers returns what the store answers about every resource.
func (r *random) answers() []string {
	out := []string{fmt.Sprint(r.store.Shared())}
	for _, o := range []stack.Owner{ownerA, ownerB} {
		have := &stack.Stack{Owner: o}
		for _, res := range []stack.Resource{balancer, listener, group, poolOf("a", "c")} {
			_, removed := r.store.RemovedSince(res, r.now)
			out = append(out, fmt.Sprint(r.store.IsOurs(o, res), removed))
			have.Put(res)
		}
		out = append(out, fmt.Sprint(r.store.Overlay(have, started).Resources), fmt.Sprint(r.store.Unseen(o, nil, r.now, claims{})))
		r.store.DropDeleted(have, r.now)
		out = append(out, fmt.Sprint(have.Resources))
	}
	return out
}
