package cases

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// Alone tries the keys of a cloud without their companions.
type Alone struct {
	Keys *annotations.Set
	// Kinds make a plain Service one of each kind; nil: it is one already.
	Kinds map[string]func(*corev1.Service)
	// Values are tried besides the examples, by key.
	Values map[string][]string
	// Except are keys that act elsewhere than in the stack and the status, with the
	// place where their effect is tested.
	Except map[string]string
	// Effect builds a Service of a kind.
	Effect func(t testing.TB, svc *corev1.Service) Effect
}

// Effect is the result of building a Service.
type Effect struct {
	Want     *stack.Stack
	Status   status.Result
	Problems annotations.Problems
}

// Run is the test that no key is silently ignored: each key on a Service that has
// nothing else changes the desired stack, or is reported.
func (a Alone) Run(t *testing.T) {
	without := map[string]Effect{}
	for kind := range a.Kinds {
		without[kind] = a.Effect(t, a.service(kind, "", ""))
	}
	for _, row := range annotations.Rows(a.Keys) {
		if row.On != annotations.ServiceAnnotation || row.Writer == annotations.ByController || a.Except[row.Key] != "" {
			continue
		}
		for _, v := range a.variants(row) {
			for _, kind := range a.kindsOf(v) {
				if v.Support == annotations.Works {
					a.try(t, kind, without[kind], row, v)
				}
			}
		}
	}
}

// variants returns what holds for a key, by kind.
func (a Alone) variants(row annotations.Row) []annotations.Facts {
	if len(row.Variants) == 0 {
		return []annotations.Facts{row.Facts}
	}
	return row.Variants
}

func (a Alone) kindsOf(v annotations.Facts) []string {
	if len(v.Kinds) == 0 {
		return slices.Sorted(maps.Keys(a.Kinds))
	}
	return v.Kinds
}

// portKey fills a port of the plain Service into a key.
func portKey(key string) string {
	return strings.NewReplacer("<PORT>", "80", "{port}", "80", "<PROTOCOL>", "TCP").Replace(key)
}

// try tries the values of one key on one kind.
func (a Alone) try(t *testing.T, kind string, without Effect, row annotations.Row, v annotations.Facts) {
	key := portKey(row.Key)
	tried := append([]string{row.Example}, append(a.Values[row.Key], v.Values...)...)
	for _, bound := range []*int64{v.Min, v.Max} {
		if bound != nil {
			tried = append(tried, fmt.Sprint(*bound))
		}
	}
	for _, value := range tried {
		with := a.Effect(t, a.service(kind, key, value))
		spoken := slices.ContainsFunc(with.Problems, func(p annotations.Problem) bool {
			return strings.Contains(p.String(), key) && !slices.Contains(without.Problems, p)
		})
		if spoken || cmp.Diff(resourcesOf(without.Want), resourcesOf(with.Want)) != "" || cmp.Diff(without.Status, with.Status) != "" {
			return
		}
	}
	t.Errorf("%s has no effect on %s with any of %q, and nothing reports it", key, kind, tried)
}

func resourcesOf(s *stack.Stack) []stack.Resource {
	if s == nil {
		return nil
	}
	return s.Resources
}

// service returns a plain Service of a kind with one annotation.
func (a Alone) service(kind, key, value string) *corev1.Service {
	svc := Plain()
	if of := a.Kinds[kind]; of != nil {
		of(svc)
	}
	if key != "" {
		svc.Annotations[key] = value
	}
	return svc
}

// Alone runs the test on the world of the cases.
func (s Suite[C, F]) Alone(t *testing.T, a Alone) {
	a.Keys, a.Effect = s.Cloud.Annotations, s.alone
	a.Run(t)
}

// alone builds a Service in the world of the cases, with nothing there.
func (s Suite[C, F]) alone(t testing.TB, svc *corev1.Service) Effect { return s.beside(t, svc, nil) }

// beside builds a Service in the world of the cases, with an observed stack.
func (s Suite[C, F]) beside(t testing.TB, svc *corev1.Service, have *stack.Stack) Effect {
	c := s.Bare(t)
	if s.Complete != nil {
		s.Complete(svc)
	}
	if s.Config != nil {
		s.Config(&c.Config, c.World)
	}
	in, problems := c.Input(svc)
	want, more, err := s.Cloud.Build(in, c.World.Facts, have)
	if err != nil {
		t.Fatal(err)
	}
	out := Effect{Want: want, Problems: slices.Concat(problems, more)}
	if want != nil {
		out.Status = s.Cloud.Status(in, s.Found(want, nil))
	}
	return out
}

// Plain returns a Service that asks for nothing but to be served.
func Plain() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", Annotations: map[string]string{}},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080), NodePort: 30080, Protocol: corev1.ProtocolTCP}},
		},
	}
}
