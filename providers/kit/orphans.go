package kit

import (
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Orphans returns the stacks of what was read of Services that are gone, without what is
// of others, and only those of which ours says that they are this cluster's. It returns
// the first error of a read or of ours.
func Orphans[F any](found []providers.Found[F], ours func(*stack.Stack) (bool, error)) ([]*stack.Stack, error) {
	var out []*stack.Stack
	for _, f := range found {
		if f.Err != nil {
			return nil, f.Err
		}
		is, err := ours(f.Have)
		if err != nil {
			return nil, err
		}
		// A load balancer of others on which the Service stands stays in the list: what is
		// below it is known by it.
		f.Have.Resources = slices.DeleteFunc(f.Have.Resources, func(r stack.Resource) bool { return r.Proof == stack.None && r.Ownership != stack.External })
		if is && slices.ContainsFunc(f.Have.Resources, func(r stack.Resource) bool { return r.Ownership != stack.External }) {
			out = append(out, f.Have)
		}
	}
	return out, nil
}
