package nodeports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Filter selects the nodes behind a load balancer. The zero value is the
// node set of the stock service controller: every eligible node with a
// provider id. All conditions must hold.
type Filter struct {
	// Selector holds labels that a node must have; an empty value means that
	// the key must exist, with any value.
	Selector map[string]string
	// Without holds labels that exclude a node: "key", or "key=value".
	Without []string
	// WithoutTaints holds taint keys that exclude a node, in addition to the
	// autoscaler's, which always does.
	WithoutTaints []string
	// Family requires an address of that family; empty: none.
	Family corev1.IPFamily
	// RequireReady excludes nodes whose Ready condition is not True.
	RequireReady bool
	// UnknownIfNoneReady relaxes RequireReady: if no node is ready, nodes whose
	// readiness is Unknown are used, so that a lost control plane does not
	// empty the load balancer.
	UnknownIfNoneReady bool
	// ExcludeOnPresence excludes nodes with the exclude label even with
	// a value that parses as false, as controllers older than
	// kubernetes/kubernetes#131085 do.
	ExcludeOnPresence bool
	// Also holds conditions of a single provider.
	Also []Predicate
	// Everyone also selects nodes that Eligible leaves out, and nodes without a
	// provider id: for kinds where a node is only the place of pods.
	Everyone bool
	// UntilGone keeps nodes that are about to be removed (the autoscaler's taint, a
	// deletion timestamp) until the Node is deleted: for load balancers whose health
	// check detects the removal. Deregistering a node cuts connections there minutes
	// before its pods are drained, unless deregistering drains.
	// Source: KEP-3458, KEP-3836.
	UntilGone bool
	// Keep holds labels that members keep, because more than membership depends on them;
	// sets of nodes that differ in them differ.
	Keep []string
}

// Predicate is one more condition of a Filter. Keep must be a pure function of
// the Node; Name represents it in the filter's Key, so different predicates
// must have different names.
type Predicate struct {
	Name string
	Keep func(Node) bool
}

// Key identifies the filter: filters with equal keys select the same nodes.
func (f Filter) Key() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(f.Selector)) {
		fmt.Fprintf(&b, "with %q=%q;", k, f.Selector[k])
	}
	for _, l := range slices.Compact(slices.Sorted(slices.Values(f.Without))) {
		fmt.Fprintf(&b, "without %q;", l)
	}
	for _, t := range slices.Compact(slices.Sorted(slices.Values(f.WithoutTaints))) {
		fmt.Fprintf(&b, "untainted %q;", t)
	}
	names := make([]string, 0, len(f.Also))
	for _, p := range f.Also {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	fmt.Fprintf(&b, "also %q;family %q;ready %t %t;presence %t",
		names, f.Family, f.RequireReady, f.UnknownIfNoneReady, f.ExcludeOnPresence)
	if f.Everyone {
		b.WriteString(";everyone")
	}
	if f.UntilGone {
		b.WriteString(";until gone")
	}
	for _, k := range slices.Compact(slices.Sorted(slices.Values(f.Keep))) {
		fmt.Fprintf(&b, ";keep %q", k)
	}
	return b.String()
}

// LabelKeys returns the labels that the filter uses, sorted: the labels that
// Project has to keep.
func (f Filter) LabelKeys() []string {
	keys := slices.Collect(maps.Keys(f.Selector))
	for _, l := range f.Without {
		key, _, _ := strings.Cut(l, "=")
		keys = append(keys, key)
	}
	keys = append(keys, f.Keep...)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// eligible reports whether the node can be behind this load balancer at all.
func (f Filter) eligible(n Node) bool {
	return f.Everyone || n.Eligible() || f.UntilGone && !n.Excluded
}

// admits reports whether the node can be a member, regardless of readiness.
func (f Filter) admits(n Node) bool {
	if f.ExcludeOnPresence && n.ExcludeLabel {
		return false
	}
	if f.Family != "" {
		if _, ok := n.Address(f.Family); !ok {
			return false
		}
	}
	return f.admitsLabels(n.Labels) && f.admitsTaints(n.TaintKeys) &&
		!slices.ContainsFunc(f.Also, func(p Predicate) bool { return !p.Keep(n) })
}

func (f Filter) admitsLabels(labels map[string]string) bool {
	for key, want := range f.Selector {
		got, ok := labels[key]
		if !ok || want != "" && got != want {
			return false
		}
	}
	for _, l := range f.Without {
		key, value, exact := strings.Cut(l, "=")
		got, ok := labels[key]
		if ok && (!exact || got == value) {
			return false
		}
	}
	return true
}

func (f Filter) admitsTaints(keys []string) bool {
	return !slices.ContainsFunc(f.WithoutTaints, func(t string) bool { return slices.Contains(keys, t) })
}

// ready returns the admitted nodes with sufficient readiness.
func (f Filter) ready(nodes []Node) []Node {
	if !f.RequireReady {
		return nodes
	}
	with := func(s corev1.ConditionStatus) []Node {
		return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.Ready != s })
	}
	if ready := with(corev1.ConditionTrue); len(ready) > 0 || !f.UnknownIfNoneReady {
		return ready
	}
	return with(corev1.ConditionUnknown)
}
