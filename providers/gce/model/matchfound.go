package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
)

// matchFound leaves shared firewalls out whose check the Service keeps using: one of the
// other IP family, which other Services may need and which is deleted with the check.
// Nothing else has to be put into place, since names are keys.
func matchFound(want, have *stack.Stack) *stack.Stack {
	if want == nil || have == nil {
		return have
	}
	out := have.Clone()
	out.Resources = slices.DeleteFunc(out.Resources, func(r stack.Resource) bool {
		if r.Key.Kind != KindCheckFirewall || r.Ownership != stack.Shared {
			return false
		}
		_, wanted := want.Get(r.Key)
		return !wanted && slices.ContainsFunc(FirewallChecks(r.Key.Name), func(k stack.Key) bool {
			_, used := want.Get(k)
			return used
		})
	})
	return out
}
