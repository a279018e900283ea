package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/stack/plan"
)

// mistakenExamples lists the examples of mistakes, with the severity of the message to
// the user. Every other example is valid.
func mistakenExamples() map[string]plan.Severity {
	return map[string]plan.Severity{
		"misspelt-key.yaml":       plan.Error,
		"value-out-of-range.yaml": plan.Error,
	}
}

func TestExamples(t *testing.T) {
	for _, cloud := range all.List() {
		files, err := filepath.Glob(filepath.Join(root, "examples", cloud.Name, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Errorf("examples/%s: no examples", cloud.Name)
		}
		for _, file := range files {
			t.Run(cloud.Name+"/"+filepath.Base(file), func(t *testing.T) {
				checkForm(t, file)
				checkExample(t, cloud, file)
			})
		}
	}
}

// checkForm checks the form of an example: a comment that states its purpose, then one
// Service that has the name of the file.
func checkForm(t *testing.T, file string) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(body), "# ") {
		t.Error("does not begin with a comment that says what it shows")
	}
	var svc corev1.Service
	if err := yaml.UnmarshalStrict(body, &svc); err != nil {
		t.Fatal(err)
	}
	if name := strings.TrimSuffix(filepath.Base(file), ".yaml"); svc.Kind != "Service" || svc.Spec.Type != corev1.ServiceTypeLoadBalancer || svc.Name != name {
		t.Errorf("is %s %s of type %s, want Service %s of type LoadBalancer", svc.Kind, svc.Name, svc.Spec.Type, name)
	}
}

// checkExample runs `berth check` on the example.
func checkExample(t *testing.T, cloud providers.Entry, file string) {
	t.Helper()
	checked, err := offline.Check(t.Context(), offline.Input{Files: []string{file}}, offline.Checks{Cloud: cloud, Classes: service.Classes{Default: true, Names: cloud.Classes}})
	if err != nil {
		t.Fatal(err)
	}
	if len(checked.Services) != 1 || checked.Services[0].Left != "" {
		t.Fatalf("is not one Service that is served: %+v", checked.Services)
	}
	problems := checked.Services[0].Problems
	severity, wrong := mistakenExamples()[filepath.Base(file)]
	switch {
	case !wrong && len(problems) > 0:
		t.Errorf("has problems: %v", problems)
	case wrong && len(problems) != 1:
		t.Errorf("has %d problems, want one: %v", len(problems), problems)
	case wrong && problems[0].Severity != severity:
		t.Errorf("has a problem of severity %v, want %v", problems[0].Severity, severity)
	}
}
