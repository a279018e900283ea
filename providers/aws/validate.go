package aws

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
)

// How many listeners a load balancer can have.
// Source: Elastic Load Balancing quotas; that of Network Load Balancers is fixed.
const (
	classicListeners = 100
	networkListeners = 50
)

// validate judges what is not an annotation: fields of the Service and the modes
// of the cloud configuration. All problems come at once.
func validate(in input) annotations.Problems {
	var out annotations.Problems
	svc := in.Service
	if svc.Spec.SessionAffinity != "" && svc.Spec.SessionAffinity != corev1.ServiceAffinityNone {
		out = append(out, said("spec.sessionAffinity", string(svc.Spec.SessionAffinity), "is not possible with AWS load balancers of this kind", `"None"`, annotations.Error))
	}
	if svc.Spec.LoadBalancerIP != "" {
		out = append(out, said("spec.loadBalancerIP", svc.Spec.LoadBalancerIP, "cannot be given to an AWS load balancer: "+addressAdvice(in.Kind), "", annotations.Error))
	}
	out = append(out, validateFamilies(in)...)
	out = append(out, validatePorts(in)...)
	out = append(out, validateHealth(in)...)
	if in.Kind == NLB {
		out = append(out, validateModes(in.Config)...)
	}
	return out
}

// validateFamilies: load balancers made here have IPv4 addresses and send to nodes
// over IPv4, whatever the Service says; node ports of a Service of IPv6 alone are
// not on IPv4. The official controller says nothing. Source:
// kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer.go.
func validateFamilies(in input) annotations.Problems {
	families := in.Service.Spec.IPFamilies
	if !slices.Contains(families, corev1.IPv6Protocol) {
		return nil
	}
	message := "has IPv6, but load balancers made here have IPv4 addresses only"
	if !slices.Contains(families, corev1.IPv4Protocol) {
		message += " and send over IPv4, where this Service has no node ports, so it gets no traffic"
	}
	return annotations.Problems{said("spec.ipFamilies", "", message, string(corev1.IPv4Protocol), annotations.Warning)}
}

func addressAdvice(kind string) string {
	if kind == NLB {
		return "take the field away; addresses are chosen with " + eipKey.Name + " or " + privateIPKey.Name
	}
	return "take the field away"
}

func validatePorts(in input) annotations.Problems {
	const key = "spec.ports"
	ports := in.Backends.Ports
	if len(ports) == 0 {
		return annotations.Problems{said(key, "", "is empty, so there is nothing to serve", "at least one port", annotations.Error)}
	}
	var out annotations.Problems
	allowed := []corev1.Protocol{corev1.ProtocolTCP}
	if in.Kind == NLB {
		allowed = append(allowed, corev1.ProtocolUDP)
	}
	protocols := map[corev1.Protocol]bool{}
	for _, p := range ports {
		protocols[p.Protocol] = true
		if !slices.Contains(allowed, p.Protocol) {
			out = append(out, said(key, p.String(), "has a protocol that this kind of load balancer does not serve", protocolAdvice(in.Kind), annotations.Error))
		}
	}
	if len(protocols) > 1 {
		out = append(out, said(key, "", "mixes protocols, which the load balancers made here cannot serve together", "one Service for each protocol", annotations.Error))
	}
	return append(out, validateCount(in, key)...)
}

func protocolAdvice(kind string) string {
	if kind == NLB {
		return "TCP or UDP"
	}
	return `TCP; UDP needs ` + typeKey.Name + `: "nlb"`
}

// validateCount: ports without a node port are left out, as by the official
// controller, which says so only in its log.
func validateCount(in input, key string) annotations.Problems {
	var out annotations.Problems
	missing := in.Backends.Missing
	served := len(in.Backends.Ports) - len(missing.Ports)
	if missing.Any() {
		severity := annotations.Warning
		if served == 0 {
			severity = annotations.Error
		}
		out = append(out, said(key, "", missing.Message(), "", severity))
	}
	limit := classicListeners
	if in.Kind == NLB {
		limit = networkListeners
	}
	if served > limit {
		out = append(out, said(key, "", fmt.Sprintf("has %d ports, more than the %d listeners that a load balancer of this kind can have", served, limit), "fewer ports, or several Services", annotations.Error))
	}
	return out
}

// validateHealth: traffic policy Local without a check node port leaves nothing
// that tells nodes with endpoints from those without.
func validateHealth(in input) annotations.Problems {
	if in.Backends.Health.Source != nodeports.HealthMissing {
		return nil
	}
	if _, _, said := checkPortKey.Lookup(in.Values); said {
		return nil
	}
	return annotations.Problems{said("spec.healthCheckNodePort", "",
		"is 0 though spec.externalTrafficPolicy is Local, so nodes without endpoints cannot be told from those with", "a port, which the API server allocates", annotations.Error)}
}

// validateModes: the official controller refuses Network Load Balancers, and
// only them, while a mode of its configuration is unknown.
func validateModes(c Config) annotations.Problems {
	out := c.odd()
	for i := range out {
		out[i].Severity = annotations.Error
		out[i].Key += " of the cloud config"
	}
	return out
}

// clientRanges are the clients that may connect. These load balancers have IPv4
// addresses only, so IPv6 ranges mean nobody; alone they would mean nobody at all.
func (b *builder) clientRanges() []string {
	svc := b.in.Service
	prefixes, source, err := nodeports.SourceRanges(svc)
	if bad, ok := errors.AsType[*nodeports.RangesError](err); ok {
		b.tell(said(string(bad.Source), strings.Join(bad.Bad, ", "), "is not a list of ranges of addresses", "CIDRs such as 10.0.0.0/8", annotations.Error))
		return nil
	}
	if _, both := svc.Annotations[rangesKey.Name]; both && source == nodeports.RangesFromSpec {
		b.tell(said(rangesKey.Name, "", "has no effect, because spec.loadBalancerSourceRanges is set", "", annotations.Warning))
	}
	kept := nodeports.OfFamily(prefixes, corev1.IPv4Protocol)
	if len(kept) < len(prefixes) {
		severity := annotations.Warning
		if len(kept) == 0 {
			severity = annotations.Error
		}
		others := nodeports.OfFamily(prefixes, corev1.IPv6Protocol)
		b.tell(said(string(source), texts(others), "has ranges of IPv6, but load balancers of this kind have IPv4 addresses only", "IPv4 CIDRs", severity))
	}
	return sortedTexts(kept)
}

func texts(prefixes []netip.Prefix) string { return strings.Join(sortedTexts(prefixes), ", ") }

func sortedTexts(prefixes []netip.Prefix) []string {
	out := make([]string, 0, len(prefixes))
	for _, p := range prefixes {
		out = append(out, p.String())
	}
	slices.Sort(out)
	return out
}

// shortList shows the first names of a list and counts the others.
func shortList(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
