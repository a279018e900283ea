package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// call matches an operation that is handed on or called on one of the session's
// clients.
var call = regexp.MustCompile(`\.(ec2|classic|network)\.((?:Add|Apply|Attach|Authorize|Configure|Create|Delete|Deregister|Describe|Detach|Modify|Register|Remove|Revoke|Set)[A-Z]\w+)`)

// TestIAMActions compares the policy in docs/security.md with the calls in the
// source: an action too few stops the controller, one too many is a right that
// nobody needs.
func TestIAMActions(t *testing.T) {
	files, err := filepath.Glob(root + "/providers/aws/*.go")
	if err != nil {
		t.Fatal(err)
	}
	// Tags in a creating call need the right to tag as well.
	wanted := []string{"ec2:CreateTags", "elasticloadbalancing:AddTags"}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(body), -1) {
			service := "elasticloadbalancing"
			if m[1] == "ec2" {
				service = "ec2"
			}
			wanted = append(wanted, service+":"+m[2])
		}
	}
	slices.Sort(wanted)
	if diff := cmp.Diff(slices.Compact(wanted), granted(t)); diff != "" {
		t.Errorf("docs/security.md (-called +granted):\n%s", diff)
	}
}

// granted are the actions of the policy, sorted.
func granted(t *testing.T) []string {
	t.Helper()
	body, err := os.ReadFile(root + "/docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(body), "```json\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/security.md has no policy")
	}
	var policy struct {
		Statement []struct {
			Action []string `json:"Action"`
		} `json:"Statement"`
	}
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range policy.Statement {
		if !slices.IsSorted(s.Action) {
			t.Errorf("actions are not sorted: %s", s.Action[0])
		}
		out = append(out, s.Action...)
	}
	slices.Sort(out)
	return out
}
