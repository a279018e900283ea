package model

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// statusOf returns the addresses at which clients reach the Service: those of its
// frontends, the primary family first, then the additional ones of the annotation. A frontend
// of the desired kind counts once clients get through to it; see admits. Until one does, the
// addresses of the other kind are returned, which still serves.
func statusOf(in input, have *stack.Stack) status.Result {
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

// frontendAddresses returns the complete addresses on load balancers of the desired kind, and
// all addresses on the others.
func frontendAddresses(in input, have *stack.Stack) (wanted, other []string) {
	admits := reportAdmission(in, have)
	for _, family := range in.Backends.Families {
		for r, e := range stack.Each[Entries](have, KindEntries) {
			if r.Proof == stack.None || r.State == stack.Failed {
				continue
			}
			list := &other
			if KindOf(e.Balancer) == in.Kind {
				list = &wanted
			}
			for _, f := range e.Frontends {
				a, err := netip.ParseAddr(f.Address)
				closed := list == &wanted && !admits(family, a)
				if err == nil && nodeports.FamilyOf(a) == family && !closed && !slices.Contains(*list, a.String()) {
					*list = append(*list, a.String())
				}
			}
		}
	}
	return wanted, other
}

// reportAdmission returns a function that reports whether the security group lets clients in to at
// least one port of an address, as far as the Service needs a rule for that.
func reportAdmission(in input, have *stack.Stack) func(corev1.IPFamily, netip.Addr) bool {
	b := newBuilder(in, &Facts{}, have)
	spec, allowed, ok := b.clientRanges()
	if noAccessKey.Get(in.Values) || !ok {
		return func(corev1.IPFamily, netip.Addr) bool { return true }
	}
	who := permittedClients(in.Kind, serviceTagsKey.Get(in.Values), spec, allowed, denyAllKey.Get(in.Values))
	ports := map[string]bool{}
	for _, protocol := range []string{"Tcp", "Udp", "*"} {
		for _, port := range b.openPorts(protocol) {
			ports[protocol+port] = true
		}
	}
	return func(family corev1.IPFamily, address netip.Addr) bool {
		if !who.admitsByRule(family) || len(ports) == 0 {
			return true
		}
		return slices.ContainsFunc(have.Of(KindAccess), func(r stack.Resource) bool {
			a, _ := r.Spec.(Access)
			leads := a.Destination == address.String() || noFloatingKey.Get(in.Values)
			return leads && !a.Deny && a.Family == string(family) && slices.ContainsFunc(a.Ports, func(port string) bool { return ports[a.Protocol+port] })
		})
	}
}
