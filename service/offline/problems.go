package offline

import (
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack/plan"
)

// publicProblems are problems of annotations in the form of a document.
func publicProblems(problems annotations.Problems) []plan.Problem {
	var out []plan.Problem
	for _, p := range problems.Sorted() {
		severity := plan.Error
		if p.Severity == annotations.Warning {
			severity = plan.Warning
		}
		text := strings.TrimPrefix(p.String(), p.Key+": ")
		out = append(out, plan.Problem{Severity: severity, Code: string(annotations.CodeOf(p)), Where: p.Key, Text: text})
	}
	return out
}
