package annotations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Parse reads all declared keys of a Service for one kind of load balancer and
// returns the values and every problem at once, sorted. The bag is complete even
// if there are errors: a value that was refused is its default there.
func (s *Set) Parse(kind string, src Source) (*Bag, Problems) {
	run := &parsing{kind: kind, src: src, bag: newBag(kind)}
	run.bag.fields, run.bag.settings = src.Fields, s.settings
	for _, d := range s.declarations {
		if !d.onService() {
			continue
		}
		if i := d.form(kind); i >= 0 {
			run.read(d, &d.key.Forms[i], src.values(d.key.On))
		}
	}
	for _, d := range s.declarations {
		if i := d.form(kind); i >= 0 && d.onService() && len(d.key.Forms[i].Needs) > 0 {
			run.reportLacking(d, &d.key.Forms[i], s.settings)
		}
	}
	run.problems = append(run.problems, s.unknownKeys(kind, src)...)
	for _, check := range s.checks {
		run.addChecked(check(kind, run.bag, src.Ports))
	}
	return run.bag, run.problems.Sorted()
}

// ParseOnDelete reads only the keys declared OnDelete, whatever the kind. A bad
// value is never an error here: the Fallback of the form counts, which is the
// value that destroys least.
func (s *Set) ParseOnDelete(src Source) (*Bag, Problems) {
	run := &parsing{src: src, bag: newBag(""), releasing: true}
	for _, d := range s.declarations {
		if d.key.OnDelete && d.onService() && len(d.key.Forms) > 0 {
			run.read(d, &d.key.Forms[0], src.values(d.key.On))
		}
	}
	return run.bag, run.problems.Sorted()
}

func (src Source) values(place Place) map[string]string {
	if place == ServiceLabel {
		return src.Labels
	}
	return src.Annotations
}

// MostText is how many bytes a value can have. Longer ones are refused before they are
// parsed: the longest list that a cloud takes is a fraction of it.
const MostText = 64 << 10

// scope is what a type may look at besides the text.
type scope struct {
	ports []corev1.ServicePort
}

// parsing is one run over one object.
type parsing struct {
	kind      string
	src       Source
	bag       *Bag
	problems  Problems
	releasing bool
}

func (r *parsing) warn(code Code, key, message string) {
	r.warnOf(Problem{Code: code, Key: key, Message: message})
}

func (r *parsing) warnOf(p Problem) {
	p.Severity = Warning
	r.problems = append(r.problems, p)
}

// addChecked drops what a check says about a key that is already refused: the
// check saw a stand-in, not what the user wrote.
func (r *parsing) addChecked(found Problems) {
	for _, p := range found {
		refused := slices.ContainsFunc(r.problems, func(q Problem) bool {
			return q.Key == p.Key && q.Severity == Error
		})
		if !refused {
			r.problems = append(r.problems, p)
		}
	}
}

// use is one annotation or label that means a declared key.
type use struct {
	key, raw       string
	port, protocol string // the texts in the place of the marks
	alias          bool
}

// read takes every use of one declaration.
func (r *parsing) read(d *declaration, f *Form[any], values map[string]string) {
	taken := map[[2]string]string{}
	for _, u := range d.uses(values) {
		at := [2]string{u.port, u.protocol}
		if f.Empty == EmptyAbsent && f.isEmpty(u.raw) {
			if d.key.EmptyHides && !u.alias {
				taken[at] = u.key
			}
			continue
		}
		if by, ok := taken[at]; ok {
			r.warn(CodeOverridden, u.key, "is ignored, because "+by+" is set too")
			continue
		}
		taken[at] = u.key
		if u.alias {
			r.warn(CodeDeprecated, u.key, "is deprecated, use "+d.spell(u))
		}
		if f.Support == Later {
			r.warn(CodeUnsupported, u.key, "is not yet supported by this version: "+f.Reason)
			continue
		}
		if f.Support == Accepted {
			r.warn(CodeUnsupported, u.key, "is accepted but has no effect: "+f.Reason)
		}
		if where, ok := r.instance(d, u); ok {
			r.take(d, f, u, where)
		}
	}
}

// isEmpty reports whether a text is empty to the type.
func (f *Form[T]) isEmpty(raw string) bool {
	return raw == "" || f.Type.facts.trimmed && strings.TrimSpace(raw) == ""
}

// uses lists the uses of a declaration, its own name before the aliases.
func (d *declaration) uses(values map[string]string) []use {
	var out []use
	for i, m := range d.matchers {
		if m.re == nil {
			if raw, ok := values[m.text]; ok {
				out = append(out, use{key: m.text, raw: raw, alias: i > 0})
			}
			continue
		}
		for _, key := range sortedKeys(values) {
			if port, protocol, ok := m.match(key); ok {
				out = append(out, use{key: key, raw: values[key], port: port, protocol: protocol, alias: i > 0})
			}
		}
	}
	return out
}

// spell is the declared name with the marks filled in as in the use.
func (d *declaration) spell(u use) string {
	name := fillPort(d.key.Name, u.port)
	return strings.Replace(name, protocolMark, u.protocol, 1)
}

// instance checks the port and protocol in a per-port key. One that fits nothing
// is only a warning: no official controller ever looks at such a key.
func (r *parsing) instance(d *declaration, u use) (instance, bool) {
	at := instance{protocol: u.protocol}
	if strings.Contains(d.key.Name, protocolMark) && len(d.key.Protocols) > 0 && !slices.Contains(d.key.Protocols, u.protocol) {
		r.warnOf(Problem{Code: CodeNoSuchPort, Key: u.key, Legal: oneOf(d.key.Protocols), Message: "names protocol " + quoteValue(u.protocol) + ", so it has no effect"})
		return at, false
	}
	if portMarkOf(d.key.Name) == "" {
		return at, true
	}
	number, err := strconv.ParseInt(u.port, 10, 32)
	if err == nil && strconv.FormatInt(number, 10) == u.port && r.src.hasPort(int32(number)) {
		at.port = int32(number)
		return at, true
	}
	r.warnOf(Problem{Code: CodeNoSuchPort, Key: u.key, Legal: r.src.portNumbers(), Message: "names port " + quoteValue(u.port) + ", which is no port number of the Service, so it has no effect"})
	return at, false
}

func (src Source) hasPort(number int32) bool {
	if number != 0 && number == src.HealthCheckNodePort {
		return true
	}
	return slices.ContainsFunc(src.Ports, func(p corev1.ServicePort) bool { return p.Port == number })
}

// shownPorts is how many ports a message lists.
const shownPorts = 20

func (src Source) portNumbers() string {
	var numbers []int32
	for _, p := range src.Ports {
		numbers = append(numbers, p.Port)
	}
	if src.HealthCheckNodePort != 0 {
		numbers = append(numbers, src.HealthCheckNodePort)
	}
	if len(numbers) == 0 {
		return ""
	}
	slices.Sort(numbers)
	var texts []string
	numbers = slices.Compact(numbers)
	for _, n := range numbers[:min(len(numbers), shownPorts)] {
		texts = append(texts, strconv.Itoa(int(n)))
	}
	if more := len(numbers) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("one of %d more", more))
	}
	return oneOf(texts)
}

// take parses one value and does with a bad one what the form says.
func (r *parsing) take(d *declaration, f *Form[any], u use, at instance) {
	origin := Origin{Source: FromAnnotation, Key: u.key, Raw: u.raw}
	if d.key.On == ServiceLabel || d.key.On == NodeLabel || d.key.On == PodLabel || d.key.On == NamespaceLabel {
		origin.Source = FromLabel
	}
	shown := u.raw
	if d.key.Secret {
		origin.Raw, shown = "", ""
	}
	var value any
	var notes []string
	err := fmt.Errorf("is longer than the %d bytes that are read", MostText)
	if len(u.raw) <= MostText {
		value, notes, err = f.Type.parse(u.raw, scope{ports: r.src.Ports})
	}
	if err == nil {
		for _, note := range notes {
			if !d.key.Secret {
				r.warnOf(Problem{Code: CodeNote, Key: u.key, Value: shown, Message: note})
			}
		}
		r.bag.put(d.handle, at, d.entry(value, origin))
		return
	}
	r.takeBad(d, f, u, at, origin, Problem{Key: u.key, Value: shown, Legal: f.Type.facts.Legal(), Message: messageOf(err, d, u)})
}

// messageOf returns what is wrong with a value, without a secret one.
func messageOf(err error, d *declaration, u use) string {
	switch {
	case d.key.Secret:
		return "has a value that is not legal"
	case u.raw == "":
		return "the empty text " + err.Error()
	}
	return err.Error()
}

// takeBad does with a value that is not legal what the form says.
func (r *parsing) takeBad(d *declaration, f *Form[any], u use, at instance, origin Origin, p Problem) {
	if d.key.Exposes == ToInternet && f.Bad != Refuse {
		r.bag.doubts = append(r.bag.doubts, origin)
	}
	if d.limitsClients(u.raw) && f.Bad != Refuse {
		r.bag.unlimited = append(r.bag.unlimited, origin)
	}
	switch {
	case r.releasing || f.Bad == UseFallback:
		r.bag.put(d.handle, at, d.entry(f.Fallback, origin))
		p.Code, p.Message = CodeDefaulted, p.Message+", so it counts as "+quoteValue(fmt.Sprint(f.Fallback))
		r.warnOf(p)
	case f.Bad == AsAbsent:
		p.Code, p.Message = CodeDefaulted, p.Message+", so it is ignored"
		r.warnOf(p)
	default:
		r.bag.refused[d.handle] = true
		p.Code = CodeValue
		r.problems = append(r.problems, p)
	}
}

func sortedKeys[V any](values map[string]V) []string {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
