package sessions

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
)

// State returns all objects that are in a simulated cloud, as comparable texts by their
// identifiers, which a function finds in them; an empty one is of no object. Of an object
// that is shown in others as well, in part, the longest text counts.
func State(t testing.TB, c *sim.Control, id func(object map[string]any) string) map[string]string {
	t.Helper()
	body, err := json.Marshal(c.State())
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		t.Fatal(err)
	}
	props.Drop(tree, "etag")
	out := map[string]string{}
	collectObjects(tree, id, out)
	return out
}

func collectObjects(tree any, id func(map[string]any) string, out map[string]string) {
	switch v := tree.(type) {
	case map[string]any:
		if key := id(v); key != "" {
			if text, _ := json.Marshal(v); len(text) > len(out[key]) {
				out[key] = string(text)
			}
		}
		for _, more := range v {
			collectObjects(more, id, out)
		}
	case []any:
		for _, more := range v {
			collectObjects(more, id, out)
		}
	}
}

// Steps are the steps of a plan, a line each.
func Steps(p plan.Plan) string {
	out := ""
	for _, s := range p.Steps {
		out += fmt.Sprintf("\n  %s: %+v", s.ID, s.Changes)
	}
	for _, h := range p.Blocked {
		out += fmt.Sprintf("\n  held %s: %s", h.Step.ID, h.Why)
	}
	return out
}
