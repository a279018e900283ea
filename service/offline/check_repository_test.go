package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/stack/plan"
)

// writeRepository writes a tree of files as public repositories have them: each environment
// with the same Namespace, definitions of resources, templates, broken documents of
// other kinds, JSON indented with tabs, and one faulty Service among good ones.
func writeRepository(t testing.TB, environments int) string {
	t.Helper()
	root := t.TempDir()
	others := map[string]string{
		"namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
		"node.yaml":      "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n",
		"crd.yaml":       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec: {a: 1, a: 2}\n",
		"tabs.yaml":      "apiVersion: v1\nkind: ConfigMap\ndata:\n\tx: y\n",
		"chart.yaml":     "apiVersion: v1\nkind: Service\nmetadata: {{ include \"x\" . }}\n",
		"values.yaml":    "replicas: 2\n",
		"knative.yaml":   "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: f}\n",
		"deploy.yaml":    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec: {template: {spec: {containers: [{ports: [{containerPort: \"x\"}]}]}}}\n",
		"broken.json":    "{\"kind\": \"Deployment\", \"metadata\": {\n",
		"tabs.json":      "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Service\",\n\t\"metadata\": {\"name\": \"json\"},\n\t\"spec\": {\"ports\": [{\"port\": 80}]}\n}\n",
		"good.yaml":      "apiVersion: v1\nkind: Service\nmetadata: {name: good}\nspec: {type: LoadBalancer, ipFamilyPolicy: PreferDualStack, ports: [{port: 80}]}\n",
	}
	for i := range environments {
		dir := filepath.Join(root, fmt.Sprintf("env-%04d", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range others {
			text = strings.ReplaceAll(text, "name: good", fmt.Sprintf("name: good-%d", i))
			text = strings.ReplaceAll(text, "\"name\": \"json\"", fmt.Sprintf("\"name\": \"json-%d\"", i))
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	bad := "apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec:\n  type: LoadBalancer\n  ports:\n  - port: 80\n  - port: eighty\n"
	if err := os.WriteFile(filepath.Join(root, "bad.yaml"), []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

// tenThousandFiles is the number of environments whose tree has 10,000 files.
const tenThousandFiles = 909

// BenchmarkCheckRepository measures a check of a tree of 10,000 files.
func BenchmarkCheckRepository(b *testing.B) {
	root := writeRepository(b, tenThousandFiles)
	for b.Loop() {
		if _, err := Check(context.Background(), Input{Files: []string{root}}, Checks{Clouds: all.List(), Classes: service.Classes{Default: true}}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCheckRepository: of a tree of 10,000 files only documents with a Service have problems,
// the others are counted, and an assumption about the cluster is no problem.
func TestCheckRepository(t *testing.T) {
	environments := tenThousandFiles
	if testing.Short() {
		environments = 60
	}
	root := writeRepository(t, environments)
	out, err := Check(context.Background(), Input{Files: []string{root}}, Checks{Clouds: all.List(), Classes: service.Classes{Default: true}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range out.Findings() {
		got = append(got, strings.TrimPrefix(f.line(""), root))
	}
	want := []string{"error BRT101 " + filepath.Join(root, "bad.yaml") + ":8:5: spec.ports[1].port: is a string, must be a whole number"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(out.Services) != 2*environments || len(out.Notes) > 10 {
		t.Errorf("%d Services, %d notes: %q", len(out.Services), len(out.Notes), out.Notes)
	}
	if text := out.human(0); strings.Count(text, "\n") > 6 {
		t.Errorf("good Services are listed:\n%s", text)
	}
}

// TestCheckPrintsNoControlCharacters: the name of an object is no command to a terminal.
func TestCheckPrintsNoControlCharacters(t *testing.T) {
	out := checkText(t, "apiVersion: v1\nkind: Service\nmetadata: {name: \"a\\e[31mred\\a\"}\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n")
	out.Verbose = true
	if text := out.human(0); strings.ContainsAny(text, "\x1b\a") || !strings.Contains(text, `a\x1b[31mred`) {
		t.Errorf("%q", text)
	}
	out.Files = append(out.Files, Finding{plan.Problem{Severity: "error", Code: "BRT101", Text: "is\u009bbad"}, Position{File: "a\x1b[31m.yaml"}})
	if text := out.github(); strings.ContainsAny(text, "\x1b\a\u009b") || !strings.Contains(text, `a\x1b[31m.yaml`) {
		t.Errorf("%q", text)
	}
}

// TestCheckPipeEnds: a pipe without a writer does not outlive the context.
func TestCheckPipeEnds(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Check(ctx, Input{Files: []string{pipe}}, Checks{Clouds: all.List()}); err == nil {
		t.Error("it succeeds without a writer")
	}
	if f, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		_ = f.Close() // ends the read that was left behind
	}
}
