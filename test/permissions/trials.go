package permissions

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/berth-lb/berth/providers"
)

// Declares fails for each permission of the written role that the trials neither try nor declare as untried,
// and for each declared one that the role does not have. Root is the folder of the repository.
func (c Cloud) Declares(t *testing.T, root string, trials providers.Trials) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(root, "docs", "permissions", c.File))
	if err != nil {
		t.Fatal(err)
	}
	role, err := trials.Permissions(body)
	if err != nil || len(role) == 0 || trials.Role != c.File {
		t.Fatalf("%d permissions in %s (%s): %v", len(role), trials.Role, c.File, err)
	}
	for _, name := range role {
		tried, untried := len(trials.Calls[name]) > 0, slices.Contains(trials.Untried, name)
		switch {
		case tried && untried:
			t.Errorf("%s is tried and declared as untried", name)
		case !tried && !untried && !trials.ListsOnly:
			t.Errorf("%s is in the role, and no trial is declared for it. Add a call without effect, or declare it in Untried", name)
		}
	}
	declared := slices.Clone(trials.Untried)
	for name := range trials.Calls {
		declared = append(declared, name)
	}
	for _, name := range declared {
		if !slices.Contains(role, name) {
			t.Errorf("%s is declared, and the role does not have it", name)
		}
	}
}
