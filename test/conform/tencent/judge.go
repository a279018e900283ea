package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"

	"github.com/berth-lb/berth/test/conform/models"
)

// shape is what a value may be, as the program sdk prints it.
type shape struct {
	Kind   string
	Fields map[string]shape
	Item   *shape
}

// judge compares calls with the models of their actions.
type judge map[string]struct{ Request, Answer shape }

// newJudge asks the program sdk for the models.
func newJudge(ctx context.Context) (judge, error) {
	command := exec.CommandContext(ctx, "go", "run", ".")
	command.Dir = "sdk"
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go run ./sdk: %w", err)
	}
	var out judge
	return out, json.Unmarshal(text, &out)
}

// Judge returns the action of a call and its differences from the model. Refusals have no model.
func (j judge) Judge(c models.Call) (name string, differences []string) {
	name = c.HTTP.Header.Get("X-TC-Action")
	m, known := j[name]
	if !known {
		return name, []string{name + ": no model"}
	}
	var request, answer map[string]any
	if err := json.Unmarshal(c.Request, &request); err != nil {
		return name, []string{name + " request: " + err.Error()}
	}
	if err := json.Unmarshal(c.Answer, &answer); err != nil {
		return name, []string{name + " answer: " + err.Error()}
	}
	if inside, ok := answer["Response"].(map[string]any); ok && inside["Error"] != nil {
		return "", nil
	}
	return name, slices.Concat(m.Request.compare(name+" request", request), m.Answer.compare(name+" answer", answer))
}

// compare lists the keys of a value that its shape lacks, and values of other types. Null is a value of
// every type.
func (s shape) compare(path string, value any) []string {
	fits := true
	switch s.Kind {
	case "text":
		_, fits = value.(string)
	case "truth":
		_, fits = value.(bool)
	case "number":
		_, fits = value.(float64)
	case "list":
		var list []any
		if list, fits = value.([]any); fits {
			var out []string
			for _, item := range list {
				out = append(out, s.Item.compare(path+"[]", item)...)
			}
			return out
		}
	default:
		var object map[string]any
		if object, fits = value.(map[string]any); fits {
			return s.compareFields(path, object)
		}
	}
	if fits || value == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: is a %T, and a %s in the SDK", path, value, s.Kind)}
}

// compareFields compares the keys of an object.
func (s shape) compareFields(path string, object map[string]any) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		field, known := s.Fields[key]
		if !known {
			out = append(out, path+"."+key+": unknown")
			continue
		}
		out = append(out, field.compare(path+"."+key, object[key])...)
	}
	return out
}
