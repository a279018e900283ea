package model

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

type (
	input    = providers.Input[Config]
	identity = providers.Identity[Config]
)

// OwnedScope says where anything that the Service may own can be found: under all of
// its names, of every kind, and the shared things that its own refer to.
func OwnedScope(id identity) providers.Scope {
	return providers.Scope{Owner: id.Owner, Own: OwnLookups(id, nil), Facts: []providers.Lookup{{Kind: FactZones, By: byRegion}}}
}

// OwnLookups are the look-ups by every name; shared ones that the Service wants
// are answered also while others use them.
func OwnLookups(id identity, wanted []string) []providers.Lookup {
	var out []providers.Lookup
	for _, n := range OwnNames(id.Config, id.Owner) {
		by := ByName
		if n.Pattern {
			by = ByPattern
		}
		out = append(out, providers.Lookup{Kind: n.Key.Kind, By: by, Value: n.Name})
	}
	for _, n := range SharedNames(id.Config) {
		if n.Key.Kind == KindGroup && id.Config.KeepGroups {
			continue // another tool manages them
		}
		by := ByUse
		if slices.Contains(wanted, string(n.Key.Kind)+" "+n.Name) {
			by = ByName
		}
		out = append(out, providers.Lookup{Kind: n.Key.Kind, By: by, Value: n.Name})
	}
	return out
}

// Scope says what Build must know besides.
func Scope(in input) (providers.Scope, error) {
	s := factsFor(in, mayBe)
	s.Own = OwnLookups(in.Identity, wantedShared(in))
	return s, nil
}

// scopeForCreate is scope for a Service of which nothing can be there: its kind is what it
// asks for. Nothing is looked up, since every creation is refused that would take
// a name.
func scopeForCreate(in input) (providers.Scope, error) {
	in = withEffectiveKind(in, nil)
	return factsFor(in, func(in input, kind string) bool { return in.Kind == kind }), nil
}

// factsFor are the facts that any kind needs that the Service may turn out to be of.
func factsFor(in input, may func(input, string) bool) providers.Scope {
	s := providers.Scope{
		Owner: in.Owner, Nodes: in.Backends.Nodes,
		Facts: []providers.Lookup{{Kind: FactZones, By: byRegion}},
	}
	// Subnets tell where an internal address is from, and which subnet a node is in.
	if in.Kind != TargetPool || may(in, NetLB) {
		s.Facts = append(s.Facts, providers.Lookup{Kind: FactSubnets, By: byNetwork})
	}
	if may(in, TargetPool) || len(in.Config.NodeTags) == 0 {
		s.Facts = append(s.Facts, providers.Lookup{Kind: FactInstances, By: byRegion})
	}
	if in.Config.KeepGroups && (may(in, InternalIG) || may(in, NetLB)) {
		s.Facts = append(s.Facts, providers.Lookup{Kind: FactGroups, By: byRegion})
	}
	for _, name := range staticNames(in) {
		s.Facts = append(s.Facts, providers.Lookup{Kind: FactAddresses, By: ByName, Value: name})
	}
	s.Facts = append(s.Facts, neighbourLookups(in)...)
	for _, ip := range knownIPs(in.Service) {
		s.Facts = append(s.Facts, providers.Lookup{Kind: FactAddresses, By: ByIP, Value: ip})
	}
	return s
}

// neighbourLookups asks for the forwarding rules on the addresses that the Service asks for: other
// Services may have ports there.
func neighbourLookups(in input) []providers.Lookup {
	var out []providers.Lookup
	for _, name := range staticNames(in) {
		out = append(out, providers.Lookup{Kind: FactRules, By: ByName, Value: name})
	}
	if ip := canonicalIP(in.Service.Spec.LoadBalancerIP); ip != "" {
		out = append(out, providers.Lookup{Kind: FactRules, By: ByIP, Value: ip})
	}
	return out
}

// mayBe reports whether the Service may turn out to be of the kind, once the existing
// resources are known.
func mayBe(in input, kind string) bool {
	if in.Kind == kind {
		return true
	}
	return (!settledBy(in.Service) || mayHavePool(in.Service)) && schemeOf(in.Kind) == schemeOf(kind)
}

// wantedShared are the shared names that the Service wants, as far as they are known
// before anything is read. Further ones are found through the resources that refer to
// them.
func wantedShared(in input) []string {
	in = withEffectiveKind(in, nil)
	n := NamesOf(in.Config, in.Owner)
	var out []string
	add := func(kind stack.Kind, name string) { out = append(out, string(kind)+" "+name) }
	if in.Kind == InternalIG || in.Kind == NetLB && !usesNEG(in, nil) {
		add(KindGroup, in.Config.GroupName(in.Kind))
	}
	local := nodeports.LocalOnly(in.Service)
	switch {
	case in.Kind == TargetPool && (!local || in.Service.Spec.HealthCheckNodePort == 0):
		add(KindHTTPCheck, n.legacyCheck())
		add(KindCheckFirewall, n.legacyCheck()+suffixHTTPHC)
	case local:
	case in.Kind == InternalIG:
		if shareKey.Get(in.Values) || oldShareKey.Get(in.Values) {
			add(KindBackend, n.sharedBackend(sharedBackendOf(in.Service)))
		}
		add(KindCheck, n.legacyCheck())
		add(KindCheckFirewall, n.legacyCheck()+suffixHC)
	case isNewer(in.Kind):
		kind := KindCheck
		if in.Kind == NetLB {
			kind = KindRegionalCheck
		}
		add(kind, n.v2Check())
		if hasFamily(in, corev1.IPv4Protocol) {
			add(KindCheckFirewall, n.v2Check()+suffixFirewall)
		}
		if hasFamily(in, corev1.IPv6Protocol) {
			add(KindCheckFirewall, n.v2Check()+suffixFirewall+SuffixIPv6)
		}
	}
	return out
}

// sharedBackendOf is what tells shared backend services apart.
func sharedBackendOf(svc *corev1.Service) (protocol, affinity string) {
	affinity = string(svc.Spec.SessionAffinity)
	if affinity == "" {
		affinity = string(corev1.ServiceAffinityNone)
	}
	ports := nodeports.Ports(svc)
	if len(ports) == 0 {
		return protocolTCP, affinity
	}
	return string(ports[0].Protocol), affinity
}

// staticNames are the addresses that the annotation names; only two are read.
// Source: kubernetes/ingress-gce:pkg/l4/annotations/l4_static_address.go.
func staticNames(in input) []string {
	list := addressesKey.Get(in.Values)
	if len(list) == 0 && in.Kind == TargetPool {
		list = splitNames(in.Service.Annotations[addressesKey.Name])
	}
	return list[:min(len(list), maxStatic)]
}

const maxStatic = 2

func splitNames(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// knownIPs are the IPs that the Service has or asks for: a reservation of them decides
// which owner holds them.
func knownIPs(svc *corev1.Service) []string {
	var out []string
	add := func(text string) {
		if ip := canonicalIP(text); ip != "" && !slices.Contains(out, ip) {
			out = append(out, ip)
		}
	}
	add(svc.Spec.LoadBalancerIP)
	for _, i := range svc.Status.LoadBalancer.Ingress {
		add(i.IP)
	}
	return out
}

// selectNodes is the node set of the kind. All kinds with instance groups have the same
// one, since they share the groups. The health check asks kube-proxy, which itself
// reports that its node is about to be deleted: connections stay until the pods have
// ended, where removing the machine would cut them.
// Source: kubernetes/cloud-provider:controllers/service/controller.go;
// kubernetes/ingress-gce:pkg/utils/zonegetter/zone_getter.go.
func selectNodes(in input) nodeports.Filter {
	if !usesNEG(withEffectiveKind(in, nil), nil) {
		return nodeports.Filter{UntilGone: true}
	}
	f := nodeports.Filter{UntilGone: true, ExcludeOnPresence: true, Without: []string{labelOldExclude, labelMaster}}
	if !nodeports.LocalOnly(in.Service) {
		f.Without = append(f.Without, labelOperation+"="+operationDrain)
	}
	return f
}

// podsMatter reports whether the pods of a Service may decide on the backends of its
// load balancer: on endpoint groups with policy Local, and on their size where they are
// external. Whether a Service gets such groups may be left to the configuration, as long
// as no finalizer shows what it has.
func podsMatter(svc *corev1.Service) bool {
	switch chooseKind(svc).Kind {
	case NetLB:
		return true
	case InternalNEG:
		return nodeports.LocalOnly(svc)
	}
	return nodeports.LocalOnly(svc) && !settledBy(svc)
}

// usesNEG reports whether endpoint groups, not instance groups, are the backends. A live
// external load balancer keeps its backends.
// Source: kubernetes/ingress-gce:pkg/l4/controllers/l4netlbcontroller.go.
func usesNEG(in input, have *stack.Stack) bool {
	switch in.Kind {
	case InternalNEG:
		return true
	case NetLB:
	default:
		return false
	}
	if slices.Contains(in.Service.Finalizers, finalizerNetLBIG) {
		return false
	}
	if slices.Contains(in.Service.Finalizers, finalizerNetLBNEG) {
		return true
	}
	found, _ := have.Get(stack.Key{Kind: KindBackend, Name: keyV2})
	if b, ok := found.Spec.(Backend); ok && found.Proof != stack.None && b.Scheme == SchemeExternal && len(b.Groups) > 0 {
		return isNEG(b.Groups[0])
	}
	return in.Config.NetLBNEG
}

func isNEG(r stack.Ref) bool {
	return r.To.Kind == KindNEG || strings.Contains(r.ID, "/networkEndpointGroups/")
}

// foundByName reports whether the name of a resource is made of namespace and name, without the
// UID.
func foundByName(o stack.Owner, r stack.Resource) bool {
	return !strings.Contains(LastOf(r.ID), LoadBalancerName(o.UID))
}
