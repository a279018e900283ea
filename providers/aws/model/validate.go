package model

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

// validateService validates what is not an annotation: fields of the Service and the
// modes of the cloud configuration. It returns all problems at once.
func validateService(in input) annotations.Problems {
	out := capabilityOf(in.Kind).Judge(in.Service, in.Backends)
	if in.Kind == LBC {
		return out
	}
	out = append(out, validateHealth(in)...)
	if in.Kind == NLB {
		out = append(out, validateModes(in.Config)...)
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
	return annotations.Problems{annotations.ProblemOf("spec.healthCheckNodePort", "",
		"is 0 although spec.externalTrafficPolicy is Local, so nodes without endpoints cannot be distinguished from nodes with endpoints", "a port, which the API server allocates", annotations.Error)}
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
// addresses only, so IPv6 ranges admit no client; IPv6 ranges alone would admit none at
// all.
func (b *builder) clientRanges() []string {
	svc := b.in.Service
	prefixes, source, err := nodeports.SourceRanges(svc)
	if bad, ok := errors.AsType[*nodeports.RangesError](err); ok {
		b.report(annotations.ProblemOf(string(bad.Source), strings.Join(bad.Bad, ", "), "is not a list of ranges of addresses", "CIDRs such as 10.0.0.0/8", annotations.Error))
		return nil
	}
	if _, both := svc.Annotations[rangesKey.Name]; both && source == nodeports.RangesFromSpec {
		b.report(annotations.ProblemOf(rangesKey.Name, "", "has no effect, because spec.loadBalancerSourceRanges is set", "", annotations.Warning))
	}
	kept := nodeports.OfFamily(prefixes, corev1.IPv4Protocol)
	if len(kept) < len(prefixes) {
		severity := annotations.Warning
		if len(kept) == 0 {
			severity = annotations.Error
		}
		others := nodeports.OfFamily(prefixes, corev1.IPv6Protocol)
		b.report(annotations.ProblemOf(string(source), joinPrefixes(others), "has ranges of IPv6, but load balancers of this kind have IPv4 addresses only", "IPv4 CIDRs", severity))
	}
	return sortedTexts(kept)
}

// unseenClients is why rules of the nodes do not limit clients.
const unseenClients = "its targets do not see the addresses of clients"

// idleRanges reports source ranges without effect: the rules of the nodes alone limit the clients of
// a load balancer without security groups. The problem says why they do not, and what is legal.
func (b *builder) idleRanges(p annotations.Problem) {
	prefixes, source, err := nodeports.SourceRanges(b.in.Service)
	if err != nil || source == nodeports.RangesFromDefault || slices.Contains(b.ranges, "0.0.0.0/0") {
		return
	}
	p.Key, p.Value = string(source), joinPrefixes(prefixes)
	p.Message = "has no effect, because the load balancer has no security groups and " + p.Message + "; clients that the ranges exclude are admitted"
	b.report(p)
}

func joinPrefixes(prefixes []netip.Prefix) string { return strings.Join(sortedTexts(prefixes), ", ") }

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
