package conform

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/aws"
	"github.com/berth-lb/berth/test/harness"
)

// fill puts the ids of the simulated cloud into a text of testdata.
func (w *world) fill(text []byte) []byte {
	w.t.Helper()
	at := func(list []string) func(int) string { return func(i int) string { return list[i] } }
	var addresses []string
	for _, a := range w.seed.Addresses {
		addresses = append(addresses, a.AllocationID)
	}
	parsed, err := template.New("").Funcs(template.FuncMap{
		"public":           at(w.seed.PublicSubnets()),
		"private":          at(w.seed.PrivateSubnets()),
		"group":            at(w.groups),
		"address":          at(addresses),
		"privateAddresses": w.privateAddresses,
	}).Parse(string(text))
	w.must(err)
	var out bytes.Buffer
	w.must(parsed.Execute(&out, nil))
	return out.Bytes()
}

// privateAddresses are free addresses of the first two private subnets, in the
// order in which the official controller goes through them: by id.
func (w *world) privateAddresses() string {
	ids := slices.Clone(w.seed.PrivateSubnets()[:2])
	slices.Sort(ids)
	var out []string
	for _, id := range ids {
		for _, s := range w.seed.Subnets {
			if s.ID == id {
				at := netip.MustParsePrefix(s.CIDR).Addr().As4()
				at[3] = 200
				out = append(out, netip.AddrFrom4(at).String())
			}
		}
	}
	return strings.Join(out, ",")
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
		out[i].Labels = map[string]string{"kind": out[i].Name[:3]}
	}
	return out
}

// coverage sees that every annotation that works is on some Service of testdata.
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
	for _, row := range annotations.Rows(aws.Annotations()) {
		if row.Support == annotations.Works && row.On == annotations.ServiceAnnotation && !bytes.Contains(text, []byte(row.Key)) {
			t.Errorf("no Service in testdata has %s", row.Key)
		}
	}
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
