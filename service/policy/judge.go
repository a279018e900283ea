package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// Policy is a policy that was read. The zero value allows everything. It never
// changes, so any number of goroutines may use it.
type Policy struct {
	file File
	keys *annotations.Set
	// outputs are annotations that the program itself writes.
	outputs []string
	// outside are further patterns of namespaces, those of --allowed-namespaces.
	outside []string
}

// Within adds namespaces: a Service must be in one of these as well.
func (p *Policy) Within(patterns []string) *Policy {
	out := *p
	out.outside = append(slices.Clone(p.outside), patterns...)
	return &out
}

// Judge lists everything that a Service asks for and must not, each with the rule
// that says so and what it allows; nothing if the Service may be served. older counts
// the Services of its namespace that come before it.
func (p *Policy) Judge(svc *corev1.Service, reach providers.Reach, older Older) annotations.Problems {
	var out annotations.Problems
	for _, allowed := range [][]string{p.outside, p.file.AllowedNamespaces} {
		if len(allowed) > 0 && !anyMatches(allowed, svc.Namespace) {
			out = append(out, annotations.Problem{Key: "metadata.namespace", Value: svc.Namespace,
				Message: "is none of the namespaces that this controller serves", Legal: quoteList(allowed)})
		}
	}
	for _, r := range p.file.Rules {
		if anyMatches(r.Namespaces, svc.Namespace) && !anyMatches(r.ExceptNamespaces, svc.Namespace) {
			by := fmt.Sprintf("is refused by the policy, rule %q", r.Name)
			out = append(out, p.under(r, svc, reach, by)...)
			out = append(out, r.exceeded(reach.Size, svc.Namespace, by, older)...)
		}
	}
	out = append(out, p.beyond(svc, reach)...)
	for i := range out {
		out[i].Code = annotations.CodePolicy
	}
	return out.Sorted()
}

// beyond are the things of other namespaces that no rule for the Service's namespace
// names.
func (p *Policy) beyond(svc *corev1.Service, reach providers.Reach) annotations.Problems {
	var out annotations.Problems
	for _, n := range reach.Beyond {
		named := slices.ContainsFunc(p.file.Rules, func(r Rule) bool {
			return anyMatches(r.Namespaces, svc.Namespace) && !anyMatches(r.ExceptNamespaces, svc.Namespace) && anyMatches(r.Names[string(n.Thing)], n.Value)
		})
		if !named {
			out = append(out, annotations.Problem{Key: n.Key, Value: n.Value,
				Message: "is of another namespace, and no rule of the policy allows it to Services of " + svc.Namespace,
				Legal:   "one of its own namespace, or a rule of --policy-config that has it in names." + string(n.Thing)})
		}
	}
	return out
}

// under holds what a Service asks for against one rule.
func (p *Policy) under(r Rule, svc *corev1.Service, reach providers.Reach, by string) annotations.Problems {
	out := p.forbidden(r, svc, by)
	if r.ForbidInternet && reach.Internet {
		problem := annotations.Problem{Key: reach.Scheme.Key, Value: reach.Scheme.Raw, Message: by + ": the internet could reach the load balancer",
			Legal: "an internal one, " + strconv.Quote(reach.Internal)}
		if reach.Scheme.Raw == "" {
			problem.Message = "without it the Service " + problem.Message
		}
		out = append(out, problem)
	}
	if r.ForbidOpenNodes {
		out = append(out, reportOpened(reach, by)...)
	}
	if class := classOf(svc); r.Classes != nil && !anyMatches(r.Classes, class) {
		out = append(out, annotations.Problem{Key: "spec.loadBalancerClass", Value: class, Message: by, Legal: quoteList(r.Classes)})
	}
	if r.Kinds != nil && !anyMatches(r.Kinds, reach.Kind) {
		out = append(out, annotations.Problem{Key: "kind of load balancer", Value: reach.Kind, Message: by, Legal: quoteList(r.Kinds)})
	}
	for _, n := range reach.Names {
		allowed, limited := r.Names[string(n.Thing)]
		if !limited {
			allowed, limited = r.Names[everyThing]
		}
		if limited && !anyMatches(allowed, n.Value) {
			out = append(out, annotations.Problem{Key: n.Key, Value: n.Value, Message: by, Legal: listedAs(n.Thing, allowed)})
		}
	}
	return out
}

// reportOpened returns a problem for each group that the nodes would let in on all ports.
func reportOpened(reach providers.Reach, by string) annotations.Problems {
	var out annotations.Problems
	for _, n := range reach.Opens {
		out = append(out, annotations.Problem{Key: n.Key, Value: n.Value, Message: by + ": the nodes would let this security group in on all ports",
			Legal: "a load balancer whose security group is its own"})
	}
	return out
}

// forbidden finds the keys that a rule forbids, in any spelling. Keys that mean
// nothing to the cloud are harmless.
func (p *Policy) forbidden(r Rule, svc *corev1.Service, by string) annotations.Problems {
	var out annotations.Problems
	for _, texts := range []map[string]string{svc.Annotations, svc.Labels} {
		for _, key := range sortedKeys(texts) {
			for _, pattern := range r.ForbidAnnotations {
				if !slices.Contains(p.outputs, key) && p.means(pattern, key) {
					out = append(out, annotations.Problem{Key: key, Value: texts[key], Message: by, Legal: "a Service without " + strconv.Quote(pattern)})
					break
				}
			}
		}
	}
	return out
}

// means reports whether a pattern matches the key. Both may use names that have
// become others, and some keys are read in any case.
func (p *Policy) means(pattern, key string) bool {
	spellings := p.keys.Spellings(key)
	return slices.ContainsFunc(spellings, func(s string) bool { return matchPattern(pattern, s) }) ||
		slices.ContainsFunc(p.keys.Spellings(pattern), func(s string) bool { return slices.Contains(spellings, s) })
}

func classOf(svc *corev1.Service) string {
	if svc.Spec.LoadBalancerClass == nil {
		return ""
	}
	return *svc.Spec.LoadBalancerClass
}

func anyMatches(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matchPattern(pattern, text) })
}

// matchPattern compares a text with a pattern in which * stands for any text, also for
// one with slashes, as ids of clouds have them.
func matchPattern(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, first) || !strings.HasSuffix(text[len(first):], last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}

func quoteList(patterns []string) string {
	if len(patterns) == 0 {
		return "none"
	}
	var out []string
	for _, p := range patterns {
		out = append(out, strconv.Quote(p))
	}
	return strings.Join(out, " or ")
}

func listedAs(thing providers.Thing, patterns []string) string {
	if len(patterns) == 0 {
		return "no " + string(thing)
	}
	return "the " + string(thing) + " " + quoteList(patterns)
}
