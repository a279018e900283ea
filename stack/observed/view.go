package observed

import (
	"slices"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// update is a change of the members of a shared resource.
type update struct {
	step    plan.Step
	outcome plan.Outcome
	at      time.Time // when the call ended
}

// recent returns the updates that a remembered stack may lack.
func (s *Store) recent(all []update, now time.Time) []update {
	first := slices.IndexFunc(all, func(u update) bool { return now.Sub(u.at) < 2*s.interval })
	if first < 0 {
		return nil
	}
	return slices.Clone(all[first:])
}

// isDeleted reports whether a resource that a read shows was deleted before by this process, so
// that the read is stale.
func (r record) isDeleted(res stack.Resource, began time.Time) bool {
	old := r.deleted
	return !old.at.IsZero() && !old.refilled && old.id == res.ID && began.Sub(old.at) <= StaleRead && res.Proof != stack.None && res.State == stack.Ready
}

// isRemovedSince reports whether a call has been deleting the shared resource since a time.
func (r record) isRemovedSince(t time.Time) bool {
	return r.removals.calls > 0 || !r.removals.ended.IsZero() && !t.After(r.removals.ended)
}

// isShareable reports whether a resource belongs to the cluster as a whole, and is no part of
// another one.
func isShareable(res stack.Resource) bool {
	return res.Ownership == stack.Shared && res.In == (stack.Key{})
}

// Listed records what a read for an owner has shown. Shared resources that are ready are known
// to all Services from then on.
func (s *Store) Listed(have *stack.Stack, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, res := range have.Resources {
		if !isShareable(res) || res.Proof == stack.None || res.State != stack.Ready {
			continue
		}
		if r := s.recordOf(have.Owner, res); r.isRemovedSince(began) || r.isDeleted(res, began) || began.Before(r.at) || began.Before(s.forgotten) {
			continue
		}
		s.change(have.Owner, res, func(r *record) { r.shared, r.at = &res, began })
	}
}

// learn records the shared resource that a step has created or updated; after any other outcome it is unknown.
func (s *Store) learn(step plan.Step, o plan.Outcome, now time.Time) {
	if !isShareable(step.Target) {
		return
	}
	known := s.recordOf(step.ID.Owner, step.Target).shared
	s.change(step.ID.Owner, step.Target, func(r *record) { r.shared, r.at = nil, now })
	if o.Err != nil || o.Wait > 0 || known == nil && step.ID.Action == plan.Update {
		return
	}
	after := &stack.Stack{Owner: step.ID.Owner}
	if known != nil {
		after.Put(*known)
	}
	engine.Learn(after, step, o)
	if res, exists := after.Get(step.Target.Key); exists && res.Proof != stack.None {
		s.change(step.ID.Owner, step.Target, func(r *record) { r.shared = &res })
	}
}

// Shared lists the shared resources that are known, in the order of their keys.
func (s *Store) Shared() []stack.Resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []stack.Resource
	for _, r := range s.records[stack.Owner{}] {
		if r.shared != nil && s.now().Sub(r.at) < s.interval {
			out = append(out, *r.shared)
		}
	}
	slices.SortFunc(out, func(a, b stack.Resource) int { return a.Key.Compare(b.Key) })
	return out
}

// ForgetShared drops the known shared resources, after the cloud has contradicted it.
func (s *Store) ForgetShared() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = s.now()
	for _, r := range s.records[stack.Owner{}] {
		r.shared = nil
	}
}

// DropDeleted removes from the result of a read the resources that this process had deleted
// just before, with their parts. It does not prove that nothing is left: a previous process may
// have created such a resource again.
func (s *Store) DropDeleted(have *stack.Stack, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, res := range slices.Clone(have.Resources) {
		if s.recordOf(have.Owner, res).isDeleted(res, began) || s.isDeletedForNamesake(have.Owner, res, began) {
			have.Drop(res.Key)
		}
	}
}

// isDeletedForNamesake reports whether a resource that a read shows was deleted before for an
// earlier Service of the same name, and not created again for this one. Where names hold no UID,
// the read of the later Service finds it by that name.
func (s *Store) isDeletedForNamesake(o stack.Owner, res stack.Resource, began time.Time) bool {
	own := s.recordOf(o, res)
	if res.Ownership != stack.Owned || res.In != (stack.Key{}) || own.deleted.refilled || !own.created.at.IsZero() {
		return false
	}
	return slices.ContainsFunc(s.namesakes(o), func(other stack.Owner) bool {
		return other != o && s.recordOf(other, res).isDeleted(res, began)
	})
}

// Overlay returns a stack as known at a time, with the members that this process has added and
// removed since. The stack itself is not changed.
func (s *Store) Overlay(have *stack.Stack, at time.Time) *stack.Stack {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := have
	for _, res := range have.Resources {
		if res.Ownership != stack.Shared {
			continue
		}
		for _, late := range s.recordOf(have.Owner, res).updates {
			if late.at.Before(at) {
				continue
			}
			if out == have {
				out = have.Clone()
			}
			engine.Learn(out, late.step, late.outcome)
		}
	}
	return out
}

// RemovedSince reports whether what was known of a shared resource at a time may be wrong,
// because a call has been deleting it since. The channel is closed when that call has ended;
// nil: it has ended.
func (s *Store) RemovedSince(res stack.Resource, known time.Time) (<-chan struct{}, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.recordOf(stack.Owner{}, res)
	if r.removals.calls > 0 {
		return r.removals.done, true
	}
	return nil, r.isRemovedSince(known)
}

// Unseen returns how long after a read began reads may still lack a resource that was created
// for the owner, or whose deletion for it was not confirmed, and that may exist. Zero or less:
// there is none. What the read has shown counts as seen, and what others claim is left to them.
func (s *Store) Unseen(o stack.Owner, shown *stack.Stack, began time.Time, others plan.Claims) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wait time.Duration
	for at, r := range s.records[o] {
		isShown := func(res stack.Resource) bool { return r.created.isOf(at, res) }
		if r.created.at.IsZero() || shown != nil && slices.ContainsFunc(shown.Resources, isShown) {
			continue
		}
		wait = max(wait, r.created.at.Add(StaleRead).Sub(began))
	}
	for _, of := range []stack.Owner{o, {}} {
		for at, r := range s.records[of] {
			isShown := func(res stack.Resource) bool { return res.Key == at.key && res.In == at.in }
			if r.doubt.at.IsZero() || r.doubt.by != o || shown != nil && slices.ContainsFunc(shown.Resources, isShown) {
				continue
			}
			if of != o && len(others.Others(o, stack.Resource{Key: at.key, In: at.in, ID: r.doubt.id, Ownership: stack.Shared})) > 0 {
				continue
			}
			wait = max(wait, r.doubt.at.Add(StaleRead).Sub(began))
		}
	}
	return wait
}

// DoubtedUntil returns until when reads may show a resource of the stack although it does not
// exist any more: a call of this process to delete it has no answer, and the stack is from a read
// that began shortly after it. Zero: there is none.
func (s *Store) DoubtedUntil(have *stack.Stack, began time.Time) (until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, res := range have.Resources {
		for _, o := range s.namesakes(have.Owner) {
			d := s.recordOf(o, res).doubt
			end := d.at.Add(StaleRead)
			if d.maybe && d.id == res.ID && res.Proof != stack.None && res.State == stack.Ready && began.Before(end) && end.After(until) {
				until = end
			}
		}
	}
	return until
}

// namesakes returns the owner, and the earlier and later Services of its name. The lock is held.
func (s *Store) namesakes(o stack.Owner) []stack.Owner {
	out := []stack.Owner{o}
	for other := range s.records {
		if other.Name == o.Name && other.Namespace == o.Namespace && other != o {
			out = append(out, other)
		}
	}
	return out
}

// IsOurs reports whether this process has created the resource, as far as it can have done so
// since a read that other processes may have made stale.
func (s *Store) IsOurs(o stack.Owner, res stack.Resource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recordOf(o, res).isOurs
}
