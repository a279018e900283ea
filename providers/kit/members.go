package kit

import (
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
)

// Kept selects faults about the set itself, which end the search for rejected members of
// a call.
type Kept func(error) bool

// Split makes a call with many members, and finds the rejected ones with smaller calls.
// A fault that keep selects ends the search and is returned unchanged; nil: none.
func Split[T any](members []T, keep Kept, call func([]T) error) ([]plan.Refusal, error) {
	return SplitAmong(nil, "", members, nil, keep, call)
}

// SplitAmong is Split with the memory of fault.SplitAmong, for members that are tried
// repeatedly.
func SplitAmong[T any](s *fault.Suspects, target string, members []T, name func(T) string, keep Kept, call func([]T) error) ([]plan.Refusal, error) {
	var about error
	refused, err := fault.SplitAmong(s, target, members, name, fault.MaxSplits, func(part []T) error {
		err := call(part)
		if err != nil && keep != nil && keep(err) {
			about = err
			return &fault.Fault{Meaning: fault.Internal, Err: err}
		}
		return err
	})
	if about != nil {
		err = about
	}
	var out []plan.Refusal
	for _, r := range refused {
		out = append(out, plan.Refusal{Member: r.Member, Err: r.Err})
	}
	return out, err
}

// Members returns the outcome of an update of a set without the refused members.
func (c *Change[S]) Members(refused []plan.Refusal, err error) plan.Outcome {
	var o plan.Outcome
	if err != nil {
		o = Failed(err)
	} else {
		o = c.Updated(c.Step.Target.Spec, nil)
	}
	o.Refused = refused
	return o
}

// Removed returns the outcome of removing members from a set. A member that the cloud
// does not know is removed, and all of them if their resource does not exist; only members
// that were not tried are left out.
func (c *Change[S]) Removed(refused []plan.Refusal, err error) plan.Outcome {
	if fault.Is(err, fault.NotFound) {
		return c.Members(nil, nil)
	}
	var left []plan.Refusal
	for _, r := range refused {
		if fault.Is(r.Err, fault.Pending) {
			left = append(left, r)
		}
	}
	return c.Members(left, err)
}
