package gatehook

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
