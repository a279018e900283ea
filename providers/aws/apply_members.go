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
	refused, err := fault.Split(members, fault.MaxSplits, func(part []T) error {
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
