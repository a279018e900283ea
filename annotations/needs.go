package annotations

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// A Need is what a form needs to have an effect: at least one of the conditions.
type Need []Condition

// A Condition holds for some Services. The functions below and those of Key make them.
type Condition struct {
	text  string
	holds func(asked) bool
}

// asked is a Service that a condition is evaluated for.
type asked struct {
	bag      *Bag
	src      Source
	settings map[string]string
	at       instance
}

// String describes the condition, for messages and the reference page.
func (c Condition) String() string { return c.text }

// Is holds where the key has one of the values, by annotation or by default. A per-port
// key is compared for the port of the key that has the need.
func (k *Key[T]) Is(values ...T) Condition {
	var words []string
	for _, v := range values {
		words = append(words, fmt.Sprint(v))
	}
	return Condition{
		text: k.Name + ": " + oneOf(quoteAll(words)),
		holds: func(a asked) bool {
			value, _, _ := k.lookup(a.bag, k.instance(a.at))
			return slices.Contains(words, fmt.Sprint(value))
		},
	}
}

// IsAnywhere holds where a use of a per-port key has one of the values.
func (k *Key[T]) IsAnywhere(values ...T) Condition {
	out := k.Is(values...)
	of := out.holds
	out.holds = func(a asked) bool {
		return slices.ContainsFunc(a.bag.instances(k), func(at instance) bool {
			a.at = at
			return of(a)
		})
	}
	return out
}

// IsSet holds where the annotation exists with a legal value that is not empty.
func (k *Key[T]) IsSet() Condition {
	return Condition{
		text: k.Name,
		holds: func(a asked) bool {
			value, _, said := k.lookup(a.bag, k.instance(a.at))
			return a.bag.Refused(k) || said && fmt.Sprint(value) != ""
		},
	}
}

// Has holds where the map of the key has an entry.
func Has(k *Key[map[string]string], entry, value string) Condition {
	return Condition{
		text:  fmt.Sprintf("%s with %s=%s", k.Name, entry, value),
		holds: func(a asked) bool { return k.Get(a.bag)[entry] == value },
	}
}

// instance is the use of the key that belongs to a use of another key.
func (k *Key[T]) instance(at instance) instance {
	if portMarkOf(k.Name) == "" {
		at.port = 0
	}
	if !strings.Contains(k.Name, protocolMark) {
		at.protocol = ""
	}
	return at
}

// FieldIs holds where a field of the Service is, or contains, one of the values. The
// paths are those of Source.Fields.
func FieldIs(path string, values ...string) Condition {
	return Condition{
		text: path + ": " + strings.Join(values, " or "),
		holds: func(a asked) bool {
			return slices.ContainsFunc(strings.Split(a.src.Fields[path], ","), func(v string) bool { return slices.Contains(values, v) })
		},
	}
}

// FieldSet holds where a field of the Service has a value.
func FieldSet(path string) Condition {
	return Condition{text: path, holds: func(a asked) bool { return a.src.Fields[path] != "" }}
}

// FieldUnset holds where a field of the Service has no value.
func FieldUnset(path string) Condition {
	return Condition{text: "a Service that has no " + path, holds: func(a asked) bool { return a.src.Fields[path] == "" }}
}

// KindIs holds for load balancers of these kinds.
func KindIs(kinds ...string) Condition {
	return Condition{
		text:  "a load balancer of kind " + strings.Join(kinds, " or "),
		holds: func(a asked) bool { return slices.Contains(kinds, a.bag.Kind()) },
	}
}

// PortsAre holds where the ports of the Service pass a test, which the text describes.
func PortsAre(text string, test func([]corev1.ServicePort) bool) Condition {
	return Condition{text: text, holds: func(a asked) bool { return test(a.src.Ports) }}
}

// Setting holds where the configuration has the value; no value means any that is not
// empty. It does not hold while the configuration is not known.
func Setting(name, value string) Condition {
	c := Condition{
		text:  name + " = " + value + " of the configuration",
		holds: func(a asked) bool { return a.settings[name] == value },
	}
	if value == "" {
		c.text = name + " of the configuration"
		c.holds = func(a asked) bool { return a.settings[name] != "" }
	}
	return c
}

// Neither holds where none of the conditions does; the text describes that.
func Neither(text string, of ...Condition) Condition {
	return Condition{text: text, holds: func(a asked) bool { return !Need(of).holds(a) }}
}

// Found describes a state of the cloud that makes the key effective and that a Service
// alone does not show. It never holds, so that the problem names it.
func Found(text string) Condition {
	return Condition{text: text, holds: func(asked) bool { return false }}
}

// Both holds where all conditions do.
func Both(all ...Condition) Condition {
	var texts []string
	for _, c := range all {
		texts = append(texts, c.text)
	}
	return Condition{
		text:  strings.Join(texts, " with "),
		holds: func(a asked) bool { return !slices.ContainsFunc(all, func(c Condition) bool { return !c.holds(a) }) },
	}
}

// Needing adds what all forms of a new key have no effect without. It is part of the
// declaration: the key must not be in a Set yet.
func Needing[T any](k *Key[T], needs ...Need) *Key[T] {
	for i := range k.Forms {
		k.Forms[i].Needs = append(k.Forms[i].Needs, needs...)
	}
	return k
}

// RefusedLacking declares that a new key which limits the clients is refused where it lacks what
// it needs: without it all clients would be admitted. It is part of the declaration: the key must
// not be in a Set yet.
func RefusedLacking[T any](k *Key[T]) *Key[T] {
	for i := range k.Forms {
		k.Forms[i].Type.facts.strict = true
	}
	return k
}

// String lists the conditions of which one must hold.
func (n Need) String() string {
	texts := make([]string, 0, len(n))
	for _, c := range n {
		texts = append(texts, c.text)
	}
	return strings.Join(texts, ", or ")
}

// holds reports whether the Service has what is needed.
func (n Need) holds(a asked) bool {
	return slices.ContainsFunc(n, func(c Condition) bool { return c.holds(a) })
}

// WithSettings returns a copy of the set that knows the configuration: values by the
// names that Setting uses.
func (s *Set) WithSettings(settings map[string]string) *Set {
	out := *s
	out.settings = settings
	return &out
}

// reportLacking reports every key that has no effect because something that it needs is
// missing. A Source without Fields is too little to judge.
func (r *parsing) reportLacking(d *declaration, f *Form[any], settings map[string]string) {
	if r.src.Fields == nil {
		return
	}
	for _, at := range r.bag.instances(d.handle) {
		origin := r.bag.values[d.handle][at].origin
		for _, need := range f.Needs {
			if !need.holds(asked{r.bag, r.src, settings, at}) {
				if f.Type.facts.strict && d.limitsClients(origin.Raw) {
					r.addLimit(origin, "limits the clients and has no effect without "+need.String(), need.String()+", or no such annotation")
					break
				}
				r.warnOf(Problem{Code: CodeLacking, Key: origin.Key, Value: origin.Raw, Message: "has no effect without " + need.String()})
				break
			}
		}
	}
}
