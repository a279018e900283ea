package model

import (
	"github.com/berth-lb/berth/stack"
)

// joinShared gives a proof to found resources that only the desired state shows to be
// the Service's: they carry no mark of one Service, but were created by load balancers
// and are exactly what this one wants.
//
// A policy's name describes its whole content. Policies that no Service wants have no
// proof, whichever controller created them, since the official controller leaves its old
// ones behind and taking it over must change nothing.
//
// Rules in node groups that are marked as a load balancer's are shared by all load
// balancers that want them, whichever of them was first and is named in the mark. The
// ledger decides when they are deleted.
func joinShared(want, have *stack.Stack) *stack.Stack {
	out := have.Clone()
	for i := range out.Resources {
		r := &out.Resources[i]
		switch _, wanted := want.Get(r.Key); {
		case !wanted && r.Key.Kind == KindClassicPol:
			r.Proof = stack.None
		case wanted && r.Proof == stack.None && isClaimable(*r):
			r.Proof = stack.Derived
		}
	}
	return out
}

func isClaimable(r stack.Resource) bool {
	if r.Ownership == stack.External {
		return false
	}
	switch r.Key.Kind {
	case KindClassicPol, KindSharedNetwork, KindFrontGroup: // found only with the marks of the cluster and the group
		return true
	}
	rule, ok := r.Spec.(NodeRule)
	return ok && OfBalancer(rule.Description)
}

// foundByName reports whether a resource is found by tags, which have no UID. Names of Classic
// Load Balancers, of Network Load Balancers of the kind NLB and of security groups are made of
// the UID.
func foundByName(o stack.Owner, r stack.Resource) bool {
	switch r.Key.Kind {
	case KindNetwork:
		spec, ok := r.Spec.(Network)
		return !ok || spec.Name != LoadBalancerName(o.UID)
	case KindTargetGroup, KindListener:
		return true
	default:
		return false
	}
}
