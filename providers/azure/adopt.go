package azure

import "github.com/berth-lb/berth/stack"

// adopt gives a proof to found things that only the wish shows to be the
// Service's: pools, memberships, entries of the security group and public IPs that
// a controller made are everybody's
// who wants them, by content, and the ledger decides when they go. What is not
// wanted keeps no proof, so that pools which others filled are never emptied.
func adopt(want, have *stack.Stack) *stack.Stack {
	if want == nil || have == nil {
		return have
	}
	out, families := have.Clone(), familiesOf(want)
	for i := range out.Resources {
		r := &out.Resources[i]
		if !claimable(r.Key.Kind) {
			continue
		}
		_, wanted := want.Get(r.Key)
		a, _ := r.Spec.(Access)
		switch {
		case wanted && r.Proof == stack.None:
			r.Proof = stack.Derived
		case !wanted && a.OnNode && len(families) > 0 && !families[a.Family]:
			r.Proof = stack.None
		}
	}
	return out
}

// familiesOf are the families of the wanted frontends. Where nodes have both, the
// official controller enters both addresses of them for a Service of one family;
// those entries stay until the Service goes, so that taking over writes nothing.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
func familiesOf(want *stack.Stack) map[string]bool {
	out := map[string]bool{}
	for _, r := range want.Resources {
		e, _ := r.Spec.(Entries)
		for _, f := range e.Frontends {
			out[f.Version] = true
		}
	}
	return out
}

func claimable(k stack.Kind) bool {
	switch k {
	case KindPool, KindNICs, KindScaleSet, KindAccess, KindPublicIP:
		return true
	}
	return false
}
