package controlplane

import (
	"os"
	"regexp"
	"testing"
)

func TestVersion(t *testing.T) {
	release := regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)
	for _, module := range []string{"k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"} {
		version, err := Version(module)
		if err != nil {
			t.Errorf("%s: %v", module, err)
		}
		if !release.MatchString(version) {
			t.Errorf("%s: want a release, got %q", module, version)
		}
	}
	// A module that is only replaced is not required under its own version.
	for _, module := range []string{"example.com/none", "k8s.io/sample-apiserver"} {
		if version, err := Version(module); err == nil {
			t.Errorf("%s: want an error, got %q", module, version)
		}
	}
}

// TestVersionsOfTheProduct wants one version of every module that the control plane and the
// product both require: only then is what both import compiled once, and a machine that is
// new to the repository has minutes less to wait. After an update of either, `go get` the
// newer version in the other.
func TestVersionsOfTheProduct(t *testing.T) {
	product, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	ours := requiredVersions(GoMod())
	both := 0
	for module, version := range requiredVersions(string(product)) {
		if got := ours[module]; got != "" && got != version {
			t.Errorf("%s: the product requires %s, the control plane %s", module, version, got)
		} else if got != "" {
			both++
		}
	}
	if both < 50 {
		t.Errorf("only %d modules are required by both", both)
	}
}

// requiredVersions returns the versions in a go.mod, by module.
func requiredVersions(text string) map[string]string {
	required := regexp.MustCompile(`(?m)^(?:require)?\s*([a-z][^\s]*\.[^\s]*) (v[^\s]+)`)
	out := map[string]string{}
	for _, m := range required.FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2]
	}
	return out
}
