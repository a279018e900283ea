package laws

import (
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// limited is what a Service with source ranges admits.
type limited struct {
	ranges []string
	flows  []traffic.Flow
}

// has reports whether some of the ranges are of a family.
func (l limited) has(f traffic.Family) bool {
	return len(traffic.OfFamily(traffic.Ranges(l.ranges...), f)) > 0
}

// CheckRanges gives the Service of every case source ranges of one family, of the other one and of
// both. Without a range of its family a port admits no client that it does not admit with one:
// where a cloud takes no ranges to mean everyone, ranges that are left out must not leave none.
func CheckRanges(t *testing.T, s *Subject) {
	t.Helper()
	varied, accepted := 0, 0
	for _, c := range s.Cases {
		if c.Vary == nil {
			continue
		}
		var built []limited
		for _, list := range [][]string{{"198.51.100.0/24"}, {"2001:db8:51::/48"}, {"198.51.100.0/24", "2001:db8:51::/48"}} {
			with := c.Vary(func(svc *corev1.Service) { svc.Spec.LoadBalancerSourceRanges = list })
			varied++
			if want := with.Build(NewWorld(s), OwnerOf(0), Today, &stack.Stack{Owner: OwnerOf(0)}); want != nil {
				want.Owner = OwnerOf(0)
				built = append(built, limited{list, s.Flows([]*stack.Stack{want})})
			}
		}
		accepted += len(built)
		for _, b := range built {
			for _, text := range b.widened(built) {
				t.Errorf("%s: %s with the ranges %s: %s", s.Name, c.Name, strings.Join(b.ranges, ", "), text)
			}
		}
	}
	t.Logf("%s: %d of %d Services with source ranges are accepted", s.Name, accepted, varied)
}

// widened lists the ports that admit more clients without a range of their family than with one.
func (l limited) widened(all []limited) []string {
	var out []string
	for _, f := range l.flows {
		if l.has(f.Family) {
			continue
		}
		var may []netip.Prefix
		for _, other := range all {
			for _, g := range other.flows {
				if other.has(f.Family) && portOf(g) == portOf(f) {
					may = traffic.Union(may, g.From)
				}
			}
		}
		if beyond := traffic.Subtract(f.From, may); len(beyond) > 0 {
			out = append(out, f.Name()+" admits "+traffic.RangesText(beyond))
		}
	}
	return out
}
