package aws

import (
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
)

// addMembers adds the step's members in one call, or without the guilty ones in
// several.
func addMembers[T any](c *change, call func([]T) error) plan.Outcome {
	add, _ := plan.Members[T](c.step)
	refused, err := split(add, call)
	return c.members(refused, err)
}

// removeMembers removes the step's members. One that the cloud does not know is
// removed; only those that were not tried are left out.
func removeMembers[T any](c *change, call func([]T) error) plan.Outcome {
	_, remove := plan.Members[T](c.step)
	refused, err := split(remove, call)
	return c.removed(refused, err)
}

// addMachines is addMembers for instances. One that has ended makes AWS refuse
// the whole call; EC2 tells at once which, so that nobody has to search.
func addMachines[T any](c *change, id func(T) string, call func([]T) error) plan.Outcome {
	add, _ := plan.Members[T](c.step)
	refused, err := withoutEnded(c, add, id, call)
	return c.members(refused, err)
}

// removeMachines is removeMembers for instances.
func removeMachines[T any](c *change, id func(T) string, call func([]T) error) plan.Outcome {
	_, remove := plan.Members[T](c.step)
	refused, err := withoutEnded(c, remove, id, call)
	return c.removed(refused, err)
}

// withoutEnded calls with all members and, if AWS calls one of them invalid,
// again with those whose instances exist. Only if that is not the reason either,
// guilty ones are searched.
func withoutEnded[T any](c *change, all []T, id func(T) string, call func([]T) error) ([]plan.Refusal, error) {
	err := call(all)
	if !fault.Is(err, fault.Invalid) || len(all) == 1 {
		if fault.Is(err, fault.Invalid) {
			return []plan.Refusal{{Member: all[0], Err: err}}, nil
		}
		return nil, err
	}
	ids := make([]string, 0, len(all))
	for _, m := range all {
		ids = append(ids, id(m))
	}
	there, readErr := c.facts.refresh(c.ctx, c.now(), ids, c.instancesByID)
	if readErr != nil {
		return nil, err
	}
	var rest []T
	var ended []plan.Refusal
	for _, m := range all {
		if _, ok := there[id(m)]; ok {
			rest = append(rest, m)
			continue
		}
		gone := fault.New(fault.Invalid, "instance %s: is not there any more", id(m))
		gone.Code = codeOfFault(err)
		ended = append(ended, plan.Refusal{Member: m, Err: gone})
	}
	refused, err := split(rest, call)
	return append(ended, refused...), err
}

func (c *change) removed(refused []plan.Refusal, err error) plan.Outcome {
	if fault.Is(err, fault.NotFound) {
		return c.members(nil, nil) // with the parent all its members are gone
	}
	var left []plan.Refusal
	for _, r := range refused {
		if fault.Is(r.Err, fault.Pending) {
			left = append(left, r)
		}
	}
	return c.members(left, err)
}

func (c *change) members(refused []plan.Refusal, err error) plan.Outcome {
	if err != nil {
		o := failed(err)
		o.Refused = refused
		return o
	}
	o := c.updated(c.step.Target.Spec, nil)
	o.Refused = refused
	return o
}

// split searches guilty members. NotFound and Exists are about what the members
// are in, or mean that it is not as we know it, and end the search: AWS calls an
// unknown member invalid.
func split[T any](members []T, call func([]T) error) ([]plan.Refusal, error) {
	var lost error
	refused, err := fault.Split(members, fault.MaxSplits-1, func(part []T) error {
		err := call(part)
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Exists) {
			lost = err
			return &fault.Fault{Meaning: fault.Internal, Err: err}
		}
		return err
	})
	if lost != nil {
		err = lost
	}
	var out []plan.Refusal
	for _, r := range refused {
		out = append(out, plan.Refusal{Member: r.Member, Err: r.Err})
	}
	return out, err
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
