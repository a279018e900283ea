package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
				got := berth(t, "", append([]string{"check", "-f", service, "--provider", cloud, "--width", "200"}, tc.flags...)...)
				if got.code != tc.code || !strings.Contains(got.out, tc.words) {
					t.Errorf("code %d, want %d, and %q in:\n%s%s", got.code, tc.code, tc.words, got.out, got.err)
				}
			})
		}
	}
}
