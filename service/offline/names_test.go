package offline

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompletions: a shell offers the names of the cluster, and nothing without one.
func TestCompletions(t *testing.T) {
	c := Completions{Input{Kubeconfig: apiServer(t, false)}}
	for _, got := range [][2][]string{
		{{"svc/web"}, c.Services(t.Context())}, {{"c"}, c.Contexts(t.Context())}, {{"shop"}, c.Namespaces(t.Context())},
	} {
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	none := Completions{Input{Kubeconfig: filepath.Join(t.TempDir(), "none")}}
	if got := append(append(none.Services(t.Context()), none.Contexts(t.Context())...), none.Releases(t.Context())...); len(got) != 0 {
		t.Errorf("without a cluster: %q", got)
	}
}
