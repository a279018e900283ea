package model

import "github.com/berth-lb/berth/stack"

// matchFound adds a proof to observed resources that only the desired stack shows to be the
// Service's: retained frontends, pools, memberships, entries of the security group and public IPs created by a
// controller. They belong to every Service that wants them, by content, and the ledger
// decides when they are deleted. Resources that are not desired get no proof, so that pools
// filled by others are never emptied.
func matchFound(want, have *stack.Stack) *stack.Stack {
	if want == nil || have == nil {
		return have
	}
	out := have.Clone()
	for i := range out.Resources {
		r := &out.Resources[i]
		if r.Proof != stack.None || !isClaimable(r.Key.Kind) {
			continue
		}
		if _, wanted := want.Get(r.Key); wanted {
			r.Proof = stack.Derived
		}
	}
	return out
}

func isClaimable(k stack.Kind) bool {
	switch k {
	case KindEntries, KindPool, KindNICs, KindScaleSet, KindAccess, KindPublicIP:
		return true
	}
	return false
}
