package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/test/golden"
)

// dumpWorld formats a world for a golden file.
func dumpWorld(t *testing.T, w World) string {
	t.Helper()
	var b strings.Builder
	for _, item := range w.Items {
		body, err := yaml.Marshal(item.Service)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "--- %s asked=%t written=%t\n# made up: %s\n", item.Owner(), item.Asked, item.Written, item.MadeUp)
		for _, p := range item.Problems {
			fmt.Fprintf(&b, "# %s %s: %s\n", p.Severity, p.Where, p.Text)
		}
		b.Write(body)
	}
	for _, n := range w.Nodes {
		fmt.Fprintf(&b, "--- node %s\n", n.Name)
	}
	fmt.Fprintf(&b, "--- whole=%t\n", w.Whole)
	for _, note := range w.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}

func TestFilesBecomeWhatTheServerMakesOfThem(t *testing.T) {
	for _, name := range []string{"plain", "full", "refused"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".yaml")
			w, err := Gather(context.Background(), Input{Files: []string{file}})
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", name+".golden"), dumpWorld(t, w))
		})
	}
}

// Order of documents and files must not matter: made-up ports would move, and
// with them the plan.
func TestOrderOfFilesDoesNotMatter(t *testing.T) {
	a, b := "testdata/plain.yaml", "testdata/full.yaml"
	first, err := Gather(context.Background(), Input{Files: []string{a, b}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Gather(context.Background(), Input{Files: []string{b, a}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(dumpWorld(t, first), dumpWorld(t, second)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSelectorAndNamespace(t *testing.T) {
	text := "apiVersion: v1\nkind: Service\nmetadata: {name: a, labels: {app: a}}\nspec: {ports: [{port: 1}]}\n---\n" +
		"apiVersion: v1\nkind: Service\nmetadata: {name: b, namespace: other}\nspec: {ports: [{port: 1}]}\n"
	w, err := Gather(context.Background(), Input{Files: []string{"-"}, Stdin: strings.NewReader(text), Namespace: "mine", Selector: "app=a"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, item := range w.Items {
		got[item.Owner().String()] = item.Asked
	}
	if diff := cmp.Diff(map[string]bool{"mine/a": true, "other/b": false}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What is no Service at all ends the reading, and the message leads to the place.
func TestFilesThatCannotBeRead(t *testing.T) {
	service := "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
	for name, c := range map[string]struct{ text, want string }{
		"no object":      {"- a\n- b\n", "standard input: not a Kubernetes object"},
		"no kind":        {"a: b\n", "standard input: not a Kubernetes object: it has no kind"},
		"no yaml":        {service + "---\n{{ if .Values.x }}\n", "standard input, document 2: "},
		"key twice":      {service + "kind: Service\n", `"kind" already set`},
		"no name":        {"apiVersion: v1\nkind: Service\n", "standard input: service: metadata.name is missing"},
		"other version":  {"apiVersion: v2\nkind: Service\nmetadata: {name: a}\n", `apiVersion "v2"`},
		"wrong type":     {service + "spec: {ports: [{port: eighty}]}\n", "spec.ports[0].port: is a string, must be a whole number"},
		"service twice":  {service + "---\n" + service, "service default/a is defined twice"},
		"node twice":     {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n", `node "a" is defined twice`},
		"item of a list": {"apiVersion: v1\nkind: ServiceList\nitems:\n- metadata: {name: a}\n- metadata: {}\n", "standard input, item 2: service: metadata.name is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Gather(context.Background(), Input{Files: []string{"-"}, Stdin: strings.NewReader(c.text)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
		})
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml":    "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
		"b.json":    `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "b"}}`,
		"README.md": "# not looked at\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Gather(context.Background(), Input{Files: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Items) != 2 {
		t.Errorf("want 2 Services, got %d", len(w.Items))
	}
}
