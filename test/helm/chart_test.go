package helm

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
)

const (
	root  = "../.."
	chart = root + "/charts/berth"
)

// update says that what is compared is written instead.
var update = flag.Bool("update", false, "write what is made from the chart")

// schemaClouds returns the names of the clouds in the schema of values.yaml.
func schemaClouds(t *testing.T, values []value) []string {
	t.Helper()
	for _, v := range values {
		if v.key != "provider" {
			continue
		}
		var out []string
		names, _ := v.more["enum"].([]any)
		for _, name := range names {
			if text, ok := name.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	t.Fatal("values.yaml has no provider")
	return nil
}

// runTool runs a program of this module's tool lines in the chart's surroundings.
func runTool(t *testing.T, args ...string) []byte {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"tool"}, args...)...)
	cmd.Stderr = &said
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go tool %s: %v\n%s%s", strings.Join(args, " "), err, out, said.Bytes())
	}
	return out
}

// compareFile compares a file of the repository with its expected text.
func compareFile(t *testing.T, file string, want []byte) {
	t.Helper()
	path := filepath.Join(root, file)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is stale: make docs (-made now +in the repository):\n%s", file, diff)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestGenerated compares everything generated from the chart with the repository. The
// parts are ordered: a stale schema refuses the manifests.
func TestGenerated(t *testing.T) {
	values, err := readValues(readFile(t, chart+"/values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("schema", func(t *testing.T) {
		whole := valuesSchema(values)
		whole["$schema"] = "http://json-schema.org/draft-07/schema#"
		text, err := json.MarshalIndent(whole, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		compareFile(t, "charts/berth/values.schema.json", append(text, '\n'))
	})
	t.Run("page", func(t *testing.T) {
		rows, err := valuesTable("", values)
		if err != nil {
			t.Fatal(err)
		}
		page, err := template.ParseFiles("readme.md.tmpl")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := page.Execute(&out, map[string]string{"Values": rows}); err != nil {
			t.Fatal(err)
		}
		compareFile(t, "charts/berth/README.md", out.Bytes())
	})
	manifests, all := map[string][]byte{}, schemaClouds(t, values)
	for _, cloud := range all {
		manifests[cloud] = runTool(t, "helm", "template", "berth", chart, "--namespace", "kube-system", "--values", chart+"/ci/"+cloud+".yaml")
	}
	t.Run("manifests", func(t *testing.T) {
		for _, cloud := range all {
			head := fmt.Sprintf("# Made by `make docs` from charts/berth with the values of charts/berth/ci/%s.yaml.\n", cloud)
			compareFile(t, "charts/manifests/"+cloud+".yaml", append([]byte(head), manifests[cloud]...))
		}
	})
	t.Run("rights", func(t *testing.T) {
		rows, err := rightsTable(all, manifests)
		if err != nil {
			t.Fatal(err)
		}
		const begin, end = "<!-- rights: made from the chart -->\n", "<!-- end of rights -->\n"
		body := string(readFile(t, root+"/docs/security.md"))
		before, rest, found := strings.Cut(body, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatal("docs/security.md: the marks around the table of rights are gone")
		}
		compareFile(t, "docs/security.md", []byte(before+begin+"\n"+rows+"\n"+end+after))
	})
}

// TestLint runs Helm's own lint with every file of values.
func TestLint(t *testing.T) {
	files, err := filepath.Glob(chart + "/ci/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of values: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			runTool(t, "helm", "lint", "--strict", "--values", file, chart)
		})
	}
}

// TestUnit runs the chart's unit tests.
func TestUnit(t *testing.T) {
	t.Logf("%s", runTool(t, "helm-unittest", "--strict", chart))
}
