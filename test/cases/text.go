package cases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Text renders a stack for people: one block for each resource, whose fields the
// provider renders, an empty text for one that says nothing. One that starts with
// a line break is a list.
func Text(s *stack.Stack, field func(any) string) string {
	var b strings.Builder
	for _, r := range s.Resources {
		b.WriteString(r.Key.String())
		if r.In != (stack.Key{}) {
			fmt.Fprintf(&b, "  in %s", r.In)
		}
		switch r.Ownership {
		case stack.Shared:
			b.WriteString("  (shared)")
		case stack.External:
			b.WriteString("  (external)")
		case stack.Owned:
		}
		if r.Slot != "" {
			fmt.Fprintf(&b, "  [%s]", r.Slot)
		}
		b.WriteString("\n")
		for _, f := range stack.Fields(r.Spec) {
			if text := field(f.Value); text != "" {
				b.WriteString("    " + f.Name + ":")
				writeValue(&b, text)
			}
		}
	}
	return b.String()
}

// writeValue writes a text behind the name of its field, or below it if it is a
// list, which starts with a line break.
func writeValue(b *strings.Builder, text string) {
	if !strings.HasPrefix(text, "\n") {
		b.WriteString(" ")
	}
	b.WriteString(strings.ReplaceAll(text, "\n", "\n        ") + "\n")
}

// Short shortens references: {"to":{"kind":"k","name":"n"}} becomes ->k/n.
func Short(text string) string {
	return strings.NewReplacer(`{"to":{"kind":"`, `->`, `","name":"`, `/`, `"}}`, ``).Replace(text)
}

// Told returns the messages to the user, line by line.
func Told(problems annotations.Problems) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s: %s\n", weightOf(p), p)
	}
	return b.String()
}

// PlanText is a plan as the command line prints it.
func PlanText(cloud string, p plan.Plan) string {
	return plan.Human(plan.NewDocument(cloud, []plan.Plan{p}), plan.Options{})
}

// LeftOver lists found resources of ours that are not desired, that no step deletes and that
// are not deleted with their parents.
func LeftOver(to, have *stack.Stack, p plan.Plan, rules diff.Rules) []stack.Key {
	var out []stack.Key
	for _, r := range have.Resources {
		if _, wanted := to.Get(r.Key); wanted || r.Proof == stack.None {
			continue
		}
		within := rules.Kinds[r.Key.Kind].Within
		gone := slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.ID.Action == plan.Delete && s.ID.Key == r.Key })
		if !gone && !within.Cascade && !within.Inherent {
			out = append(out, r.Key)
		}
	}
	return out
}

// weightOf returns the weight of a problem.
func weightOf(p annotations.Problem) string {
	if p.Unapplied {
		return "not applied"
	}
	return p.Severity.String()
}
