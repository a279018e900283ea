package diff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

type guests struct {
	Names []string
	Late  string // class of these members; not compared
}

// TestSetClasses: members of a class are added and removed by steps of their own, which edges
// order by the name of the class.
func TestSetClasses(t *testing.T) {
	class := func(want stack.Spec, member any) string {
		spec, _ := want.(guests)
		if name, _ := member.(string); spec.Late != "" && strings.HasPrefix(name, spec.Late) {
			return "late"
		}
		return ""
	}
	rules := diff.Rules{
		Kinds: map[stack.Kind]diff.Rule{"guests": {Fields: diff.Fields{Ignore: []string{"Late"}, Sets: map[string]diff.Set{"Names": {Class: class, Chunk: 2}}}}},
		Edges: []diff.Edge{{First: diff.Match{Kind: "guests", Part: "names-"}, Then: diff.Match{Kind: "guests", Part: "late+"}, Reason: "the class has an order of its own"}},
	}
	key := stack.Key{Kind: "guests"}
	of := func(spec guests) *stack.Stack {
		return &stack.Stack{Resources: []stack.Resource{{Key: key, ID: "id", Proof: stack.Name, Spec: spec}}}
	}
	got := map[string]string{}
	for _, s := range diff.Compare(of(guests{[]string{"b1", "z1", "z2", "z3"}, "z"}), of(guests{[]string{"a1", "z0"}, ""}), rules, ledger.New()).Steps {
		var needs []string
		for _, id := range s.Needs {
			needs = append(needs, id.Part)
		}
		slices.Sort(needs)
		got[s.ID.Part] = fmt.Sprint(s.Changes[0].Added, s.Changes[0].Removed, needs)
		if s.ID.Action != plan.Update {
			t.Errorf("step %s", s.ID)
		}
	}
	want := map[string]string{
		"names+": "[b1] [] []", "names-": "[] [a1] [names+]", "late+": "[z1 z2] [] [names-]", "late+2": "[z3] [] [names-]", "late-": "[] [z0] [late+ late+2]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
