package wire

import (
	"strconv"
	"strings"
	"testing"

	"github.com/berth-lb/berth/docs/permissions"
	simaws "github.com/berth-lb/berth/test/sim/aws"
)

// TestDryRuns: EC2 judges every dry run and carries nothing out, and each one checks an action of the role.
func TestDryRuns(t *testing.T) {
	r := newRig(t, simaws.Options{})
	roles, err := permissions.Of("aws")
	if err != nil {
		t.Fatal(err)
	}
	runs := r.session.dryRuns()
	if len(runs) == 0 {
		t.Error("there are no dry runs")
	}
	for action, dry := range runs {
		// The simulator lacks two reads that ELB makes for its caller, and refuses them.
		if code := codeOf(dry(t.Context())); code != "DryRunOperation" && code != "InvalidAction" {
			t.Errorf("%s: the answer is %q; a dry run that would be permitted is answered with DryRunOperation", action, code)
		}
		if !strings.Contains(string(roles[roleFile]), strconv.Quote(action)) {
			t.Errorf("%s is not in docs/permissions/%s", action, roleFile)
		}
	}
}
