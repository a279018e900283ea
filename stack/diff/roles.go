package diff

import (
	"reflect"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Role is the part that the resources of a kind play in traffic. A kind may have several.
// Most orders between kinds follow from their roles; see [Rules.Orders].
type Role uint8

const (
	// EntryPoint resources have the address that clients connect to: a load balancer, a
	// forwarding rule. A found one that is not wanted any more, while one of another kind
	// is, is deleted only after the switch.
	EntryPoint Role = 1 << iota
	// Port resources open a port of an entry point: a listener.
	Port
	// Members resources hold or describe the backends of a port: a pool, a target group,
	// a health monitor.
	Members
	// Admits resources let traffic pass: a firewall, a rule of a security group.
	Admits
	// Completes resources are what a new entry point is of no use without, although they wait
	// for it: a firewall that admits its clients only once it exists. Where one that a
	// replacement needs is refused, the old entry point is restored.
	Completes
)

// Is reports whether the role includes another one.
func (r Role) Is(other Role) bool { return r&other != 0 }

// Effect is what a step does to traffic, as far as its role says. The zero value matches
// any step.
type Effect int

const (
	// Widens matches creates, and updates that add members to a list.
	Widens Effect = iota + 1
	// Narrows matches deletes, and updates that remove members from a list.
	Narrows
	// OnlyNarrows matches what Narrows does, except updates that add members as well.
	OnlyNarrows
	// Reroutes matches updates of references and of all fields that are not in Rule.Parts.
	Reroutes
)

// has reports whether a step on a resource of the rule's kind has the effect.
func (r Rule) has(e Effect, s *plan.Step) bool {
	switch e {
	case Widens:
		return s.ID.Action == plan.Create || s.ID.Action == plan.Update && slices.ContainsFunc(s.Changes, widensBy)
	case Narrows:
		return s.ID.Action == plan.Delete || s.ID.Action == plan.Update && slices.ContainsFunc(s.Changes, narrowsBy)
	case OnlyNarrows:
		return r.has(Narrows, s) && !r.has(Widens, s)
	case Reroutes:
		return s.ID.Action == plan.Update && (!r.isPart(s.ID.Part) || slices.ContainsFunc(s.Changes, changesRefs))
	}
	return true
}

// isPart reports whether updates with the name write only fields listed in Parts.
func (r Rule) isPart(name string) bool {
	for _, part := range r.Parts {
		if part == name {
			return true
		}
	}
	return false
}

func changesRefs(ch plan.Change) bool { return len(stack.Refs(ch.From))+len(stack.Refs(ch.To)) > 0 }

// widensBy reports whether a change may admit more. A list that becomes empty counts: for
// some fields an empty list means all clients.
func widensBy(ch plan.Change) bool {
	added, _, list := splitMembers(ch)
	return !list || len(added) > 0 || isEmpty(ch.To)
}

// narrowsBy reports whether a change may admit less.
func narrowsBy(ch plan.Change) bool {
	_, removed, list := splitMembers(ch)
	return !list || len(removed) > 0 || isEmpty(ch.From)
}

// splitMembers returns what a change adds to and removes from a list; false: the field is none.
func splitMembers(ch plan.Change) (added, removed []any, list bool) {
	if len(ch.Added)+len(ch.Removed) > 0 {
		return ch.Added, ch.Removed, true
	}
	if !isList(ch.From) && !isList(ch.To) {
		return nil, nil, false
	}
	added, removed = stack.Differ(ch.To, ch.From)
	return added, removed, true
}

func isList(v any) bool { return v != nil && reflect.TypeOf(v).Kind() == reflect.Slice }
