package plan_test

import (
	"regexp"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// TestToken: the same wish of the same owner has one token, in every process, and
// nothing else has it.
func TestToken(t *testing.T) {
	type spec struct {
		Port int
		Idle *int
		To   stack.Ref
	}
	make := func(change func(*plan.Step)) plan.Step {
		s := plan.Step{
			ID:     plan.StepID{Owner: stack.Owner{Namespace: "shop", Name: "web", UID: "1"}, Key: newKey("listener", "80"), Action: plan.Create},
			Target: stack.Resource{Key: newKey("listener", "80"), Spec: spec{Port: 80, Idle: new(60), To: stack.RefTo(newKey("lb", ""))}},
		}
		change(&s)
		return s
	}
	token := func(change func(*plan.Step)) string { return plan.Batch{}.Token(make(change)) }
	same := token(func(*plan.Step) {})
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(same) {
		t.Errorf("no UUID: %s", same)
	}
	for name, change := range map[string]func(*plan.Step){
		"made again":        func(*plan.Step) {},
		"what it needs":     func(s *plan.Step) { s.Needs = []plan.StepID{{}} },
		"a renamed Service": func(s *plan.Step) { s.ID.Owner.Name = "www" },
	} {
		if got := token(change); got != same {
			t.Errorf("%s: another token", name)
		}
	}
	for name, change := range map[string]func(*plan.Step){
		"another Service":   func(s *plan.Step) { s.ID.Owner.UID = "2" },
		"another key":       func(s *plan.Step) { s.ID.Key.Name = "81" },
		"another spec":      func(s *plan.Step) { s.Target.Spec = spec{Port: 80, Idle: new(61)} },
		"another part":      func(s *plan.Step) { s.ID.Part = "tags" },
		"members":           func(s *plan.Step) { s.Changes = []plan.Change{{Field: "x", Added: []any{"i-1"}}} },
		"in the same call":  func(s *plan.Step) { s.With = []stack.Resource{{Key: newKey("part", "")}} },
		"no JSON has this":  func(s *plan.Step) { s.Target.Spec = struct{ F func() }{} },
		"a creation's end ": func(s *plan.Step) { s.ID.Action = plan.Delete },
	} {
		if got := token(change); got == same {
			t.Errorf("%s: the same token", name)
		}
	}
}
