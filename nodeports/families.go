package nodeports

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/utils/net"
)

// FamilyOf returns the IP family of an address; a mapped address counts as IPv4.
func FamilyOf(a netip.Addr) corev1.IPFamily {
	switch {
	case !a.IsValid():
		return corev1.IPFamilyUnknown
	case a.Unmap().Is4():
		return corev1.IPv4Protocol
	default:
		return corev1.IPv6Protocol
	}
}

// Families lists the IP families of a Service, the primary one first, never
// empty. The API server fills spec.ipFamilies; for objects that did not pass
// it the families of the cluster addresses are used, and IPv4 is the last resort, as
// in clusters without families.
func Families(svc *corev1.Service) []corev1.IPFamily {
	if len(svc.Spec.IPFamilies) > 0 {
		return slices.Clone(svc.Spec.IPFamilies)
	}
	ips := svc.Spec.ClusterIPs
	if len(ips) == 0 {
		ips = []string{svc.Spec.ClusterIP}
	}
	var out []corev1.IPFamily
	for _, text := range ips {
		addr, ok := parseAddr(text)
		if family := FamilyOf(addr); ok && !slices.Contains(out, family) {
			out = append(out, family)
		}
	}
	if len(out) == 0 {
		return []corev1.IPFamily{corev1.IPv4Protocol}
	}
	return out
}

// parseAddr reads an address as Kubernetes does: API servers before 1.36 accept
// leading zeros, and such values stay in stored objects. A mapped address
// is the IPv4 address that it stands for; a zone is meaningless off its host.
func parseAddr(text string) (netip.Addr, bool) {
	ip := utilnet.ParseIPSloppy(text)
	addr, ok := netip.AddrFromSlice(ip)
	return addr.Unmap(), ok
}
