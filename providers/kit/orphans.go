package kit

import (
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Orphans returns the stacks that were read for deleted Services, without resources of
// others, and only stacks that ours reports as this cluster's. It returns the first error
// of a read or of ours.
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
		// A foreign load balancer that the Service uses stays in the list: its parts are
		// identified by it.
		f.Have.Resources = slices.DeleteFunc(f.Have.Resources, func(r stack.Resource) bool { return r.Proof == stack.None && r.Ownership != stack.External })
		if is && slices.ContainsFunc(f.Have.Resources, func(r stack.Resource) bool { return r.Ownership != stack.External }) {
			out = append(out, f.Have)
		}
	}
	return out, nil
}
