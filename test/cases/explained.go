package cases

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/service/explain"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Explained tests the explanation of each case.
func (s Suite[C, F]) Explained(t *testing.T) {
	for _, c := range s.Live(t) {
		r := c.Run(t)
		if r.Want == nil || r.Problems.Errors() {
			continue
		}
		Explained{Name: c.Name, Service: c.Service, Want: r.Want, Build: func(svc *corev1.Service) (*stack.Stack, annotations.Problems, error) {
			in, problems := c.Input(svc)
			if problems.Errors() {
				return nil, problems, nil
			}
			return s.Cloud.Build(in, c.World.Facts, r.Have)
		}}.Run(t)
	}
}

// Explained is a Service whose explanation is tested.
type Explained struct {
	Name    string
	Service *corev1.Service
	Want    *stack.Stack
	Build   func(*corev1.Service) (*stack.Stack, annotations.Problems, error)

	bare *stack.Stack // without annotations and optional fields
}

// Run tests that the explanation is complete and right: a field without an origin has the value
// that it has on a Service without annotations and optional fields, and each origin changes its
// field. It returns the explanation.
func (e Explained) Run(t testing.TB) explain.Explanation {
	t.Helper()
	got, err := explain.Explain(e.Want, e.inputs(t))
	if err != nil {
		t.Fatalf("%s: %v", e.Name, err)
	}
	origins := 0
	for _, res := range got.Resources {
		origins += len(res.Causes) + len(res.Named)
		for _, f := range res.Fields {
			origins += len(f.Causes)
			e.checkOrigins(t, res, f)
			if e.bare != nil && len(f.Causes) == 0 {
				e.checkDefault(t, res, f)
			}
		}
	}
	if origins == 0 && len(e.Want.Resources) > 0 {
		t.Errorf("%s: nothing has an origin", e.Name)
	}
	return got
}

func (e *Explained) inputs(t testing.TB) []explain.Input {
	t.Helper()
	var out []explain.Input
	for _, v := range explain.Variants(e.Service) {
		build := func() (*stack.Stack, annotations.Problems, error) { return e.Build(v.Service) }
		if v.Combined {
			if bare, problems, err := build(); err == nil && !problems.Errors() {
				e.bare = bare
			}
		}
		out = append(out, explain.Input{Origin: v.Origin, Varied: v.Varied, Combined: v.Combined, Rebuild: build})
	}
	if most := 6*len(e.Service.Spec.Ports) + len(e.Service.Annotations) + len(e.Service.Labels) + 16; len(out) > most {
		t.Errorf("%s: %d builds", e.Name, len(out))
	}
	return out
}

func (e *Explained) checkOrigins(t testing.TB, res explain.Resource, f explain.Field) {
	t.Helper()
	for _, c := range f.Causes {
		if c.Compared && reflect.DeepEqual(c.Without, f.Value) && f.Value != any(plan.Secret) {
			t.Errorf("%s: %s.%s: %s is said to change it, and the value without it is the same: %v", e.Name, res.Key, f.Name, c.Origin, f.Value)
		}
	}
}

// checkDefault compares a field without origin with the one of the bare Service, in a resource of
// the same key.
func (e *Explained) checkDefault(t testing.TB, res explain.Resource, f explain.Field) {
	t.Helper()
	other, found := e.bare.Get(res.Key)
	if !found {
		if len(res.Causes) == 0 && len(res.Named) == 0 {
			t.Errorf("%s: %s has no cause, and a bare Service does not have it", e.Name, res.Key)
		}
		return
	}
	for _, g := range plan.Describe(other).Fields {
		if g.Name == f.Name && !reflect.DeepEqual(f.Value, g.Value) {
			t.Errorf("%s: %s.%s = %v has no origin, and is %v on a bare Service", e.Name, res.Key, f.Name, f.Value, g.Value)
		}
	}
}
