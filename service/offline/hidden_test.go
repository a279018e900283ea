package offline

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack/plan"
)

// TestOnly: a report of which nothing is shown names the hidden Services, and does not say that there was no
// Service to plan.
func TestOnly(t *testing.T) {
	changed := plan.Doc{Steps: []plan.StepDoc{{ID: "create it"}}}
	for _, tc := range []struct {
		plans []plan.Doc
		left  []Left
		only  string
		want  string
	}{
		{nil, nil, OnlyChanges, "There is no Service to plan for."},
		{[]plan.Doc{{}, {}}, nil, OnlyChanges, "Not shown: 2 Services without changes."},
		{[]plan.Doc{{}}, []Left{{}}, OnlyErrors, "Not shown: 2 Services without errors."},
		{[]plan.Doc{changed}, nil, OnlyInterrupting, "Not shown: 1 Service without steps that interrupt traffic."},
		{[]plan.Doc{changed, {}}, nil, OnlyChanges, ""},
	} {
		r := Report{Document: plan.Document{Plans: tc.plans}, Left: tc.left}.Only(tc.only)
		for _, format := range []string{"human", "brief"} {
			got, err := r.Render(format, plan.Options{})
			if format == "brief" && len(tc.plans) == 0 {
				continue // it says that in fewer words
			}
			if err != nil || !strings.Contains(got, tc.want) || tc.want == "" && strings.Contains(got, "Not shown") {
				t.Errorf("--only %s, %s: got %q, %v, want %q", tc.only, format, got, err, tc.want)
			}
		}
	}
}
