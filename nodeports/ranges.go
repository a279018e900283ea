package nodeports

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/utils/net"
)

// RangesSource is the origin of source ranges, in words for messages.
type RangesSource string

const (
	// RangesFromSpec is the field, which overrides the annotation.
	RangesFromSpec RangesSource = "spec.loadBalancerSourceRanges"
	// RangesFromAnnotation is the annotation, used only if the field is empty.
	RangesFromAnnotation RangesSource = corev1.AnnotationLoadBalancerSourceRangesKey
	// RangesFromDefault is neither: all clients are admitted.
	RangesFromDefault RangesSource = "default"
)

// Prefixes parses ranges and drops invalid ones.
func Prefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// RangesError lists the entries that are no CIDR ranges.
type RangesError struct {
	Source RangesSource
	Bad    []string // as written, in order
}

// Error names the source and every bad entry.
func (e *RangesError) Error() string {
	quoted := make([]string, 0, len(e.Bad))
	for _, b := range e.Bad {
		quoted = append(quoted, fmt.Sprintf("%q", b))
	}
	return fmt.Sprintf("%s: %s: not a range of addresses such as 10.0.0.0/24 or 2001:db8::/32", e.Source, strings.Join(quoted, ", "))
}

// SourceRanges returns the client ranges of the load balancer: masked, sorted, each
// range once, never empty without an error. With neither field nor annotation it is
// exactly 0.0.0.0/0; RangesFor widens that to a Service's families. The error,
// if any, is a *RangesError: no range is returned then, because a part of a list is no
// list.
//
// Host bits, leading zeros and mapped addresses are still accepted, although new
// objects cannot have them: the API server keeps old values.
func SourceRanges(svc *corev1.Service) ([]netip.Prefix, RangesSource, error) {
	if specs := svc.Spec.LoadBalancerSourceRanges; len(specs) > 0 {
		ranges, err := parseRanges(specs, RangesFromSpec)
		return ranges, RangesFromSpec, err
	}
	text := strings.TrimSpace(svc.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey])
	if text == "" {
		return []netip.Prefix{allOf(corev1.IPv4Protocol)}, RangesFromDefault, nil
	}
	// An empty part, as after a trailing comma, is an error for the API server
	// and the stock controller alike, not an empty list.
	ranges, err := parseRanges(strings.Split(text, ","), RangesFromAnnotation)
	return ranges, RangesFromAnnotation, err
}

// RangesFor adapts source ranges to the families of a load balancer: the default
// becomes all clients of each of them; explicit ranges are unchanged, because IPv4
// ranges alone admit no IPv6 client.
func RangesFor(ranges []netip.Prefix, source RangesSource, families []corev1.IPFamily) []netip.Prefix {
	if source != RangesFromDefault {
		return slices.Clone(ranges)
	}
	var out []netip.Prefix
	for _, f := range families {
		out = append(out, allOf(f))
	}
	return sortRanges(out)
}

// OfFamily keeps the ranges of one family.
func OfFamily(ranges []netip.Prefix, family corev1.IPFamily) []netip.Prefix {
	var out []netip.Prefix
	for _, r := range ranges {
		if FamilyOf(r.Addr()) == family {
			out = append(out, r)
		}
	}
	return out
}

func allOf(family corev1.IPFamily) netip.Prefix {
	if family == corev1.IPv6Protocol {
		return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
}

func parseRanges(specs []string, source RangesSource) ([]netip.Prefix, error) {
	var out []netip.Prefix
	var bad []string
	for _, s := range specs {
		p, ok := parsePrefix(strings.TrimSpace(s))
		if !ok {
			bad = append(bad, s)
			continue
		}
		out = append(out, p)
	}
	if len(bad) > 0 {
		return nil, &RangesError{Source: source, Bad: bad}
	}
	return sortRanges(out), nil
}

// parsePrefix parses a range in every form that a Kubernetes version has accepted.
func parsePrefix(text string) (netip.Prefix, bool) {
	_, ipnet, err := utilnet.ParseCIDRSloppy(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	bits, _ := ipnet.Mask.Size()
	addr, ok := netip.AddrFromSlice(ipnet.IP)
	if !ok {
		return netip.Prefix{}, false
	}
	// ::ffff:10.0.0.0/104 means 10.0.0.0/8. A shorter mask that
	// covers more than the mapped addresses is an IPv6 range.
	if addr.Is4In6() {
		bits -= 96
		addr = addr.Unmap()
	}
	return netip.PrefixFrom(addr, bits).Masked(), true
}

func sortRanges(ranges []netip.Prefix) []netip.Prefix {
	slices.SortFunc(ranges, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	return slices.Compact(ranges)
}
