package wire

import (
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack/plan"
)

// addMachines adds the step's members, which are instances, to a target. A terminated
// one makes AWS refuse the whole call; EC2 reports at once which one, so no search is
// needed. Members that were refused before are sent after the others, alone.
func addMachines[T any](c *change, target string, id func(T) string, call func([]T) error) plan.Outcome {
	add, _ := plan.Members[T](c.Step)
	hunt := among[T]{&c.Session.facts.suspects, target, id}
	rest, suspected := fault.Part(hunt.memory, target, add, id)
	refused, err := withoutEnded(c, rest, hunt, call)
	if err == nil {
		var again []plan.Refusal
		again, err = hunt.split(suspected, call)
		refused = append(refused, again...)
	}
	return c.Members(refused, err)
}

// removeMachines removes members of the step, which are instances.
func removeMachines[T any](c *change, remove []T, id func(T) string, call func([]T) error) plan.Outcome {
	refused, err := withoutEnded(c, remove, among[T]{name: id}, call)
	return c.Removed(refused, err)
}

// withoutEnded calls with all members and, if AWS calls one of them invalid, again with
// those whose instances exist. Only if that is not the reason either does it search for
// rejected members.
func withoutEnded[T any](c *change, all []T, hunt among[T], call func([]T) error) ([]plan.Refusal, error) {
	if len(all) == 0 {
		return nil, nil
	}
	err := call(all)
	switch {
	case fault.Is(err, fault.Quota):
		// Others are registered, which is enough to serve; the next plan chooses among them.
		return everyOne(all, err), nil
	case fault.Is(err, fault.Invalid) && len(all) == 1:
		return []plan.Refusal{{Member: all[0], Err: err}}, nil
	case !fault.Is(err, fault.Invalid):
		return nil, err
	}
	ids := make([]string, 0, len(all))
	for _, m := range all {
		ids = append(ids, hunt.name(m))
	}
	there, readErr := c.Session.facts.refresh(c.Ctx, c.Session.now(), ids, c.Session.instancesByID)
	if readErr != nil {
		return nil, err
	}
	var rest []T
	var ended []plan.Refusal
	for _, m := range all {
		machine, ok := there[hunt.name(m)]
		if ok && !(machine.Stopped && c.Step.ID.Key.Kind == model.KindTargets) {
			rest = append(rest, m)
			continue
		}
		gone := fault.New(fault.Invalid, "instance %s: does not exist any more", hunt.name(m))
		if ok {
			gone = fault.New(fault.Invalid, "instance %s: does not run", hunt.name(m))
		}
		gone.Code = codeOfFault(err)
		ended = append(ended, plan.Refusal{Member: m, Err: gone})
	}
	refused, err := hunt.split(rest, call)
	return append(ended, refused...), err
}

// among is where rejected members are searched for: what is remembered of them, what
// they are put into, and what tells them apart. Without a memory none is kept.
type among[T any] struct {
	memory *fault.Suspects
	target string
	name   func(T) string
}

// split searches for rejected members. NotFound and Exists are about the set of the
// members, or mean that it differs from its known state, and end the search: AWS calls
// an unknown member invalid.
func (a among[T]) split(members []T, call func([]T) error) ([]plan.Refusal, error) {
	return kit.SplitAmong(a.memory, a.target, members, a.name, func(err error) bool { return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Exists) }, call)
}

// everyOne is the same refusal for all members.
func everyOne[T any](members []T, err error) []plan.Refusal {
	out := make([]plan.Refusal, 0, len(members))
	for _, m := range members {
		out = append(out, plan.Refusal{Member: m, Err: err})
	}
	return out
}

// splitMembers is among.split without a memory.
func splitMembers[T any](members []T, call func([]T) error) ([]plan.Refusal, error) {
	return among[T]{}.split(members, call)
}

// notYet turns the answer that a security group is unknown into a wait if the
// group is one that we have just made: EC2 tells the other services of it with
// some seconds of delay. Source: Amazon EC2 API reference, eventual consistency.
func notYet(err error, ours bool) error {
	switch code := codeOfFault(err); code {
	case "InvalidSecurityGroup", "InvalidGroup.NotFound", "InvalidGroupId.NotFound":
		if ours {
			return &fault.Fault{Meaning: fault.Pending, After: settleDelay, Code: code, Err: err}
		}
	}
	return err
}
