package gatehook

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/status"
)

func newService(name, app, gates string) *corev1.Service {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Annotations: map[string]string{status.AnnotationPodGates: gates}}}
	if app != "" {
		svc.Spec.Selector = map[string]string{"app": app}
	}
	return svc
}

// TestGates: a pod gets the gates of the Services that select it, each once, and keeps its own.
func TestGates(t *testing.T) {
	services := []*corev1.Service{
		newService("web", "web", "example.com/web-80,example.com/web-443"), newService("also", "web", "example.com/also"), newService("other", "db", "example.com/db"),
		newService("nobody", "", "example.com/nobody"), newService("node ports", "web", ""),
		newService("shares", "db", "example.com/shares-80,example.com/for-node-ports=node ports,example.com/for-nobody=nobody,example.com/for-none=none"),
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web", "tier": "front"}}}
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/own"}, {ConditionType: "example.com/also"}}
	patch, err := patchFor(pod, gatesFor(pod, services))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"op":"add","path":"/spec/readinessGates","value":[{"conditionType":"example.com/own"},{"conditionType":"example.com/also"},` +
		`{"conditionType":"example.com/for-node-ports"},{"conditionType":"example.com/web-443"},{"conditionType":"example.com/web-80"}]}]`
	if d := cmp.Diff(want, string(patch)); d != "" {
		t.Errorf("patch (-want +got):\n%s", d)
	}
	if patch, err = patchFor(pod, []string{"example.com/own"}); err != nil || patch != nil {
		t.Errorf("a pod that has its gates: %s, %v", patch, err)
	}
}

// TestOptions: what is missing is named.
func TestOptions(t *testing.T) {
	good := Options{Listen: ":0", Hosts: []string{"hook"}, Secret: "berth/hook", Configuration: "berth"}
	for name, change := range map[string]func(*Options){
		"secret": func(o *Options) { o.Secret = "hook" }, "hosts": func(o *Options) { o.Hosts = nil }, "configuration": func(o *Options) { o.Configuration = "" },
	} {
		o := good
		change(&o)
		if _, err := New(fake.NewClientset(), nil, o, clock.RealClock{}); err == nil || !bytes.Contains([]byte(err.Error()), []byte(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(fake.NewClientset(), nil, good, clock.RealClock{}); err != nil {
		t.Error(err)
	}
}

// replicas is a cluster with replicas of the webhook, at one time.
type replicas struct {
	*testing.T
	client *fake.Clientset
	clock  *clocktesting.FakeClock
}

func newReplicas(t *testing.T) *replicas {
	return &replicas{T: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), client: fake.NewClientset(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "berth", Name: "hook"}},
		&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "berth"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "pods"}}},
	)}
}

func (r *replicas) keeper(hosts ...string) *keeper {
	return &keeper{client: r.client, namespace: "berth", name: "hook", configuration: "berth", hosts: append(hosts, "hook.berth.svc", "127.0.0.1"), clock: r.clock}
}

// shows is what a replica shows after it has looked.
func (r *replicas) shows(k *keeper) []byte {
	r.Helper()
	if err := k.keep(r.Context()); err != nil {
		r.Fatal(err)
	}
	shown, err := k.certificate(nil)
	if err != nil {
		r.Fatal(err)
	}
	return shown.Certificate[0]
}

// trusts returns an error unless the API server trusts a certificate.
func (r *replicas) trusts(shown []byte, host string) error {
	r.Helper()
	configuration, err := r.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(r.Context(), "berth", metav1.GetOptions{})
	if err != nil {
		r.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(configuration.Webhooks[0].ClientConfig.CABundle)
	leaf, err := x509.ParseCertificate(shown)
	if err != nil {
		r.Fatal(err)
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: r.clock.Now()})
	return err
}

// TestCertificates: two replicas share one certificate; it is replaced before it ends, and
// the old one is trusted until then.
func TestCertificates(t *testing.T) {
	r := newReplicas(t)
	a, b := r.keeper(), r.keeper()
	if _, err := a.certificate(nil); err == nil {
		t.Error("a certificate before there is one")
	}
	first := r.shows(a)
	if !bytes.Equal(first, r.shows(b)) {
		t.Error("two replicas show two certificates")
	}
	if err := r.trusts(first, "hook.berth.svc"); err != nil {
		t.Errorf("new: %v", err)
	}
	r.clock.Step(lifetime - renewBefore - time.Hour)
	if !bytes.Equal(first, r.shows(a)) {
		t.Error("it is made anew although it has long to go")
	}
	r.clock.Step(2 * time.Hour)
	newer := r.shows(a)
	if bytes.Equal(first, newer) {
		t.Error("it is not made anew")
	}
	for name, shown := range map[string][]byte{"the new one": newer, "that of the other replica": first} {
		if err := r.trusts(shown, "hook.berth.svc"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.clock.Step(renewBefore)
	if err := r.trusts(first, "hook.berth.svc"); err == nil {
		t.Error("one that has ended is trusted")
	}
	if err := r.trusts(r.shows(r.keeper("other.berth.svc")), "other.berth.svc"); err != nil {
		t.Errorf("another host: %v", err)
	}
}

// TestServerIDs: the containers that are named get an id each, of eight bytes, but for one that
// has its own; a pod that names none is left as it is.
func TestServerIDs(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{quicContainers: "proxy, sidecar,own"}}}
	own := []corev1.EnvVar{{Name: serverIDEnv, Value: "AAAAAAAAAAE="}}
	pod.Spec.Containers = []corev1.Container{{Name: "app"}, {Name: "proxy", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}}, {Name: "own", Env: own}}
	pod.Spec.InitContainers = []corev1.Container{{Name: "sidecar"}}
	body, err := serverIDs(pod)
	if err != nil {
		t.Fatal(err)
	}
	var patch []struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value []corev1.EnvVar `json:"value"`
	}
	if err := json.Unmarshal(body, &patch); err != nil {
		t.Fatal(err)
	}
	if len(patch) != 2 || patch[0].Path != "/spec/containers/1/env" || patch[1].Path != "/spec/initContainers/0/env" || len(patch[0].Value) != 2 || patch[0].Value[0].Name != "A" {
		t.Fatalf("patch is %s", body)
	}
	first, err := base64.StdEncoding.DecodeString(patch[0].Value[1].Value)
	if err != nil || len(first) != serverIDBytes || patch[0].Value[1].Value == patch[1].Value[0].Value {
		t.Errorf("ids are %s, %v", body, err)
	}
	pod.Annotations = nil
	if body, err = serverIDs(pod); body != nil || err != nil {
		t.Errorf("a pod that asks for nothing gets %s, %v", body, err)
	}
}
