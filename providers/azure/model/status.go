package model

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// addresses says at which addresses clients reach the Service: those of its
// frontends, the primary family first, then those that the user adds. While the
// load balancer of the wanted kind does not have it yet, the other one serves
// still and is named.
func addresses(in input, have *stack.Stack) status.Result {
	if in.Config.PodIP() {
		a, ok := podStatus(in, have)
		if !ok {
			return status.Result{}
		}
		return status.Result{Ingress: []corev1.LoadBalancerIngress{status.IP(a.String(), corev1.LoadBalancerIPModeVIP)}}
	}
	wanted, other := frontendAddresses(in, have)
	if len(wanted) == 0 {
		wanted = other
	}
	if len(wanted) == 0 {
		return status.Result{}
	}
	for _, a := range additionalKey.Get(in.Values) {
		wanted = append(wanted, a.Unmap().String())
	}
	var out status.Result
	for _, a := range wanted {
		out.Ingress = append(out.Ingress, status.IP(a, corev1.LoadBalancerIPModeVIP))
	}
	return out
}

// frontendAddresses are those on load balancers of the wanted kind, and those on
// the others.
func frontendAddresses(in input, have *stack.Stack) (wanted, other []string) {
	for _, family := range in.Backends.Families {
		for _, r := range have.Of(KindEntries) {
			e, ok := r.Spec.(Entries)
			if !ok || r.Proof == stack.None || r.State == stack.Failed {
				continue
			}
			list := &other
			if KindOf(e.Balancer) == in.Kind {
				list = &wanted
			}
			for _, f := range e.Frontends {
				a, err := netip.ParseAddr(f.Address)
				if err == nil && nodeports.FamilyOf(a) == family && !slices.Contains(*list, a.String()) {
					*list = append(*list, a.String())
				}
			}
		}
	}
	return wanted, other
}
