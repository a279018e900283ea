package model

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

// newSuite returns the tests of the cases in testdata.
func newSuite() cases.Suite[Config, struct{}] {
	cloud := Cloud()
	return cases.Suite[Config, struct{}]{
		Cloud: &cloud, Least: 1,
		Specs: map[stack.Kind]stack.Spec{KindBalancer: Balancer{}, KindListener: Listener{}, KindMachines: Machines{}, KindOpening: Opening{}},
		Complete: func(svc *corev1.Service) {
			svc.Namespace, svc.UID, svc.Spec.Type = "shop", "0f1e2d3c", corev1.ServiceTypeLoadBalancer
		},
		Found: showFound, Field: fieldText,
	}
}

// fieldText returns a field for golden files; empty for the zero value.
func fieldText(value any) string {
	if v := reflect.ValueOf(value); !v.IsValid() || v.IsZero() {
		return ""
	}
	return fmt.Sprint(value)
}

// showFound returns what a read returns once the desired stack exists.
func showFound(want, _ *stack.Stack) *stack.Stack {
	out := &stack.Stack{Owner: want.Owner}
	for _, r := range want.Resources {
		r.ID, r.Proof = "b1", stack.Derived
		out.Put(r)
	}
	return out
}

func TestCases(t *testing.T) { newSuite().Cases(t) }

func TestIdempotent(t *testing.T) { newSuite().Idempotent(t, nil) }

// TestEveryFieldIsDeclared verifies that no field of a spec is forgotten in its codec.
func TestEveryFieldIsDeclared(t *testing.T) {
	for _, p := range append(BalancerCodec().Problems(), ListenerCodec().Problems()...) {
		t.Error(p)
	}
}

// TestNotice verifies that the text of a ConfigMap or a Notice becomes part of the load balancer, and that
// one that is missing or has no text is reported.
func TestNotice(t *testing.T) {
	config, notice := providers.Reference{Kind: providers.ConfigMap, Namespace: "shop", Name: "sorry"}, providers.Reference{Kind: noticeKind(), Namespace: "shop", Name: "sorry"}
	for name, tc := range map[string]struct {
		ref     providers.Reference
		object  providers.Object
		notice  string
		message string
	}{
		"found":                  {ref: config, object: providers.Object{Data: map[string][]byte{"text": []byte("back soon")}}, notice: "back soon"},
		"no text":                {ref: config, object: providers.Object{Data: map[string][]byte{}}, message: "ConfigMap shop/sorry has no key text"},
		"missing":                {ref: config, object: providers.Object{Why: "does not exist"}, message: "ConfigMap shop/sorry does not exist"},
		"an object":              {ref: notice, object: providers.Object{Spec: map[string]any{"text": "back soon"}}, notice: "back soon"},
		"an object without text": {ref: notice, object: providers.Object{Spec: map[string]any{}}, message: "notices.quay.example shop/sorry has no key text"},
		"an object without API":  {ref: notice, object: providers.Object{Why: "cannot be read"}, message: "notices.quay.example shop/sorry cannot be read"},
	} {
		cloud := Cloud()
		svc := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080}}}}
		svc.Namespace, svc.Name, svc.Annotations = "shop", "web", map[string]string{map[bool]string{true: noticeKey.Name, false: noticeObjectKey.Name}[tc.ref == config]: "sorry"}
		in, _ := cases.Input(&cloud, Config{}, svc, cases.Around{Cluster: "test"})
		in.Objects = map[providers.Reference]providers.Object{tc.ref: tc.object}
		if refs := Refers(in); len(refs) != 1 || refs[0] != tc.ref {
			t.Errorf("%s: refers to %v", name, refs)
		}
		want, problems, err := Build(in, struct{}{}, nil)
		if b, _ := stack.SpecOf[Balancer](want, BalancerKey()); err != nil || b.Notice != tc.notice {
			t.Errorf("%s: notice %q, error %v", name, b.Notice, err)
		}
		if text := strings.Join(problems.Strings(), "\n"); problems.Errors() != (tc.message != "") || !strings.Contains(text, tc.message) {
			t.Errorf("%s: problems %q, want %q", name, text, tc.message)
		}
	}
}
