package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRenderPolicy: bad input is an error, and the settings that the API server does not enforce are
// listed on standard error.
func TestRenderPolicy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte("rules: [{name: inside, namespaces: [a], forbidInternet: true, maxRules: 3}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args     []string
		code     int
		out, err string
	}{
		"rule":       {[]string{"--policy-config", file}, 0, "kind: ValidatingAdmissionPolicyBinding\nmetadata:\n  name: berth-lb-inside", "rule inside: maxRules is enforced by the controller alone"},
		"namespaces": {[]string{"--allowed-namespaces", "team-*"}, 0, "name: berth-lb-namespaces", ""},
		"no policy":  {nil, 1, "", "--policy-config"},
		"no file":    {[]string{"--policy-config", file + "x"}, 1, "", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runBerth(t, "", append([]string{"policy", "render", "--provider", "azure"}, c.args...)...)
			if got.code != c.code || !strings.Contains(got.out, c.out) || !strings.Contains(got.err, c.err) {
				t.Errorf("exit code %d\n%s\n%s", got.code, got.out, got.err)
			}
		})
	}
}
