package model

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

// Input is that of the contract with this cloud's configuration.
type Input = providers.Input[Config]

// Identity is that of the contract with this cloud's configuration.
type Identity = providers.Identity[Config]

// Choose says which kind a Service asks for: nlb in any case, else lb.
// Source: load_balancer_spec.go (getLoadBalancerType).
func Choose(svc *corev1.Service) providers.Choice {
	if strings.EqualFold(svc.Annotations[typeKey.Name], NLB) {
		return providers.Choice{Kind: NLB}
	}
	return providers.Choice{Kind: LB}
}

// Left says why Services are left alone where the configuration has no load balancers.
func Left(c Config, _ *corev1.Service) string {
	if c.LoadBalancer.Disabled {
		return "the configuration has loadBalancer.disabled: true"
	}
	return ""
}

// SelectNodes says which nodes may be backends.
func SelectNodes(in Input) nodeports.Filter {
	key := nodeSelectorKey
	if in.Kind == NLB {
		key = netNodeSelectorKey
	}
	s := key.Get(in.Values)
	if s.Text == "" {
		return nodeports.Filter{}
	}
	return nodeports.Filter{Keep: s.Keys, Also: []nodeports.Predicate{{Name: "selector " + s.Text, Keep: func(n nodeports.Node) bool { return s.Matches(n.Labels) }}}}
}

// keyForKind returns the value of the key that the kind has.
func keyForKind[T any](in Input, lb, nlb *annotations.Key[T]) T {
	if in.Kind == NLB {
		return nlb.Get(in.Values)
	}
	return lb.Get(in.Values)
}

func isInternal(in Input) bool { return keyForKind(in, internalKey, netInternalKey) }

func compartmentOf(in Input) string {
	return compartmentKey.Or(in.Values, in.Config.Compartment)
}

// subnetsAsked are the subnets that the Service or the configuration names.
func subnetsAsked(in Input) (first, second string) {
	c := in.Config.LoadBalancer
	if in.Kind == NLB {
		return netSubnetKey.Or(in.Values, c.Subnet1), ""
	}
	return subnetKey.Or(in.Values, c.Subnet1), secondSubnetKey.Or(in.Values, c.Subnet2)
}

// ruleMode returns how security rules are managed. Source: load_balancer_spec.go
// (getRuleManagementMode, getSecurityListManagementMode).
func ruleMode(in Input) string {
	switch ruleModeKey.Get(in.Values) {
	case ruleModeLists:
		return modeAll
	case ruleModeFrontend:
		return modeFrontend
	case modeGroup:
		return modeGroup
	case modeNone:
		return modeNone
	}
	if in.Kind == NLB {
		return netListModeKey.Get(in.Values)
	}
	return listModeKey.Or(in.Values, in.Config.listMode())
}

// addressesAsked are the reserved addresses that the Service names, and where: public
// ones, or a private one by itself or by its OCID.
func addressesAsked(in Input) (addresses []string, where string) {
	if ip := in.Service.Spec.LoadBalancerIP; ip != "" {
		return []string{ip}, "spec.loadBalancerIP"
	}
	said := reservedKey.Get(in.Values)
	if private := reservedPrivateKey.Get(in.Values); private != "" && len(said) == 0 && isInternal(in) {
		return []string{private}, reservedPrivateKey.Name
	}
	for _, ip := range said {
		if a, err := netip.ParseAddr(ip); err == nil {
			ip = a.String() // as the cloud writes it
		}
		addresses = append(addresses, ip)
	}
	return addresses, reservedKey.Name
}

// isV6 reports whether a text is an IPv6 address.
func isV6(text string) bool {
	a, err := netip.ParseAddr(text)
	return err == nil && a.Is6()
}

// preservesSource reports whether nodes see the addresses of clients. Source:
// load_balancer_spec.go (getPreserveSource).
func preservesSource(in Input) bool {
	if in.Kind != NLB || !nodeports.LocalOnly(in.Service) {
		return false
	}
	keep, _, said := preserveKey.Lookup(in.Values)
	return keep || !said
}

// familiesOf are the families that the load balancer listens on and sends to nodes by:
// those of its addresses that nodes have as well. While there are no nodes, nothing is
// taken away for want of them.
// Source: load_balancer.go (getLbListenerBackendSetIpVersion).
func (b *builder) familiesOf() []corev1.IPFamily {
	if b.in.Kind == LB {
		return []corev1.IPFamily{corev1.IPv4Protocol}
	}
	all := familiesIn(b.version)
	return slices.DeleteFunc(slices.Clone(all), func(f corev1.IPFamily) bool { return len(all) > 1 && b.unreached(f) })
}

// familiesIn are those of a version of addresses.
func familiesIn(version string) []corev1.IPFamily {
	switch version {
	case V6:
		return []corev1.IPFamily{corev1.IPv6Protocol}
	case Both:
		return []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	}
	return []corev1.IPFamily{corev1.IPv4Protocol}
}

// unreached tells that there are nodes, and none has an address of a family.
func (b *builder) unreached(f corev1.IPFamily) bool {
	for node := range b.in.Backends.Nodes.All() {
		if _, ok := node.Address(f); ok {
			return false
		}
	}
	return b.in.Backends.Nodes.Len() > 0
}

// versionOf is the version of the load balancer's addresses: of nlb it follows from the
// families and what the subnet has.
// Source: load_balancer_spec.go (getIpVersions), load_balancer_util.go.
func (b *builder) versionOf(subnet Subnet) string {
	six, four := slices.Contains(b.in.Backends.Families, corev1.IPv6Protocol), slices.Contains(b.in.Backends.Families, corev1.IPv4Protocol)
	switch {
	case b.in.Kind == LB && six && four:
		return V6
	case b.in.Kind == LB || !six:
		return V4
	case !four:
		return V6
	case len(subnet.CIDR6) == 0:
		return V4
	}
	return Both
}

// InstanceID is the OCID of a node's instance.
func InstanceID(n nodeports.Node) string { return strings.TrimPrefix(n.ProviderID, "oci://") }
