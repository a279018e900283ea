package explain

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

type balancer struct {
	Scheme string
	Secret string `plan:"secret"`
	Label  string
}

type listener struct{ Port int32 }

// buildToy returns a load balancer whose scheme two annotations request, and a listener per port.
func buildToy(svc *corev1.Service) (*stack.Stack, annotations.Problems, error) {
	spec := balancer{Scheme: "public", Secret: svc.Annotations["secret"], Label: string(svc.UID)}
	if svc.Annotations["internal"] == "true" || svc.Annotations["old-internal"] == "true" {
		spec.Scheme = "internal"
	}
	if svc.Annotations["required"] == "" {
		return nil, annotations.Problems{{Key: "required", Severity: annotations.Error, Message: "is missing"}}, nil
	}
	out := &stack.Stack{}
	out.Put(stack.Resource{Key: stack.Key{Kind: "balancer"}, Spec: spec})
	for _, p := range svc.Spec.Ports {
		out.Put(stack.Resource{Key: stack.Key{Kind: "listener", Name: p.Name}, Spec: listener{Port: p.Port}})
	}
	return out, nil, nil
}

func explainToy(t *testing.T) Explanation {
	t.Helper()
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "a1", Annotations: map[string]string{
			"internal": "true", "old-internal": "true", "secret": "s3cret", "required": "yes",
		}},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}, {Name: "https", Port: 443}}},
	}
	want, _, _ := buildToy(svc)
	var inputs []Input
	for _, v := range Variants(svc) {
		inputs = append(inputs, Input{Origin: v.Origin, Varied: v.Varied, Combined: v.Combined, Rebuild: func() (*stack.Stack, annotations.Problems, error) {
			if v.Combined {
				v.Service.Annotations["required"] = "yes"
			}
			return buildToy(v.Service)
		}})
	}
	got, err := Explain(want, inputs)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestExplain: single origins, two that request the same, secrets, names, and inputs without
// which the Service is refused.
func TestExplain(t *testing.T) {
	got := explainToy(t)
	for selector, want := range map[string]string{
		"balancer.scheme": "several annotations or fields that request the same",
		"balancer.label":  "metadata.uid a1",
		"balancer.secret": "annotation secret \"s3cret\"",
		"listener/http":   "exists because of spec.ports[0] http",
		"listener/https":  "its name follows from spec.ports[1].name https",
	} {
		part, err := got.Select(selector)
		if err != nil {
			t.Fatal(err)
		}
		if text := Human(part); !strings.Contains(text, want) {
			t.Errorf("%s: want %q in\n%s", selector, want, text)
		}
	}
	if text := Human(got); !strings.Contains(text, "required: annotation required \"yes\"\n  without it: required: is missing") {
		t.Errorf("nothing is required:\n%s", text)
	}
}

// TestEmptyValues: an empty map or list and none are one value, so that no input is its origin.
func TestEmptyValues(t *testing.T) {
	type settings struct {
		Names map[string]string
		List  []string
	}
	key := stack.Key{Kind: "balancer"}
	want, other := &stack.Stack{}, &stack.Stack{}
	want.Put(stack.Resource{Key: key, Spec: settings{Names: map[string]string{}, List: []string{}}})
	other.Put(stack.Resource{Key: key, Spec: settings{}})
	got, err := Explain(want, []Input{{Origin: annotations.Origin{Key: "k"}, Rebuild: func() (*stack.Stack, annotations.Problems, error) { return other, nil, nil }}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Resources[0].Fields {
		if len(f.Causes) > 0 {
			t.Errorf("%s: %v", f.Name, f.Causes)
		}
	}
}

// TestVariantsKeepTheService: a variant differs from the Service in one place, and the Service
// stays as it is.
func TestVariantsKeepTheService(t *testing.T) {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: "a9", Annotations: map[string]string{"a": "1"}}, Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Port: 80, NodePort: 30000}}, ExternalTrafficPolicy: "Local", HealthCheckNodePort: 32000,
	}}
	before := svc.DeepCopy()
	keys := map[string]bool{}
	for _, v := range Variants(svc) {
		if keys[v.Origin.Key] {
			t.Errorf("%s: twice", v.Origin.Key)
		}
		keys[v.Origin.Key] = true
		if v.Service.String() == before.String() {
			t.Errorf("%s: the variant is the Service", v.Origin.Key)
		}
	}
	if svc.String() != before.String() {
		t.Error("the Service has changed")
	}
	for _, want := range []string{"a", "spec.ports[0].port", "spec.ports[0].nodePort", "spec.externalTrafficPolicy", "metadata.uid"} {
		if !keys[want] {
			t.Errorf("%s: no variant", want)
		}
	}
}
