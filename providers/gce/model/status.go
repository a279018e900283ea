package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// claimedOutputs returns the annotations and finalizers that a Service may carry from
// us or from the official controllers.
func claimedOutputs() providers.Outputs {
	var keys []string
	for _, o := range controllerOutputs() {
		keys = append(keys, o[0])
	}
	return providers.Outputs{
		Annotations: keys,
		Finalizers:  []string{finalizerInternalIG, finalizerInternalNEG, finalizerPool, finalizerNetLBIG, finalizerNetLBNEG},
		ClassFinalizers: map[string][]string{
			classExternal: {finalizerNetLBIG, finalizerNetLBNEG}, classExternalLegacy: {finalizerPool},
			classInternal: {finalizerInternalNEG}, classInternalLegacy: {finalizerInternalIG},
		},
	}
}

// statusOf returns where clients reach the Service, IPv4 first: at the rules of the
// wanted kind, and while none of them serves at those of the other scheme, which serve
// until the switch. An address is published once clients are admitted to it. Names of
// created resources are written to annotations, as the official controllers do, and
// finalizers name the controller that created them.
func statusOf(in input, have *stack.Stack) status.Result {
	in = withEffectiveKind(in, have)
	wanted, other := KindInternalRule, KindExternalRule
	if schemeOf(in.Kind) == SchemeExternal {
		wanted, other = other, wanted
	}
	result := status.Result{Ingress: ingressOf(in, have, wanted), Annotations: outputAnnotations(in, have), Finalizers: outputFinalizers(in, have)}
	if len(result.Ingress) == 0 {
		result.Ingress = ingressOf(in, have, other)
	}
	result.Ingress = keepPublished(in, have, result.Ingress)
	return result
}

// keepPublished keeps the published address of a family without a rule beside that of the other
// family: while the rule is replaced, the address is known from the status alone.
func keepPublished(in input, have *stack.Stack, now []corev1.LoadBalancerIngress) []corev1.LoadBalancerIngress {
	if len(now) == 0 {
		return nil
	}
	for _, entry := range in.Service.Status.LoadBalancer.Ingress {
		version := VersionOf(entry.IP)
		if entry.IP != "" && hasFamily(in, ipFamily(version)) && !hasRuleOf(have, version) {
			now = append(now, entry)
		}
	}
	slices.SortStableFunc(now, func(a, b corev1.LoadBalancerIngress) int { return familyOrder(a.IP) - familyOrder(b.IP) })
	return now
}

// familyOrder sorts IPv4 before IPv6.
func familyOrder(ip string) int {
	if isIPv6(ip) {
		return 1
	}
	return 0
}

func ingressOf(in input, have *stack.Stack, kind stack.Kind) []corev1.LoadBalancerIngress {
	var out []corev1.LoadBalancerIngress
	for _, version := range []string{VersionIPv4, VersionIPv6} {
		for r, rule := range stack.Each[Rule](have, kind) {
			if r.Proof == stack.None || r.State == stack.Failed || rule.IPVersion != version || rule.IP == "" || !isAdmitted(in, have, rule) {
				continue
			}
			entry := status.IP(rule.IP, corev1.LoadBalancerIPModeVIP)
			if !slices.ContainsFunc(out, func(o corev1.LoadBalancerIngress) bool { return o.IP == entry.IP }) {
				out = append(out, entry)
			}
		}
	}
	return out
}

// isAdmitted reports whether a firewall admits clients to the rule's address, or none of ours has
// to: an administrator may write them, and a family without source ranges is closed. A
// published address stays as long as its rule: some reads bring rules alone.
func isAdmitted(in input, have *stack.Stack, rule Rule) bool {
	if in.Config.NoFirewall && isNewer(in.Kind) || in.Config.HostProject() != in.Config.Project || len(sourcesOf(in.Service, rule.IPVersion)) == 0 {
		return true
	}
	if slices.ContainsFunc(in.Service.Status.LoadBalancer.Ingress, func(i corev1.LoadBalancerIngress) bool { return sameIPs(i.IP, rule.IP) }) {
		return true
	}
	return slices.ContainsFunc(have.Of(KindFirewall), func(r stack.Resource) bool {
		f, _ := r.Spec.(Firewall)
		return r.Proof != stack.None && f.reachesIP(rule.IP)
	})
}

// reachesIP reports whether the firewall is for the IP, or for any.
func (f Firewall) reachesIP(ip string) bool {
	return f.Destination.IsZero() || slices.ContainsFunc(strings.Split(f.Destination.ID, ","), func(to string) bool { return sameIPs(to, ip) })
}

// outputFinalizers returns the finalizer of the official controller whose kind of load
// balancer this is, so that it would identify its own. Source:
// kubernetes/ingress-gce:pkg/utils/common/finalizer.go.
func outputFinalizers(in input, have *stack.Stack) []string {
	switch in.Kind {
	case TargetPool:
		return poolFinalizers(in)
	case InternalIG:
		return []string{finalizerInternalIG}
	case InternalNEG:
		return []string{finalizerInternalNEG}
	}
	if usesNEG(in, have) {
		return []string{finalizerNetLBNEG}
	}
	return []string{finalizerNetLBIG}
}

// poolFinalizers are the one of target pools where it is already, and where without it
// the Service would be another controller's; else none, since the rule with its target
// says the same, and releases up to v0.28 never take that finalizer off.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_util.go (shouldProcessNetLB).
func poolFinalizers(in input) []string {
	svc := in.Service
	carried := func(f string) bool { return slices.Contains(svc.Finalizers, f) }
	if svc.Spec.LoadBalancerClass != nil || in.Config.NetLBDefault || optedIn(svc) || slices.ContainsFunc([]string{finalizerPool, finalizerNetLBIG, finalizerNetLBNEG}, carried) {
		return []string{finalizerPool}
	}
	return nil
}

// outputAnnotations returns all output annotations with their present values; empty
// ones are removed from the Service. The older kinds write theirs only if that is
// configured, and otherwise leave them unchanged.
func outputAnnotations(in input, have *stack.Stack) map[string]string {
	out := map[string]string{}
	for _, o := range controllerOutputs() {
		if o[0] != outLegacyBackend && o[0] != outLegacyPool {
			out[o[0]] = ""
		}
	}
	if isNewer(in.Kind) {
		tellNewer(in, have, out)
		return out
	}
	if !in.Config.LegacyOutputs {
		return out
	}
	out[outLegacyBackend], out[outLegacyPool] = "", ""
	if p, ok := have.Get(stack.Key{Kind: KindPool}); ok && in.Kind == TargetPool {
		spec, _ := p.Spec.(Pool)
		out[outLegacyPool] = spec.Name
	}
	for r, spec := range stack.Each[Backend](have, KindBackend) {
		if in.Kind == InternalIG && isReferenced(have, r.Key) {
			out[outLegacyBackend] = spec.Name
		}
	}
	return out
}

// isReferenced reports whether a rule sends to the backend service.
func isReferenced(have *stack.Stack, backend stack.Key) bool {
	return slices.ContainsFunc(have.Of(KindInternalRule), func(r stack.Resource) bool {
		rule, _ := r.Spec.(Rule)
		return rule.Backend.To == backend
	})
}

func tellNewer(in input, have *stack.Stack, out map[string]string) {
	for _, r := range have.Resources {
		if r.Proof == stack.None && r.Ownership != stack.Shared {
			continue
		}
		switch spec := r.Spec.(type) {
		case Backend:
			if r.Key.Name == keyV2 {
				out[outBackend] = spec.Name
				tellChecks(spec, have, out)
			}
		case Rule:
			if spec.Scheme == schemeOf(in.Kind) {
				out[ruleOutput(spec)] = spec.Name
			}
		case Firewall:
			if key := firewallOutput(r.Key); key != "" {
				out[key] = spec.Name
			}
		}
	}
	out[outNEGStatus] = negStatus(have)
}

// tellChecks names the check that the backend service has, and its firewalls.
func tellChecks(backend Backend, have *stack.Stack, out map[string]string) {
	for _, ref := range backend.Checks {
		r, ok := have.Get(ref.To)
		check, isCheck := r.Spec.(Check)
		if !ok || !isCheck {
			continue
		}
		out[outCheck] = check.Name
		for f, spec := range stack.Each[Firewall](have, KindCheckFirewall) {
			shared := strings.HasPrefix(f.Key.Name, check.Name)
			own := ref.To.Name == keyV2 && (f.Key.Name == keyV2 || f.Key.Name == keyV2IPv6 || f.Key.Name == keyV2Whole)
			switch {
			case !shared && !own:
			case strings.HasSuffix(spec.Name, SuffixIPv6):
				out[outCheckFWIPv6] = spec.Name
			default:
				out[outCheckFW] = spec.Name
			}
		}
	}
}

func schemeOf(kind string) string {
	if kind == TargetPool || kind == NetLB {
		return SchemeExternal
	}
	return SchemeInternal
}

// ruleOutput is the annotation for a rule: by protocol and family.
func ruleOutput(r Rule) string {
	word := "udp" // for every protocol that is neither TCP nor all
	switch r.Protocol {
	case protocolTCP:
		word = "tcp"
	case protocolL3:
		word = "l3"
	}
	key := fmt.Sprintf(outRule, word)
	if r.IPVersion == VersionIPv6 {
		key += SuffixIPv6
	}
	return key
}

func firewallOutput(k stack.Key) string {
	switch k {
	case stack.Key{Kind: KindFirewall, Name: keyV2}:
		return outFirewall
	case stack.Key{Kind: KindFirewall, Name: keyV2IPv6}:
		return outFirewallIPv6
	case stack.Key{Kind: KindDeny, Name: keyV2}:
		return outDeny
	case stack.Key{Kind: KindDeny, Name: keyV2IPv6}:
		return outDenyIPv6
	}
	return ""
}

// negStatus names the endpoint groups and their zones.
// Source: kubernetes/ingress-gce:pkg/negannotation.
func negStatus(have *stack.Stack) string {
	var text struct {
		Groups map[string]string `json:"network_endpoint_groups"`
		Zones  []string          `json:"zones"`
	}
	for r, spec := range stack.Each[NEG](have, KindNEG) {
		if r.Proof == stack.None || strings.Contains(r.Key.Name, "/") {
			continue
		}
		text.Groups = map[string]string{"0": spec.Name}
		text.Zones = append(text.Zones, spec.Zone)
	}
	if text.Groups == nil {
		return ""
	}
	text.Zones = sortedSet(text.Zones)
	raw, _ := json.Marshal(text) // texts cannot fail
	return string(raw)
}
