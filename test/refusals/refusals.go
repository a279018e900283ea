package refusals

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/test/golden"
)

// Check compares the conditions of the answers, in the order given, with the file. The fault of
// an answer is what the cloud's session makes of it.
func Check(t testing.TB, path string, faultOf func(kit.Refusal) error, answers ...kit.Refusal) {
	t.Helper()
	var out strings.Builder
	for _, said := range answers {
		cond := conditions.Failed(faultOf(said))
		fmt.Fprintf(&out, "%s: %s\n  %s: %s\n", strings.TrimSpace(fmt.Sprint(said.Status, " ", said.Code)), said.Text, cond.Reason, cond.Message)
	}
	golden.Check(t, path, out.String())
}
