package kit

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/test/harness"
)

// label is what Services of one kind have in common: the first word of their names.
const label = "kind"

// Fill puts what is only known in the simulated cloud into a text of testdata.
func (w *World) Fill(text []byte) []byte {
	w.T.Helper()
	var names template.FuncMap
	if w.suite.Names != nil {
		names = w.suite.Names(w)
	}
	parsed, err := template.New("").Funcs(names).Parse(string(text))
	w.Must(err)
	var out bytes.Buffer
	w.Must(parsed.Execute(&out, nil))
	return out.Bytes()
}

// Services are those that testdata has for a cloud configuration, or for all that
// have none of their own.
func (w *World) Services(config string) []corev1.Service {
	w.T.Helper()
	text := optional(w.T, config, "services.yaml")
	if text == nil {
		text = optional(w.T, "", "services.yaml")
	}
	path := filepath.Join(w.T.TempDir(), "services.yaml")
	w.Must(os.WriteFile(path, w.Fill(text), 0o600))
	out, err := harness.ReadServices(path)
	w.Must(err)
	if len(out) == 0 {
		w.T.Fatalf("testdata has no Services for %s", config)
	}
	for i := range out {
		out[i].Namespace = w.Namespace
		if out[i].Labels == nil {
			out[i].Labels = map[string]string{}
		}
		out[i].Labels[label] = kindOf(out[i])
	}
	return out
}

func kindOf(svc corev1.Service) string {
	kind, _, _ := strings.Cut(svc.Name, "-")
	return kind
}

// Pick returns the Services of the names.
func Pick(t *testing.T, all []corev1.Service, names ...string) []corev1.Service {
	t.Helper()
	var out []corev1.Service
	for _, name := range names {
		i := slices.IndexFunc(all, func(s corev1.Service) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("no Service %s in testdata", name)
		}
		out = append(out, all[i])
	}
	return out
}

// Coverage sees that every annotation of Services that works is on some Service of
// testdata, but for those that the official controller does not read.
func Coverage(t *testing.T, declared *annotations.Set, unread func(annotations.Row) bool) {
	t.Helper()
	var text []byte
	files, err := filepath.Glob(filepath.Join("testdata", "*", "services.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	for _, path := range files {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, body...)
	}
	for _, row := range annotations.Rows(declared) {
		if row.Support == annotations.Works && row.On == annotations.ServiceAnnotation && !unread(row) && !pattern(row.Key).Match(text) {
			t.Errorf("no Service in testdata has %s", row.Key)
		}
	}
}

// pattern finds a key, or a key of any port.
func pattern(key string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(key), `\{port\}`, `\d+`))
}
