package laws

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Sequences generates operations on Services from the declarations of a cloud: keys are set,
// changed and removed, and the specification changes, in any order. The state that they end in
// must be the one of a new Service.
type Sequences struct {
	Keys *annotations.Set
	// Choose returns the kind of a Service; nil: that of the walk.
	Choose func(*corev1.Service) string
	// Capabilities say which fields a kind serves. Without them no key replaces a load balancer, and
	// ports and affinity stay.
	Capabilities []providers.Capability
	// Fresh returns the cloud for one world, and the function that makes the case of a Service.
	Fresh func(t testing.TB) (*Subject, func(t testing.TB, svc *corev1.Service) Case)
	// Kinds make a plain Service one of each kind; nil: it is one already.
	Kinds map[string]func(*corev1.Service)
	// Values are tried besides the examples and limits, by key.
	Values map[string][]string
	// Except are keys whose history shows in the state, with the reason. Keys that a live load
	// balancer does not follow say so in their declaration, see annotations.Change and Removal.
	Except map[string]string
	// OnePolicy keeps the traffic policy: the world has no endpoints, without which the policy
	// Local holds the backends that exist.
	OnePolicy bool
	// NodePorts are kinds whose resources show the first node port, with the reason.
	NodePorts map[string]string
	// Least is the number of keys, counted for each kind, that must be tried.
	Least int
}

// Numbers of the random sequences of a kind, and of their operations.
const (
	randomWalks = 6
	walkLength  = 12
)

// walk is one live Service.
type walk struct {
	q       *Sequences
	t       *testing.T
	kind    string
	subject *Subject
	caseOf  func(t testing.TB, svc *corev1.Service) Case
	run     *run
	last    Case
	done    []string // operations
}

// option is a key with values that the cloud accepts.
type option struct {
	key    string
	values []string
	facts  annotations.Facts
}

// Run is the test.
func (q Sequences) Run(t *testing.T) {
	t.Helper()
	tried, excused := 0, map[string]bool{}
	for _, kind := range q.kinds() {
		options := q.options(t, kind, excused)
		tried += len(options)
		for _, o := range options {
			q.single(t, kind, o)
		}
		q.random(t, kind, options)
	}
	if tried < q.Least {
		t.Errorf("%d keys were tried, at least %d are expected", tried, q.Least)
	}
	for key := range q.Except {
		if !excused[key] {
			t.Errorf("the exception %s is not needed", key)
		}
	}
	t.Logf("%d keys", tried)
}

func (q Sequences) kinds() []string {
	var out []string
	for kind := range q.Kinds {
		out = append(out, kind)
	}
	slices.Sort(out)
	return out
}

// service returns a plain Service of a kind with two ports.
func (q Sequences) service(kind string) *corev1.Service {
	svc := &corev1.Service{Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster, SessionAffinity: corev1.ServiceAffinityNone,
		IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, Ports: []corev1.ServicePort{
			{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 31080}, {Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, NodePort: 31443},
		},
	}}
	svc.Annotations = map[string]string{}
	if of := q.Kinds[kind]; of != nil {
		of(svc)
	}
	return svc
}

// options returns the keys of users that work on a kind, with values that are accepted alone.
func (q Sequences) options(t *testing.T, kind string, excused map[string]bool) []option {
	var out []option
	base, w := q.service(kind), q.begin(t, kind)
	for _, row := range annotations.Rows(q.Keys) {
		key := strings.NewReplacer("<PORT>", "80", "{port}", "80", "<PROTOCOL>", "TCP").Replace(row.Key)
		if _, given := base.Annotations[key]; given || row.On != annotations.ServiceAnnotation || row.Writer == annotations.ByController {
			continue
		}
		if q.Except[row.Key] != "" {
			excused[row.Key] = true
			continue
		}
		facts, ok := factsFor(row, kind)
		if !ok || facts.Support != annotations.Works || facts.Change == annotations.Replaced && q.Capabilities == nil {
			continue
		}
		o := option{key: key, facts: facts}
		for _, value := range q.valuesOf(row, facts) {
			if svc := withKey(base, key, value); !slices.Contains(o.values, value) && w.accepts(svc) {
				o.values = append(o.values, value)
			}
		}
		if len(o.values) > 0 {
			out = append(out, o)
		}
	}
	return out
}

// factsFor returns what a key means for a kind.
func factsFor(row annotations.Row, kind string) (annotations.Facts, bool) {
	variants := row.Variants
	if len(variants) == 0 {
		variants = []annotations.Facts{row.Facts}
	}
	for _, v := range variants {
		if len(v.Kinds) == 0 || slices.Contains(v.Kinds, kind) {
			return v, true
		}
	}
	return annotations.Facts{}, false
}

// valuesOf returns values to try for a key.
func (q Sequences) valuesOf(row annotations.Row, facts annotations.Facts) []string {
	out := append([]string{row.Example}, q.Values[row.Key]...)
	out = append(out, facts.Values...)
	for _, bound := range []*int64{facts.Min, facts.Max} {
		if bound != nil {
			out = append(out, fmt.Sprint(*bound))
		}
	}
	switch row.Example {
	case "true":
		out = append(out, "false")
	case "on":
		out = append(out, "off")
	}
	return out
}

// withKey returns a copy of a Service with an annotation.
func withKey(svc *corev1.Service, key, value string) *corev1.Service {
	out := svc.DeepCopy()
	out.Annotations[key] = value
	return out
}

// single sets each value of a key on a live Service, and removes the key.
func (q Sequences) single(t *testing.T, kind string, o option) {
	base := q.service(kind)
	w := q.begin(t, kind)
	w.apply(base, "new Service")
	if o.facts.Change == annotations.IgnoredAfterCreation || o.facts.Change == annotations.Refused {
		q.fixed(w, base, o)
		return
	}
	for _, value := range o.values {
		svc := withKey(base, o.key, value)
		if w.apply(svc, o.key+": "+value) {
			w.compare(svc)
		}
	}
	w.apply(base, "no "+o.key)
	if o.facts.Removal == "" {
		w.compare(base)
	}
}

// fixed checks that a key which a live load balancer does not follow changes nothing.
func (q Sequences) fixed(w *walk, base *corev1.Service, o option) {
	for _, value := range o.values {
		w.apply(withKey(base, o.key, value), o.key+": "+value)
		w.apply(base, "no "+o.key)
		w.compare(base)
	}
}

// random performs sequences of operations of all keys of a kind.
func (q Sequences) random(t *testing.T, kind string, options []option) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind)) // never fails
	dice := rand.New(rand.NewPCG(h.Sum64(), 1))
	changeable := slices.DeleteFunc(slices.Clone(options), func(o option) bool {
		return o.facts.Change == annotations.IgnoredAfterCreation || o.facts.Change == annotations.Refused || o.facts.Removal != ""
	})
	for range randomWalks {
		w := q.begin(t, kind)
		svc := q.service(kind)
		w.apply(svc, "new Service")
		for range walkLength {
			next, name := q.operate(dice, kind, svc, changeable)
			if w.apply(next, name) {
				svc = next
				continue
			}
			w.apply(svc, "undo") // a refused Service is corrected
		}
		w.compare(svc)
	}
}

// kindOf returns the kind of a Service, which a key can change.
func (q Sequences) kindOf(kind string, svc *corev1.Service) string {
	if q.Choose == nil {
		return kind
	}
	return q.Choose(svc)
}

// begin returns a walk in a new world.
func (q Sequences) begin(t *testing.T, kind string) *walk {
	w := &walk{q: &q, t: t, kind: kind}
	w.subject, w.caseOf = q.Fresh(t)
	w.subject.Cases = nil
	w.run = &run{subject: w.subject, world: NewWorld(w.subject), day: Before}
	return w
}

// legal reports whether the annotations and fields of a Service are legal.
func (w *walk) legal(svc *corev1.Service) bool {
	kind := w.q.kindOf(w.kind, svc)
	_, problems := w.q.Keys.Parse(kind, annotations.SourceOf(svc))
	if problems.Errors() {
		return false
	}
	c, known := providers.CapabilityOf(w.q.Capabilities, kind)
	if !known {
		return w.q.Capabilities == nil
	}
	backends := nodeports.Backends{}
	for _, p := range svc.Spec.Ports {
		backends.Ports = append(backends.Ports, nodeports.ServicePort{Port: p.Port, Protocol: p.Protocol, NodePort: p.NodePort})
	}
	return !c.Judge(svc, backends).Errors()
}

// accepts reports whether the cloud serves a Service as it is.
func (w *walk) accepts(svc *corev1.Service) bool {
	return w.legal(svc) && w.caseOf(w.t, svc).Build(w.run.world, OwnerOf(0), Before, w.run.world.Observed(OwnerOf(0))) != nil
}

// apply changes the Service, by a new process, and reports whether it is accepted.
func (w *walk) apply(svc *corev1.Service, name string) bool {
	w.t.Helper()
	if !w.accepts(svc) {
		return false
	}
	w.done = append(w.done, name)
	next, first := w.caseOf(w.t, svc), len(w.done) == 1
	move := Move{Owner: OwnerOf(0), From: 0, To: 1}
	if first {
		w.last, move.From = next, -1
	}
	w.subject.Cases = []Case{w.last, next}
	w.run.world = w.run.world.clone() // without what was computed for other cases
	w.run.scenario = Scenario{Moves: []Move{move}, Open: true}
	w.run.begin(w.run.scenario.Moves, true)
	if !w.run.settle(w.run.scenario.Moves) {
		w.t.Errorf("%s %s: does not settle after %s: %q", w.subject.Name, w.kind, name, w.run.clashes)
	}
	w.last = next
	return true
}

// compare fails unless the state is that of a new Service.
func (w *walk) compare(svc *corev1.Service) {
	w.t.Helper()
	fresh := w.q.begin(w.t, w.kind)
	if !fresh.apply(svc, "new Service") {
		return // it is accepted only because the load balancer exists
	}
	want, got := equateAddresses(fresh.state(), w.state())
	if want != got {
		w.t.Errorf("%s %s: %s: the state is not the one of a new Service:\n%s", w.subject.Name, w.kind, strings.Join(w.done, "; "), differenceOf(want, got))
	}
}

// differenceOf returns the lines that only one of two texts has.
func differenceOf(want, got string) string {
	only := func(sign, text, other string) string {
		out, lines := "", strings.Split(other, "\n")
		for line := range strings.SplitSeq(text, "\n") {
			if !slices.Contains(lines, line) {
				out += sign + line + "\n"
			}
		}
		return out
	}
	return only("- ", want, got) + only("+ ", got, want)
}

// serial is the end of an identifier that the world gives.
var serial = regexp.MustCompile(`#[0-9]+`)

// state renders what the last Service wants from what exists, and what exists beyond that.
func (w *walk) state() string {
	have := w.run.world.Observed(OwnerOf(0))
	want := w.last.Build(w.run.world, OwnerOf(0), Before, have)
	if want == nil {
		return "refused"
	}
	var lines []string
	for _, r := range want.Resources {
		spec, err := json.Marshal(r.Spec)
		if err != nil {
			w.t.Fatal(err)
		}
		lines = append(lines, serial.ReplaceAllString(fmt.Sprintf("%v in %v: %s", r.Key, r.In, spec), "#"))
	}
	for _, r := range have.Resources {
		_, wanted := want.Get(r.Key)
		if r.Ownership == stack.Owned && !wanted && !w.subject.Rules.Kinds[r.Key.Kind].Within.Inherent {
			lines = append(lines, fmt.Sprintf("%v exists and is not wanted", r.Key))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// equateAddresses replaces the addresses that only one of two texts has: the cloud chooses them.
func equateAddresses(a, b string) (string, string) {
	chosen := func(text, other string) string {
		words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" []{}\"\n,", r) })
		for _, word := range words {
			word = strings.TrimSuffix(word[strings.LastIndexByte(word, '=')+1:], ":")
			for _, at := range []string{word, word[strings.IndexByte(word, ':')+1:]} {
				if _, err := netip.ParseAddr(at); err == nil && !strings.Contains(other, at) {
					text = strings.ReplaceAll(text, at, "<address>")
				}
			}
		}
		return text
	}
	return chosen(a, b), chosen(b, a)
}
