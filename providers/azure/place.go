package azure

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// mostPlaced is how many rules a load balancer has before no new Service comes to
// it. Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
const mostPlaced = 300

// chosen is the load balancer of a Service where there are several: the one with
// the address that it asks for; else the one that it is on, if it still may; else
// one that is free; else one of those with the fewest rules. Among equals the UID
// decides, so that many new Services spread although none sees the others.
func (b *builder) chosen() string {
	may := b.mayBeOn()
	if pinned, ok := b.pinned(); ok {
		if _, said, _ := configurationsKey.Lookup(b.in.Values); said.Key != "" {
			b.tell(configurationsKey.Refusal(b.in.Values, "cannot be set together with an address or the name of a public IP", "one of them"))
		}
		if pinned != "" && !containsFold(may, pinned) {
			b.fail("load balancer IP", "", "is on the load balancer "+pinned+", which the Service may not be on", "")
		}
		if pinned != "" {
			return b.full(pinned)
		}
	}
	if len(may) == 0 {
		b.fail(configurationsKey.Name, strings.Join(configurationsKey.Get(b.in.Values), ","), "leaves no load balancer that the Service may be on", strings.Join(b.names(), ", "))
		return b.full(b.cluster)
	}
	for _, r := range b.have.Of(KindEntries) {
		e, _ := r.Spec.(Entries)
		name := strings.TrimSuffix(e.Balancer, suffixInternal)
		if kindOf(e.Balancer) == b.in.Kind && containsFold(may, name) {
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

// mayBeOn lists the load balancers that the Service may be on: those it names,
// without those closed to new ones unless it is there, and those whose selectors
// fit. If any selector fits, load balancers without one are none of them.
func (b *builder) mayBeOn() []string {
	named := configurationsKey.Get(b.in.Values)
	for _, n := range named {
		if !containsFold(b.names(), n) {
			b.tell(configurationsKey.Refusal(b.in.Values, "names "+n+", which the cloud configuration does not", strings.Join(b.names(), ", ")))
		}
	}
	var fit, open []string
	for _, m := range b.in.Config.Multi {
		_, there := b.found(entriesKey(b.full(m.Name)))
		if len(named) > 0 && !containsFold(named, m.Name) || m.NoPlacement && !there {
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

// selected tells whether the selectors of a load balancer fit, and whether it has
// any. Of the namespace only the name is known, which is a label of it.
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
		selects, fits = true, fits && match(m.ServiceNamespaces, map[string]string{labelNamespace: b.in.Owner.Namespace})
	}
	return fits, selects
}

// pinned is the load balancer that has the address the user asks for; "" while
// none has it.
func (b *builder) pinned() (string, bool) {
	asked := false
	for _, family := range b.families {
		a, ok := wantedIP(b.in, family)
		name, _ := b.perFamily(pipNameKey.Get(b.in.Values), pipNameV6Key.Get(b.in.Values), family)
		if !ok && name == "" {
			continue
		}
		asked = true
		for _, lb := range b.facts.Balancers {
			for _, f := range lb.Frontends {
				same := ok && f.Address == a.String() || name != "" && strings.EqualFold(lastSegment(f.PublicIP.To.Name), name)
				if same && kindOf(lb.Name) == b.in.Kind {
					return strings.TrimSuffix(lb.Name, suffixInternal), true
				}
			}
		}
	}
	return "", asked
}

func (b *builder) emptiest(may []string) string {
	type place struct {
		name string
		rank int
		lot  uint32
	}
	var places []place
	for _, name := range may {
		p := place{name: name, lot: lot(b.in.Owner.UID, name)}
		// One without rules comes before one that is not there yet.
		if lb, ok := b.facts.balancer(b.full(name)); ok {
			p.rank = lb.Rules - 1
			if lb.Rules > 0 {
				p.rank = lb.Rules
			}
		}
		if p.rank <= mostPlaced {
			places = append(places, p)
		}
	}
	if len(places) == 0 {
		b.fail(configurationsKey.Name, "", "finds every load balancer full, with more than 300 rules", "more load balancers in the cloud configuration")
		return may[0]
	}
	slices.SortFunc(places, func(x, y place) int { return cmp.Or(x.rank-y.rank, cmp.Compare(x.lot, y.lot)) })
	return places[0].name
}

func lot(uid, name string) uint32 {
	h := fnv.New32a()
	// A hash never answers a write with an error.
	_, _ = h.Write([]byte(uid + "/" + lower(name)))
	return h.Sum32()
}
