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

// Services returns the Services in testdata for a cloud configuration, or the common ones if
// it has none of its own.
func (w *World) Services(config string) []corev1.Service {
	w.T.Helper()
	text := readOptional(w.T, config, "services.yaml")
	if text == nil {
		text = readOptional(w.T, "", "services.yaml")
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

// referring begins the value of an annotation that names another Service.
const referring = "service/"

// built creates Services and waits until the official controller has built for them: first
// for Services that name no other, and then for the ones that do, one after the other, since
// not every official controller can build shared resources in parallel.
func (w *World) built(services []corev1.Service) {
	w.T.Helper()
	key := w.suite.Refers
	var later []corev1.Service
	first := slices.DeleteFunc(slices.Clone(services), func(s corev1.Service) bool {
		refers := key != "" && strings.HasPrefix(s.Annotations[key], referring)
		if refers {
			later = append(later, s)
		}
		return refers
	})
	w.Must(w.Create(w.T.Context(), first...))
	w.Eventually("the official controller builds", w.Addressed(first...))
	for _, s := range later {
		other, err := w.Get(w.T.Context(), s.Namespace, strings.TrimPrefix(s.Annotations[key], referring))
		w.Must(err)
		s = *s.DeepCopy()
		s.Annotations[key] = other.Annotations[key]
		w.Must(w.Create(w.T.Context(), s))
		w.Eventually("the official controller builds for "+s.Name, w.Addressed(s))
	}
}

// deleted deletes Services and waits until the official controller has released them: all at
// once, except that Services which name a load balancer are deleted one after the other.
// OpenStack's controller reads the tags of a load balancer when it begins with a Service, and
// writes them without that Service's own when it ends, with no lock: of two concurrent
// deletions the second one permanently restores the tag that the first one has removed.
// Source: kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer.go
// (ensureLoadBalancerDeleted).
func (w *World) deleted(services []corev1.Service) {
	w.T.Helper()
	var one, all []corev1.Service
	for _, s := range services {
		if s.Annotations[w.suite.Refers] != "" {
			one = append(one, s)
		} else {
			all = append(all, s)
		}
	}
	for _, s := range one {
		w.Must(w.Delete(w.T.Context(), s))
		w.Eventually("the official controller deletes "+s.Name, w.Gone(s))
	}
	w.Must(w.Delete(w.T.Context(), all...))
	w.Eventually("the official controller deletes", w.Gone(all...))
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

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Coverage verifies that every annotation of working Services is on some Service of testdata,
// except for annotations that the official controller does not read: those of other kinds,
// and our own.
func Coverage(t *testing.T, declared *annotations.Set, unread func(annotations.Row) bool) {
	t.Helper()
	var text []byte
	files, err := filepath.Glob(filepath.Join("testdata", "*", "services.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	// Configurations without Services of their own run those of the folder above.
	if common := filepath.Join("testdata", "services.yaml"); fileExists(common) {
		files = append(files, common)
	}
	for _, path := range files {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, body...)
	}
	for _, row := range annotations.Rows(declared) {
		if row.Support == annotations.Works && row.On == annotations.ServiceAnnotation && !unread(row) && !strings.HasPrefix(row.Key, "berth-lb.io/") && !keyPattern(row.Key).Match(text) {
			t.Errorf("no Service in testdata has %s", row.Key)
		}
	}
}

// keyPattern matches a key, or a key of any port.
func keyPattern(key string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(key), `\{port\}`, `\d+`))
}
