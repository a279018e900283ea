package cases

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// Kept tries the keys of a cloud on Services whose load balancer exists.
type Kept struct {
	Alone
	Rules diff.Rules
	// Existing builds a Service while the load balancer of another one with the same
	// identity exists. It returns the observed stack as well.
	Existing func(t testing.TB, was, svc *corev1.Service) (Effect, *stack.Stack)
	// Chosen are fields that the cloud chooses, as "kind.Field": they differ between a new
	// load balancer and an existing one.
	Chosen []string
	// Holds are keys whose value an existing load balancer takes over in another way, with
	// the reason.
	Holds map[string]string
}

// Run is the test that a Service whose value is not applied to its existing load balancer
// is not reported as programmed: the desired stack is that of a new load balancer, no
// changed field is left out of the comparison, or a problem says so.
func (l Kept) Run(t *testing.T) {
	baseline := map[string]map[string]bool{}
	l.each(func(kind, key string, values []string) {
		if baseline[kind] == nil {
			baseline[kind] = l.unapplied(t, kind, "", "", nil)
		}
		for _, value := range values {
			for field := range l.unapplied(t, kind, key, value, baseline[kind]) {
				t.Errorf("%s: %q on a live load balancer of kind %s: %s stays as it is, and nothing reports it", key, value, kind, field)
			}
		}
	})
}

// each calls try for every key of every kind, with the values to try.
func (l Kept) each(try func(kind, key string, values []string)) {
	for _, row := range annotations.Rows(l.Keys) {
		if row.On != annotations.ServiceAnnotation || row.Writer == annotations.ByController || l.Holds[row.Key] != "" {
			continue
		}
		for _, v := range l.variants(row) {
			for _, kind := range l.kindsOf(v) {
				if _, tried := l.Kinds[kind]; tried && v.Support == annotations.Works {
					try(kind, portKey(row.Key), append([]string{row.Example}, append(l.Values[row.Key], v.Values...)...))
				}
			}
		}
	}
}

// unapplied returns the fields in which a live load balancer stays behind a new one of the
// same Service; none if a problem about the key says so, or refuses the value.
func (l Kept) unapplied(t *testing.T, kind, key, value string, baseline map[string]bool) map[string]bool {
	t.Helper()
	was, svc := l.service(kind, "", ""), l.service(kind, key, value)
	fresh := l.Effect(t, svc)
	live, have := l.Existing(t, was, svc)
	reported := slices.ContainsFunc(live.Problems, func(p annotations.Problem) bool {
		return (p.Unapplied || p.Severity == annotations.Error) && (key == "" || strings.Contains(p.String(), key))
	})
	refused := fresh.Problems.Errors() || fresh.Want == nil || live.Want == nil
	out := map[string]bool{}
	if reported || refused || live.Want.Incomplete != "" { // the next plan applies it
		return out
	}
	for _, res := range fresh.Want.Resources {
		now, exists := live.Want.Get(res.Key)
		if !exists {
			continue
		}
		l.compare(res, now, func(string) bool { return true }, out)
		if found, ok := have.Get(res.Key); ok {
			rule := l.Rules.Kinds[res.Key.Kind]
			l.compare(res, found, func(field string) bool { return slices.Contains(rule.Ignore, field) }, out)
		}
	}
	for field := range baseline {
		delete(out, field)
	}
	return out
}

// compare adds the fields in which two resources differ.
func (l Kept) compare(one, other stack.Resource, counts func(field string) bool, out map[string]bool) {
	values := map[string]any{}
	for _, f := range stack.Fields(other.Spec) {
		values[f.Name] = f.Value
	}
	for _, f := range stack.Fields(one.Spec) {
		if f.Evidence {
			continue // it is never written
		}
		name := string(one.Key.Kind) + "." + f.Name
		value, ok := values[f.Name]
		if ok && counts(f.Name) && !slices.Contains(l.Chosen, name) && !reflect.DeepEqual(value, f.Value) {
			out[name] = true
		}
	}
}

// Kept runs the test on the world of the cases.
func (s Suite[C, F]) Kept(t *testing.T, l Kept) {
	l.Keys, l.Effect, l.Rules = s.Cloud.Annotations, s.alone, s.Cloud.Rules
	l.Existing = func(t testing.TB, was, svc *corev1.Service) (Effect, *stack.Stack) {
		have := s.Found(s.alone(t, was).Want, nil)
		return s.beside(t, svc, have), have
	}
	l.Run(t)
}
