package controlplane

import (
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
