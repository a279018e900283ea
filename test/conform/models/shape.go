package models

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
)

// Shape is what a value may be.
type Shape struct {
	Kind   string           `json:"Kind"`   // object, list, text, number, truth or any
	Fields map[string]Shape `json:"Fields"` // of an object
	Item   *Shape           `json:"Item"`   // of a list
}

// Action has the shapes of a call.
type Action struct {
	Request Shape `json:"Request"`
	Answer  Shape `json:"Answer"`
}

// Load runs the program in a folder, which is a module of its own and prints the shapes of a vendor's SDK by the
// names of actions.
func Load(ctx context.Context, folder string, args ...string) (map[string]Action, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"run", "."}, args...)...)
	command.Dir = folder
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go run ./%s: %w", folder, err)
	}
	var out map[string]Action
	err = json.Unmarshal(text, &out)
	return out, err
}

// Compare lists the keys of a value that its shape lacks, and values of other types. Null is a value of
// every type.
func (s Shape) Compare(path string, value any) []string {
	fits := true
	switch s.Kind {
	case "any":
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
				out = append(out, s.Item.Compare(path+"[]", item)...)
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
func (s Shape) compareFields(path string, object map[string]any) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		field, known := s.Fields[key]
		if !known {
			out = append(out, path+"."+key+": unknown")
			continue
		}
		out = append(out, field.Compare(path+"."+key, object[key])...)
	}
	return out
}
