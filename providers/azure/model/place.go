package model

import (
	"maps"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-lb/berth/stack"
)

// mostPlaced is how many rules a load balancer has before it is closed to new Services.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
const mostPlaced = 300

// chosen is the load balancer of a Service where there are several: the one with
// the address that it asks for; else the one that it is on, if it still may; else
// one that is free; else one of those with the fewest rules.
func (b *builder) chosen() string {
	b.tellUnknownNames()
	may := b.mayBeOn()
	if pinned, by := b.pinned(); by != "" {
		if _, said, _ := configurationsKey.Lookup(b.in.Values); said.Key != "" {
			b.report(configurationsKey.Refusal(b.in.Values, "cannot be set together with an address or the name of a public IP", "one of them"))
		}
		if pinned != "" && !ContainsFold(may, pinned) {
			b.fail(by, "", "asks for an address on the load balancer "+pinned+", which the Service may not be on", "")
		}
		if pinned != "" {
			return b.full(pinned)
		}
	}
	legal := b.fitting(nil)
	if len(legal) == 0 {
		b.fail("labels", "", "of the Service and of its namespace fit no load balancer of the cloud configuration that takes it", "")
		return b.full(b.cluster)
	}
	if len(may) == 0 {
		b.fail(configurationsKey.Name, strings.Join(configurationsKey.Get(b.in.Values), ","), "leaves no load balancer that the Service may be on", strings.Join(legal, ", "))
		return b.full(b.cluster)
	}
	for _, e := range stack.Each[Entries](b.have, KindEntries) {
		name := strings.TrimSuffix(e.Balancer, suffixInternal)
		if KindOf(e.Balancer) == b.in.Kind && ContainsFold(may, name) {
			return e.Balancer
		}
	}
	return b.full(b.emptiest(may))
}

func (b *builder) names() []string {
	var out []string
	for _, m := range b.in.Config.Multi {
		out = append(out, m.Name)
	}
	return out
}

// full is the name of the load balancer of the Service's kind.
func (b *builder) full(name string) string {
	if b.in.Kind == Internal {
		return name + suffixInternal
	}
	return name
}

func (b *builder) tellUnknownNames() {
	for _, n := range configurationsKey.Get(b.in.Values) {
		if !ContainsFold(b.names(), n) {
			b.report(configurationsKey.Refusal(b.in.Values, "names "+n+", which the cloud configuration does not", strings.Join(b.names(), ", ")))
		}
	}
}

// mayBeOn lists the load balancers that the Service may be on.
func (b *builder) mayBeOn() []string { return b.fitting(configurationsKey.Get(b.in.Values)) }

// fitting lists the named load balancers, or all if none is named, whose selectors fit. It
// leaves out the ones closed to new Services unless this one is on them already. If any
// selector fits, load balancers without a selector are left out.
func (b *builder) fitting(named []string) []string {
	var fit, open []string
	for _, m := range b.in.Config.Multi {
		_, there := b.found(EntriesKey(b.full(m.Name)))
		if len(named) > 0 && !ContainsFold(named, m.Name) || m.NoPlacement && !there {
			continue
		}
		switch selected, selects := b.selected(m); {
		case selects && selected:
			fit = append(fit, m.Name)
		case !selects:
			open = append(open, m.Name)
		}
	}
	if len(fit) > 0 {
		return fit
	}
	return open
}

// selected reports whether the selectors of a load balancer fit, and whether it has any.
func (b *builder) selected(m MultiBalancer) (fits, selects bool) {
	match := func(s *LabelSelector, of map[string]string) bool {
		selector, err := metav1.LabelSelectorAsSelector(s)
		return err == nil && selector.Matches(labels.Set(of))
	}
	fits = true
	if m.ServiceLabels != nil {
		selects, fits = true, match(m.ServiceLabels, b.in.Service.Labels)
	}
	if m.ServiceNamespaces != nil {
		namespace := map[string]string{labelNamespace: b.in.Owner.Namespace}
		maps.Copy(namespace, b.in.NamespaceLabels)
		selects, fits = true, fits && match(m.ServiceNamespaces, namespace)
	}
	return fits, selects
}

// pinned is the load balancer that has the address the user asks for, "" while
// none has it, and the key that asks, "" if none does.
func (b *builder) pinned() (on, by string) {
	for _, family := range b.families {
		a, ok := wantedIP(b.in, family)
		name, key := b.perFamily(pipNameKey, pipNameV6Key, family)
		if !ok && name == "" {
			continue
		}
		by = wantedBy(b.in, family)
		if name != "" {
			by = key
		}
		for _, lb := range b.facts.Balancers {
			for _, f := range lb.Frontends {
				same := ok && f.Address == a.String() || name != "" && strings.EqualFold(LastSegment(f.PublicIP.To.Name), name)
				if same && KindOf(lb.Name) == b.in.Kind {
					return strings.TrimSuffix(lb.Name, suffixInternal), by
				}
			}
		}
	}
	return "", by
}

// emptiest returns the load balancer with the fewest rules, counting the Services that are
// earlier in the queue and not yet placed, by the same rule. Ties follow the order of the
// configuration.
func (b *builder) emptiest(may []string) string {
	taken := map[string]int{} // rules, by name in lower case
	for _, w := range b.facts.Ahead {
		if name, ok := b.roomiest(w.On, taken); ok {
			taken[lowerCase(name)] += w.Rules
		}
	}
	name, ok := b.roomiest(may, taken)
	if !ok {
		b.fail(configurationsKey.Name, "", "finds every load balancer full, with more than 300 rules", "more load balancers in the cloud configuration")
		return may[0]
	}
	return name
}

// roomiest returns the first load balancer with the fewest rules; false if all are full. An
// existing one without rules precedes one that does not exist yet.
func (b *builder) roomiest(names []string, taken map[string]int) (string, bool) {
	best, least := "", mostPlaced+1
	for _, name := range names {
		rank := taken[lowerCase(name)]
		if lb, there := b.facts.balancer(b.full(name)); there {
			rank += lb.Rules
			if rank == 0 {
				rank = -1
			}
		}
		if rank < least {
			best, least = name, rank
		}
	}
	return best, best != ""
}

// placeQuery returns the look-up that shows where a new Service would be placed; "" if
// an address that the user requests decides.
func placeQuery(in input) string {
	b := newBuilder(in, &Facts{}, &stack.Stack{})
	if _, by := b.pinned(); by != "" {
		return ""
	}
	rules := len(in.Backends.Ports)
	if haKey.Get(in.Values) && in.Kind == Internal {
		rules = 1
	}
	return strconv.Itoa(rules*len(in.Backends.Families)) + "/" + lowerCase(strings.Join(b.mayBeOn(), ","))
}

// WishOf reads what wish wrote.
func WishOf(text string) Wish {
	rules, names, _ := strings.Cut(text, "/")
	n, _ := strconv.Atoi(rules) // it was written as a number
	return Wish{Rules: n, On: strings.Split(names, ",")}
}
