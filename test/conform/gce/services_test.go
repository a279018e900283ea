package conform

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"text/template"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/test/harness"
)

// fill puts what is only known in the simulated cloud into a text of testdata.
func (w *world) fill(text []byte) []byte {
	w.t.Helper()
	parsed, err := template.New("").Funcs(template.FuncMap{
		"address": func(name string) string { return w.addresses[name] },
		"subnet":  func(i int) string { return w.seed.Subnets[i].Name },
	}).Parse(string(text))
	w.must(err)
	var out bytes.Buffer
	w.must(parsed.Execute(&out, nil))
	return out.Bytes()
}

// services are those that testdata has for a cloud configuration.
func (w *world) services(config string) []corev1.Service {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", config, "services.yaml"))
	w.must(err)
	path := filepath.Join(w.t.TempDir(), "services.yaml")
	w.must(os.WriteFile(path, w.fill(text), 0o600))
	out, err := harness.ReadServices(path)
	w.must(err)
	for i := range out {
		out[i].Namespace = w.namespace
	}
	return out
}

// pick returns the Services of the names.
func pick(t *testing.T, all []corev1.Service, names ...string) []corev1.Service {
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

// coverage sees that every annotation that works on the two kinds that the
// official service controller makes is on some Service of testdata.
func coverage(t *testing.T) {
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
	// Not read here: what opts in to the other kinds, and what is written, not asked for.
	others := []string{"Written by the controller", "Network endpoint groups of others"}
	for _, row := range annotations.Rows(gce.Annotations()) {
		if slices.Contains(others, row.Group) || row.Key == "cloud.google.com/l4-rbs" {
			continue
		}
		made := slices.ContainsFunc(row.Kinds, func(kind string) bool { return kind == "target-pool" || kind == "ilb-ig" })
		if made && row.Support == annotations.Works && row.On == annotations.ServiceAnnotation && !bytes.Contains(text, []byte(row.Key)) {
			t.Errorf("no Service in testdata has %s", row.Key)
		}
	}
}
