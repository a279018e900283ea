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
		want := "DryRunOperation"
		if action == "ec2:DescribeInternetGateways" || action == "ec2:DescribeAccountAttributes" {
			want = "InvalidAction" // reads of ELB for its caller, which the simulator lacks
		}
		if code := codeOf(dry(t.Context())); code != want {
			t.Errorf("%s: the answer is %q, want %q", action, code, want)
		}
		if !strings.Contains(string(roles[roleFile]), strconv.Quote(action)) {
			t.Errorf("%s is not in docs/permissions/%s", action, roleFile)
		}
	}
}
