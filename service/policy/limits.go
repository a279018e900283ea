package policy

import (
	"fmt"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// Older counts the Services of type LoadBalancer of a namespace that come before a
// Service; nil: the number is unknown, and MaxLoadBalancers refuses only if it is 0.
type Older func() int

// limit is one of a rule, and what it is held against.
type limit struct {
	key, field string
	most       *int
	of         func(providers.Size) int
	what       string // is more than most of
}

// limits are those of a rule that are held against one Service alone, and the number
// of load balancers, which has no size.
func (r Rule) limits() []limit {
	return []limit{
		{"maxPorts", "spec.ports", r.MaxPorts, func(s providers.Size) int { return s.Ports }, "ports"},
		{"maxSourceRanges", "spec.loadBalancerSourceRanges", r.MaxSourceRanges, func(s providers.Size) int { return s.Ranges }, "source ranges"},
		{"maxRules", "spec.loadBalancerSourceRanges", r.MaxRules, func(s providers.Size) int { return s.Rules }, "rules for its ports and source ranges"},
		{"maxLoadBalancers", "metadata.namespace", r.MaxLoadBalancers, nil, ""},
	}
}

// exceeded lists the limits of a rule that a Service is beyond.
func (r Rule) exceeded(size providers.Size, namespace, by string, older Older) annotations.Problems {
	var out annotations.Problems
	for _, l := range r.limits() {
		switch {
		case l.most == nil:
		case l.of != nil:
			if n := l.of(size); n > *l.most {
				out = append(out, annotations.Problem{Key: l.field, Message: fmt.Sprintf("%s: the Service has %d %s", by, n, l.what), Legal: fmt.Sprintf("at most %d", *l.most)})
			}
		default:
			before := 0
			if older != nil && *l.most > 0 {
				before = older()
			}
			if before >= *l.most {
				out = append(out, annotations.Problem{Key: l.field, Value: namespace, Message: fmt.Sprintf("%s: as many older Services of the namespace have load balancers as may", by),
					Legal: fmt.Sprintf("at most %d in each namespace", *l.most)})
			}
		}
	}
	return out
}
