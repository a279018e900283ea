package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/golden"
)

const wantsAddress = `apiVersion: v1
kind: Service
metadata: {name: shop, namespace: tenant}
spec:
  type: LoadBalancer
  loadBalancerIP: 20.1.2.3
  ports: [{port: 80}]
`

// TestCheckPolicy: a file is held against the policy that the controller has.
func TestCheckPolicy(t *testing.T) {
	dir := t.TempDir()
	service, policy := filepath.Join(dir, "service.yaml"), filepath.Join(dir, "policy.yaml")
	for path, text := range map[string]string{
		service: wantsAddress, policy: "rules: [{name: addresses, namespaces: ['*'], names: {address: []}}]\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		flags []string
		code  int
		words string
	}{
		"no policy":         {nil, 0, ""},
		"policy":            {[]string{"--policy-config", policy}, 1, `rule "addresses"`},
		"other namespaces":  {[]string{"--allowed-namespaces", "shops-*"}, 1, "metadata.namespace"},
		"allowed namespace": {[]string{"--allowed-namespaces", "ten*"}, 0, ""},
	} {
		for _, cloud := range []string{"azure", "gce"} {
			t.Run(name+" "+cloud, func(t *testing.T) {
				got := runBerth(t, "", append([]string{"check", "-f", service, "--provider", cloud, "--width", "200"}, tc.flags...)...)
				if got.code != tc.code || !strings.Contains(got.out, tc.words) {
					t.Errorf("code %d, want %d, and %q in:\n%s%s", got.code, tc.code, tc.words, got.out, got.err)
				}
			})
		}
	}
}

// TestCheckFolder: a folder is read with its subfolders, other objects than Services are
// skipped, each Service is checked for its own cloud and class, and every problem has a
// code and a place, in every form.
func TestCheckFolder(t *testing.T) {
	for _, form := range []string{"human", "json", "sarif", "junit", "github"} {
		t.Run(form, func(t *testing.T) {
			got := runBerth(t, "", "check", "-o", form, "--width", "160", "testdata/check/deploy")
			if got.code != 1 {
				t.Errorf("exit code %d, want 1", got.code)
			}
			golden.Check(t, "testdata/check/"+form+".golden", got.out+"--- stderr\n"+got.err)
		})
	}
}

// TestCheckFailOn: the severity decides on the exit code, and on nothing else.
func TestCheckFailOn(t *testing.T) {
	warning := writeFile(t, "warning.yaml", strings.Replace(serviceYAML("a", ""), "type: nlb", "tpye: nlb", 1))
	fault := writeFile(t, "fault.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {type: LoadBalancer, ports: [{port: 99999}]}\n")
	broken := writeFile(t, "broken.yaml", "a: [")
	for _, tc := range []struct {
		file, failOn string
		code         int
	}{
		{warning, "error", 0},
		{warning, "warning", 1},
		{warning, "never", 0},
		{fault, "error", 1},
		{fault, "never", 0},
		{broken, "error", 1},
		{broken, "never", 0},
		{fault, "sometimes", 1},
	} {
		got := runBerth(t, "", "check", "--provider", "aws", "--fail-on", tc.failOn, tc.file)
		if got.code != tc.code {
			t.Errorf("%s with %s: exit code %d, want %d\n%s%s", filepath.Base(tc.file), tc.failOn, got.code, tc.code, got.out, got.err)
		}
	}
}

// TestCheckExamplesOfOthers: the examples of a cloud do not pass for another one.
func TestCheckExamplesOfOthers(t *testing.T) {
	for provider, others := range map[string][]string{"aws": {"azure", "gce"}, "gce": {"aws", "azure"}, "azure": {"aws", "gce"}} {
		for _, other := range others {
			got := runBerth(t, "", "check", "--provider", provider, "../../examples/"+other)
			if got.code != 1 || !strings.Contains(got.out, "BRT204") || !strings.Contains(got.out, "BRT203") {
				t.Errorf("examples of %s for %s: exit code %d\n%s", other, provider, got.code, got.out)
			}
		}
	}
}

// TestCheckQuiet: nothing is said of files without problems, and only the problems of others.
func TestCheckQuiet(t *testing.T) {
	good := runBerth(t, wantsAddress, "check", "--quiet", "--provider", "azure", "-")
	if good.code != 0 || good.out+good.err != "" {
		t.Errorf("exit code %d, %q, %q", good.code, good.out, good.err)
	}
	bad := runBerth(t, strings.Replace(wantsAddress, "port: 80", "port: 80000", 1), "check", "--quiet", "--provider", "azure", "-")
	if bad.code != 1 || !strings.Contains(bad.out, "80000") || strings.Contains(bad.out, "checked:") || bad.err != "" {
		t.Errorf("exit code %d, %q, %q", bad.code, bad.out, bad.err)
	}
}
