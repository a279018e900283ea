package annotations

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hashicorp/go-multierror"
	corev1 "k8s.io/api/core/v1"
)

// A Source is what Parse reads: one Service, as data.
type Source struct {
	Annotations map[string]string
	Labels      map[string]string
	Ports       []corev1.ServicePort
	// HealthCheckNodePort is a legal <PORT> besides those of Ports; 0 if none.
	HealthCheckNodePort int32
	// Fields are the fields of the Service that keys may need, by path; items of lists
	// are separated by commas. Nil: they are not known.
	Fields map[string]string
}

// Paths of Source.Fields.
const (
	FieldTrafficPolicy   = "spec.externalTrafficPolicy"
	FieldSessionAffinity = "spec.sessionAffinity"
	FieldFamilies        = "spec.ipFamilies"
	FieldFirstFamily     = "spec.ipFamilies[0]"
	FieldClass           = "spec.loadBalancerClass"
	FieldRanges          = "spec.loadBalancerSourceRanges"
)

// SourceOf takes the Source out of a Service.
func SourceOf(service *corev1.Service) Source {
	var families []string
	for _, f := range service.Spec.IPFamilies {
		families = append(families, string(f))
	}
	fields := map[string]string{
		FieldTrafficPolicy:   string(service.Spec.ExternalTrafficPolicy),
		FieldSessionAffinity: string(service.Spec.SessionAffinity),
		FieldFamilies:        strings.Join(families, ","),
		FieldRanges:          strings.Join(service.Spec.LoadBalancerSourceRanges, ","),
	}
	if len(families) > 0 {
		fields[FieldFirstFamily] = families[0]
	}
	if class := service.Spec.LoadBalancerClass; class != nil {
		fields[FieldClass] = *class
	}
	return Source{
		Fields:              fields,
		Annotations:         service.Annotations,
		Labels:              service.Labels,
		Ports:               service.Spec.Ports,
		HealthCheckNodePort: service.Spec.HealthCheckNodePort,
	}
}

// A Check judges several keys together, for instance that a timeout is shorter
// than an interval. It must use the problem's Key for the key the user should
// change, and should stay silent if Bag.Refused reports one of its keys.
type Check func(kind string, bag *Bag, ports []corev1.ServicePort) Problems

// A Set is all declarations of one provider. It never changes after NewSet, so
// any number of goroutines may use it.
type Set struct {
	provider     string
	prefixes     []string
	declarations []*declaration // sorted by name, then as declared
	exact        map[string][]*declaration
	patterns     []*declaration
	checks       []Check
	beside       Beside
	settings     map[string]string
	wellKnown    func() []string // domains of keys of load balancers, as spellings have them
}

// NewSet returns the set of the declarations. An undeclared key under one of the
// prefixes is worth a warning. The error lists every fault of the
// declarations at once: a name twice for one kind, no form, no type, no
// sentence, a missing reason.
func NewSet(provider string, prefixes []string, declarations ...Declaration) (*Set, error) {
	s := &Set{provider: provider, prefixes: slices.Clone(prefixes), exact: map[string][]*declaration{}}
	// The longest prefix is the most telling one for hints.
	slices.SortFunc(s.prefixes, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	faults := &multierror.Error{ErrorFormat: oneLine}
	for i, one := range declarations {
		d := one.declare()
		d.order = i
		if err := d.check(); err != nil {
			faults = multierror.Append(faults, err)
		}
		s.declarations = append(s.declarations, d)
		s.index(d)
	}
	slices.SortStableFunc(s.declarations, func(a, b *declaration) int { return strings.Compare(a.key.Name, b.key.Name) })
	s.wellKnown = sync.OnceValue(s.domains)
	if err := s.duplicates(); err != nil {
		faults = multierror.Append(faults, err)
	}
	if err := faults.ErrorOrNil(); err != nil {
		return nil, fmt.Errorf("%s annotations: %w", provider, err)
	}
	return s, nil
}

// Collect returns the set of a provider from groups of declarations and checks
// across keys. Invalid declarations are an error, which a test of the provider
// rules out; the set returned with it refuses every Service and reports why.
func Collect(provider string, prefixes []string, checks []Check, groups ...[]Declaration) (*Set, error) {
	set, err := NewSet(provider, prefixes, slices.Concat(groups...)...)
	if err == nil {
		return set.WithChecks(checks...), nil
	}
	// A set without declarations has nothing to be at fault.
	broken, _ := NewSet(provider, nil)
	return broken.WithChecks(func(string, *Bag, []corev1.ServicePort) Problems {
		return Problems{{Key: provider + " annotations", Message: err.Error()}}
	}), err
}

// WithChecks returns a copy of the set that also runs the checks.
func (s *Set) WithChecks(checks ...Check) *Set {
	out := *s
	out.checks = slices.Concat(s.checks, checks)
	return &out
}

// Provider is the name the set was made with.
func (s *Set) Provider() string { return s.provider }

// Kinds are all kinds the declarations name, sorted.
func (s *Set) Kinds() []string {
	var out []string
	for _, d := range s.declarations {
		named, _ := d.kinds()
		out = append(out, named...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Names are the declared keys without aliases, sorted, each once.
func (s *Set) Names() []string {
	var out []string
	for _, d := range s.declarations {
		if !d.foreign {
			out = append(out, d.key.Name)
		}
	}
	return slices.Compact(out)
}

func (s *Set) index(d *declaration) {
	for _, m := range d.matchers {
		if m.re != nil {
			s.patterns = append(s.patterns, d)
			return
		}
	}
	for _, m := range d.matchers {
		s.exact[m.text] = append(s.exact[m.text], d)
	}
}

// find returns every declaration whose name or alias is the key.
func (s *Set) find(key string) []*declaration {
	out := slices.Clone(s.exact[key])
	for _, d := range s.patterns {
		if d.matches(key) {
			out = append(out, d)
		}
	}
	return out
}

// duplicates reports names that are declared twice for one kind in one place. An
// alias counts as a name: two readers of one text would contradict each other.
func (s *Set) duplicates() error {
	faults := &multierror.Error{ErrorFormat: oneLine}
	for i, a := range s.declarations {
		for _, b := range s.declarations[i+1:] {
			text, shared := sharedSpelling(a, b)
			if !shared || a.key.On != b.key.On || a.foreign || b.foreign {
				continue
			}
			if kind, both := sharedKind(a, b); both {
				faults = multierror.Append(faults, fmt.Errorf("%s: declared twice for %s", text, kind))
			}
		}
	}
	return faults.ErrorOrNil()
}

func sharedSpelling(a, b *declaration) (string, bool) {
	for _, x := range a.matchers {
		for _, y := range b.matchers {
			if x.text == y.text {
				return x.text, true
			}
		}
	}
	return "", false
}

func sharedKind(a, b *declaration) (string, bool) {
	ours, restA := a.kinds()
	theirs, restB := b.kinds()
	if restA || restB {
		return "every kind", true
	}
	for _, kind := range ours {
		if slices.Contains(theirs, kind) {
			return kind, true
		}
	}
	return "", false
}

// check reports the faults of one declaration.
func (d *declaration) check() error {
	faults := &multierror.Error{ErrorFormat: oneLine}
	add := func(format string, args ...any) {
		faults = multierror.Append(faults, fmt.Errorf("%s: "+format, append([]any{d.key.Name}, args...)...))
	}
	if d.foreign {
		if d.key.Doc == "" {
			add("a foreign key needs a reason")
		}
		return faults.ErrorOrNil()
	}
	if d.key.Name == "" || !utf8.ValidString(d.key.Name) {
		add("the name is not a key")
	}
	if d.key.Doc == "" {
		add("has no doc sentence")
	}
	if len(d.key.Forms) == 0 {
		add("has no form")
	}
	var kinds []string
	for i := range d.key.Forms {
		f := &d.key.Forms[i]
		if f.Type.parse == nil {
			add("form %d has no type", i+1)
		}
		if f.Support != Works && f.Reason == "" {
			add("form %d is %q without a reason", i+1, f.Support)
		}
		if len(f.Or) > 0 && f.Empty == "" {
			add("form %d has a default of the configuration, but does not declare what an empty value means", i+1)
		}
		if len(f.Kinds) == 0 {
			kinds = append(kinds, "")
		}
		kinds = append(kinds, f.Kinds...)
	}
	slices.Sort(kinds)
	if len(slices.Compact(slices.Clone(kinds))) != len(kinds) {
		add("two forms are for the same kind")
	}
	return faults.ErrorOrNil()
}

// TryExamples parses every example and reports the examples that no form of their key
// accepts, so that a provider's test can verify its reference page. Examples may refer
// to the ports.
func (s *Set) TryExamples(ports []corev1.ServicePort) error {
	faults := &multierror.Error{ErrorFormat: oneLine}
	for _, d := range s.declarations {
		if d.key.Example == "" {
			continue
		}
		var last error
		for i := range d.key.Forms {
			if _, _, last = d.key.Forms[i].Type.parse(d.key.Example, scope{ports: ports}); last == nil {
				break
			}
		}
		if last != nil {
			faults = multierror.Append(faults, fmt.Errorf("%s: example %s %w", d.key.Name, quoteValue(d.key.Example), last))
		}
	}
	return faults.ErrorOrNil()
}
