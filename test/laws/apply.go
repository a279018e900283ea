package laws

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// apply performs the steps of a batch as the cloud does, except for the steps that the
// scenario refuses. It is the Apply function of the engine.
func (x *run) apply(_ context.Context, b plan.Batch) []plan.Outcome {
	out := make([]plan.Outcome, len(b.Steps))
	for i, s := range b.Steps {
		out[i] = x.applyStep(b, s)
	}
	return out
}

// applyStep performs one step, and judges the traffic after it.
func (x *run) applyStep(b plan.Batch, s plan.Step) plan.Outcome {
	if x.cut() {
		return plan.Outcome{Err: fault.New(fault.Unavailable, "the process has ended"), Sent: plan.NotSent}
	}
	how := x.refusalOf(s)
	if how == Refused {
		return plan.Outcome{Err: fault.New(x.scenario.meaning(), "refused by the scenario")}
	}
	if how == Lost {
		return plan.Outcome{Err: fault.New(fault.Ambiguous, "no answer"), Sent: plan.MaybeSent}
	}
	world, out := x.performed(b, s)
	if out.Err != nil {
		x.clashes = append(x.clashes, s.ID.String()+": "+out.Err.Error())
		return out
	}
	x.world = world
	x.pass(s)
	switch how {
	case Unanswered:
		return plan.Outcome{Err: fault.New(fault.Ambiguous, "no answer"), Sent: plan.MaybeSent}
	case Slow:
		return plan.Outcome{Wait: time.Second, Sent: plan.WasSent}
	case None, Refused, Lost, Held:
	}
	return out
}

// pass records a performed step, and judges the traffic after it.
func (x *run) pass(s plan.Step) {
	room := x.makeRoom(s)
	x.steps, x.trail = append(x.steps, s), append(x.trail, x.world)
	x.judge(s, room)
	if x.watch != nil {
		x.watch()
	}
}

// perform changes the world as a step says; claimed: another Service wants what it deletes.
func (w *World) perform(s plan.Step, claimed bool) plan.Outcome {
	if w.subject.Refuses != nil {
		if err := w.subject.Refuses(w, s); err != nil {
			return plan.Outcome{Err: err}
		}
	}
	switch s.ID.Action {
	case plan.Create:
		return w.create(s)
	case plan.Update:
		return w.update(s)
	case plan.Delete:
		return w.remove(s, claimed)
	case plan.Forget:
	}
	return plan.Outcome{Sent: plan.WasSent}
}

// create makes a resource, and the parts that come in the same call.
func (w *World) create(s plan.Step) plan.Outcome {
	o := s.ID.Owner
	if at := w.current(o, s.ID.Key); at != nil {
		switch {
		case at.r.Ownership == stack.Shared:
			return plan.Done(w.shown(o, at))
		case w.subject.Beside != nil && w.subject.Beside(at.r, s.Target):
		case s.Reason != plan.Replaced || s.Pair.Order == plan.DeleteFirst:
			return plan.Outcome{Err: fault.New(fault.Exists, "%s exists", s.ID.Key)}
		}
	}
	for _, r := range append([]stack.Resource{s.Target}, s.With...) {
		if taken := w.holder(o, r); taken != nil {
			return plan.Outcome{Err: fault.New(fault.Taken, "%s has the %s", taken.r.Key, r.Slot)}
		}
	}
	made := []*object{w.add(o, w.fresh(o, s.Target))}
	for _, r := range s.With {
		made = append(made, w.add(o, w.fresh(o, r)))
	}
	for i, at := range made {
		r, ok := w.resolve(o, at.r)
		if !ok {
			return plan.Outcome{Err: fault.New(fault.Internal, "%s refers to what does not exist", at.r.Key)}
		}
		if w.subject.Created != nil {
			r = w.subject.Created(w, o, r)
		}
		w.put(at, r)
		made[i] = w.objects[slices.IndexFunc(w.objects, func(a *object) bool { return a.number == at.number })]
	}
	out := plan.Done(w.shown(o, made[0]))
	for _, at := range made[1:] {
		out.Parts = append(out.Parts, w.shown(o, at))
	}
	return out
}

// fresh returns a resource as it is right after its creation.
func (w *World) fresh(o stack.Owner, r stack.Resource) stack.Resource {
	r.ID, r.Proof, r.State = w.NewID(o, r.Key), stack.Tag, stack.Ready
	return r
}

// holder returns the object that has the slot of a new one; nil: it is free.
func (w *World) holder(o stack.Owner, r stack.Resource) *object {
	if r.Slot == "" {
		return nil
	}
	parent := w.current(o, r.In)
	for _, at := range w.objects {
		sameOwner := at.owner == o || parent != nil && parent.owner.IsCluster()
		within := parent == nil && at.parent == 0 || parent != nil && at.parent == parent.number
		if sameOwner && within && at.r.Slot == r.Slot && at.r.Key.Kind == r.Key.Kind {
			return at
		}
	}
	return nil
}

// resolve gives references to keys the identifiers that those have now.
func (w *World) resolve(o stack.Owner, r stack.Resource) (stack.Resource, bool) {
	whole := true
	r.Spec = stack.Rebind(r.Spec, func(ref stack.Ref) stack.Ref {
		if ref.To == (stack.Key{}) || w.byID(o, ref.To.Kind, ref.ID) != nil {
			return ref
		}
		at := w.current(o, ref.To)
		if at == nil {
			whole = false
			return ref
		}
		return stack.Ref{To: ref.To, ID: at.r.ID}
	})
	return r, whole
}

// shown returns an object as an answer of the cloud shows it to an owner.
func (w *World) shown(o stack.Owner, at *object) stack.Resource {
	view := &stack.Stack{Resources: []stack.Resource{at.r}}
	view.Resources[0].Spec = stack.Rebind(at.r.Spec, func(ref stack.Ref) stack.Ref {
		if now := w.current(o, ref.To); ref.To != (stack.Key{}) && now != nil && now.r.ID == ref.ID {
			return stack.RefTo(ref.To)
		}
		if ref.ID != "" {
			return stack.RefID(ref.ID)
		}
		return ref
	})
	return view.Resources[0]
}

// update writes the changed fields. A resource that exists with its parent is known to the
// cloud from then on.
func (w *World) update(s plan.Step) plan.Outcome {
	o := s.ID.Owner
	at := w.target(o, s.Target)
	if at == nil && w.subject.Rules.Kinds[s.ID.Key.Kind].Within.Inherent && w.current(o, s.Target.In) != nil {
		r := s.Target
		r.ID, r.Proof, r.Spec = w.current(o, r.In).r.ID, stack.Derived, s.Found
		at = w.add(o, r)
	}
	if at == nil {
		return plan.Outcome{Err: fault.New(fault.NotFound, "%s is not found", s.Target.Key)}
	}
	if s.Target.Slot != at.r.Slot {
		if taken := w.holder(o, s.Target); taken != nil {
			return plan.Outcome{Err: fault.New(fault.Taken, "%s has the %s", taken.r.Key, s.Target.Slot)}
		}
	}
	known := &stack.Stack{Owner: o, Resources: []stack.Resource{w.shown(o, at)}} // steps name members of lists as the owner sees them
	known.Resources[0].Key = s.ID.Key
	engine.Learn(known, s, plan.Outcome{Sent: plan.WasSent})
	now := known.Resources[0]
	now.Key, now.In = at.r.Key, at.r.In
	now, ok := w.resolve(o, now)
	if !ok {
		return plan.Outcome{Err: fault.New(fault.Internal, "%s refers to what does not exist", s.ID.Key)}
	}
	if w.subject.Updated != nil {
		now = w.subject.Updated(w, o, now)
	}
	if !reflect.DeepEqual(now, at.r) {
		w.put(at, now)
	}
	return plan.Done(w.shown(o, w.target(o, s.Target)))
}

// remove deletes a resource with its parts, unless another Service wants it by now.
func (w *World) remove(s plan.Step, claimed bool) plan.Outcome {
	if claimed {
		return plan.Outcome{Sent: plan.WasSent}
	}
	if at := w.target(s.ID.Owner, s.Target); at != nil {
		w.drop(at)
	}
	return plan.Outcome{Sent: plan.WasSent}
}
