package validate_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/validate"
	"github.com/berth-lb/berth/service/webhook"
	"github.com/berth-lb/berth/status"
)

const prefix = "service.beta.kubernetes.io/aws-load-balancer-"

// newService returns a Service of kind nlb as the API server stores it.
func newService(changes ...func(*corev1.Service)) *corev1.Service {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Annotations: map[string]string{prefix + "type": "nlb"}}}
	svc.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, NodePort: 30080}}}
	for _, change := range changes {
		change(svc)
	}
	return svc
}

func setAnnotation(key, value string) func(*corev1.Service) {
	return func(svc *corev1.Service) { svc.Annotations[key] = value }
}

func encodeService(t testing.TB, svc *corev1.Service) []byte {
	t.Helper()
	if svc == nil {
		return nil
	}
	body, err := json.Marshal(svc)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func newHandler(t testing.TB, enforce bool) webhook.Handler {
	t.Helper()
	cloud := providers.EntryOf(aws.Cloud())
	admission, err := service.AdmissionOf("", nil, cloud.Annotations, cloud.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	return validate.Handler(validate.Judge{Cloud: cloud, Classes: service.Classes{Default: true, Names: cloud.Classes}, Admission: admission}, enforce)
}

func newRequest(t testing.TB, before, after *corev1.Service) *admissionv1.AdmissionRequest {
	t.Helper()
	r := &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Resource: metav1.GroupVersionResource{Resource: "services"}}
	if before != nil {
		r.Operation = admissionv1.Update
	}
	r.Object.Raw, r.OldObject.Raw = encodeService(t, after), encodeService(t, before)
	return r
}

func sendReview(t *testing.T, enforce bool, before, after *corev1.Service) webhook.Verdict {
	t.Helper()
	verdict, err := newHandler(t, enforce)(newRequest(t, before, after))
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

// TestVerdicts: what is denied, and what is a warning, in both modes.
func TestVerdicts(t *testing.T) {
	bad := setAnnotation(prefix+"healthcheck-interval", "soon")
	typo := setAnnotation(prefix+"cross-zone-load-balancing-enable", "true")
	internal := setAnnotation(prefix+"internal", "true")
	class := "example.com/other"
	for name, tc := range map[string]struct {
		before, after *corev1.Service
		enforced      string // part of what is denied; empty: it is allowed
		warned        string // part of the warnings where nothing is enforced; empty: there is none
	}{
		"good":              {nil, newService(), "", ""},
		"bad value":         {nil, newService(bad), "healthcheck-interval", "healthcheck-interval"},
		"misspelt":          {nil, newService(typo), "", "cross-zone-load-balancing-enable"},
		"bad before":        {newService(bad), newService(bad, setAnnotation("team", "web")), "", ""},
		"mended":            {newService(bad), newService(), "", ""},
		"kept kind":         {newService(), newService(internal), "no effect on the existing load balancer", "no effect"},
		"permitted":         {newService(), newService(internal, setAnnotation(status.AnnotationAllow, status.AllowReplace)), "", "no effect"},
		"another kind":      {newService(), newService(func(s *corev1.Service) { delete(s.Annotations, prefix+"type") }), "replaces the load balancer", "replaces the load balancer"},
		"deleted":           {newService(), newService(bad, func(s *corev1.Service) { s.DeletionTimestamp = new(metav1.Now()) }), "", ""},
		"of another class":  {nil, newService(bad, func(s *corev1.Service) { s.Spec.LoadBalancerClass = &class }), "", ""},
		"of another type":   {nil, newService(bad, func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP }), "", ""},
		"became a balancer": {newService(bad, func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP }), newService(bad), "healthcheck-interval", "healthcheck-interval"},
	} {
		if got := sendReview(t, true, tc.before, tc.after); (got.Denied == "") != (tc.enforced == "") || !strings.Contains(got.Denied, tc.enforced) {
			t.Errorf("%s, enforced: denied %q, want %q", name, got.Denied, tc.enforced)
		}
		got := sendReview(t, false, tc.before, tc.after)
		if text := strings.Join(got.Warnings, "\n"); got.Denied != "" || (text == "") != (tc.warned == "") || !strings.Contains(text, tc.warned) {
			t.Errorf("%s, warned: denied %q, warnings %q, want %q", name, got.Denied, text, tc.warned)
		}
	}
}

// TestWarningsAreBounded: at most ten warnings of at most 250 bytes, however much is wrong.
func TestWarningsAreBounded(t *testing.T) {
	svc := newService()
	for i := range 40 {
		svc.Annotations[prefix+"no-such-key-"+strings.Repeat("x", i)] = strings.Repeat("ü", 200)
	}
	got := sendReview(t, false, nil, svc)
	if len(got.Warnings) != 10 || !strings.Contains(got.Warnings[9], "31 more warnings") {
		t.Errorf("%d warnings, the last %q", len(got.Warnings), got.Warnings[len(got.Warnings)-1])
	}
	for _, text := range got.Warnings {
		if len(text) > 250 || !utf8.ValidString(text) {
			t.Errorf("%d bytes: %q", len(text), text)
		}
	}
}

// TestOtherRequests: requests that are not about a Service are allowed; one that cannot be read
// is an error, after which the server allows it.
func TestOtherRequests(t *testing.T) {
	handler := validate.Handler(validate.Judge{}, true)
	for _, r := range []*admissionv1.AdmissionRequest{
		{Operation: admissionv1.Delete, Resource: metav1.GroupVersionResource{Resource: "services"}},
		{Operation: admissionv1.Update, Resource: metav1.GroupVersionResource{Resource: "services"}, SubResource: "status"},
		{Operation: admissionv1.Create, Resource: metav1.GroupVersionResource{Resource: "pods"}},
	} {
		if got, err := handler(r); err != nil || got.Denied != "" || got.Warnings != nil {
			t.Errorf("%s %s: %+v, %v", r.Operation, r.Resource.Resource, got, err)
		}
	}
	broken := &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Resource: metav1.GroupVersionResource{Resource: "services"}}
	broken.Object.Raw = []byte("{")
	if _, err := handler(broken); err == nil {
		t.Error("a Service that cannot be read is no error")
	}
}
