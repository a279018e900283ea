package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestPolicyOfTheAPIServer applies what "berth policy render" prints: the API server refuses what the
// policy forbids while no controller and no webhook runs, and permits the rest.
func TestPolicyOfTheAPIServer(t *testing.T) { policyOfServer(t, startWorld(t, 1)) }

// policyOfOlderServer is the same on an API server that behaves like an older minor version.
func policyOfOlderServer(t *testing.T) {
	w := startOn(t, &chartAWS, "aws", 1)
	found, err := w.Client.Discovery().ServerVersion()
	w.must(err)
	if emulated := found.EmulationMajor + "." + found.EmulationMinor; emulated != chartAWS.Options.EmulatedVersion {
		t.Fatalf("the API server behaves like %s", emulated)
	}
	policyOfServer(t, w)
}

func policyOfServer(t *testing.T, w *world) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	w.must(os.WriteFile(file, fmt.Appendf(nil, `
rules:
  - {name: stay inside %[1]s, namespaces: [%[1]s], forbidInternet: true, forbidAnnotations: ["*-access-log-*"], classes: ["", berth-lb.io/a], maxPorts: 5}
`, w.ns), 0o600))
	cmd := exec.CommandContext(t.Context(), w.Binaries.Berth, "policy", "render", "--provider", "aws", "--load-balancer-class", "berth-lb.io/a,berth-lb.io/b", "--policy-config", file)
	notes := &strings.Builder{}
	cmd.Stderr = notes
	text, err := cmd.Output()
	if err != nil || !strings.Contains(notes.String(), "maxPorts is enforced by the controller alone") {
		t.Fatalf("%v: %s", err, notes)
	}
	api := w.Client.AdmissionregistrationV1()
	for _, document := range strings.Split(string(text), "---\n") {
		policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
		if strings.Contains(document, "kind: ValidatingAdmissionPolicyBinding") {
			w.must(yaml.UnmarshalStrict([]byte(document), binding))
			_, err := api.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{})
			w.must(err)
			continue
		}
		w.must(yaml.UnmarshalStrict([]byte(document), policy))
		_, err := api.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{})
		w.must(err)
	}
	internal := setAnnotation("internal", "true")
	apply := func(changes ...change) error {
		svc := w.service("web", changes...)
		_, err := w.Client.CoreV1().Services(w.ns).Create(t.Context(), &svc, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	w.eventually("a public load balancer is refused", func() error {
		if err := apply(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "stay inside") || !strings.Contains(err.Error(), "load-balancer-internal") {
			return fmt.Errorf("not refused with rule and key: %w", err)
		}
		return nil
	})
	if err := apply(internal); err != nil {
		t.Errorf("an internal one: %v", err)
	}
	if err := apply(internal, setAnnotation("access-log-enabled", "true")); !apierrors.IsForbidden(err) {
		t.Errorf("a forbidden annotation: %v", err)
	}
	if err := apply(internal, setClass("berth-lb.io/b")); !apierrors.IsForbidden(err) {
		t.Errorf("a forbidden class: %v", err)
	}
	if err := apply(setClass("example.com/other")); err != nil {
		t.Errorf("a Service of another controller: %v", err)
	}
}
