package providers

import (
	"errors"
	"maps"
	"slices"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// Blind is the kinds that a read could not see, each with the refusal of the call that
// would have shown it. Their resources are neither found nor absent: none of them is
// created or deleted.
type Blind map[stack.Kind]error

// Kinds returns the kinds in order.
func (b Blind) Kinds() []stack.Kind { return slices.Sorted(maps.Keys(b)) }

// Add makes a kind blind. The first refusal stays.
func (b Blind) Add(refusal error, kinds ...stack.Kind) {
	for _, k := range kinds {
		if _, known := b[k]; !known {
			b[k] = refusal
		}
	}
}

// Err returns the refusals as one error, each once; nil if every kind was seen.
func (b Blind) Err() error {
	var all []error
	for _, k := range b.Kinds() {
		if err := b[k]; !slices.ContainsFunc(all, func(e error) bool { return e.Error() == err.Error() }) {
			all = append(all, err)
		}
	}
	return fault.Listed(all...)
}

// HidesOnly reports whether a refused read hides only what it would have shown, so that
// the rest of a Service can go on without it: a right is missing. Credentials that the
// cloud does not accept, and an account that it does not serve, show nothing at all.
func HidesOnly(err error) bool {
	var f *fault.Fault
	return errors.As(err, &f) && f.Meaning == fault.Denied && f.Cause != fault.Unauthenticated && f.Cause != fault.Account
}
