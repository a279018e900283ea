package offline

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack/plan"
)

// onlyStrings finds the values of annotations, labels and selector that are no
// strings, which the API server refuses with an error that does not name the
// key. They are turned into the strings that were meant, so that the rest of
// the object can be judged as well.
func onlyStrings(object map[string]any) []plan.Problem {
	metadata, _ := object["metadata"].(map[string]any)
	spec, _ := object["spec"].(map[string]any)
	var out []plan.Problem
	for _, place := range []struct {
		values any
		prefix string
	}{
		{metadata["annotations"], ""}, // annotations are named by their key alone, as everywhere else
		{metadata["labels"], "metadata.labels."},
		{spec["selector"], "spec.selector."},
	} {
		values, _ := place.values.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			text, what := stringOf(values[key])
			values[key] = text
			if what != "" {
				out = append(out, plan.Problem{Severity: plan.Error, Code: string(annotations.CodeField), Where: place.prefix + key, Text: what})
			}
		}
	}
	return out
}

// stringOf returns the string that was meant and, if it was not written as one,
// what to say about it.
func stringOf(value any) (text, what string) {
	switch v := value.(type) {
	case string:
		return v, ""
	case nil: // the API server takes it for the empty string
		return "", ""
	case bool:
		text = strconv.FormatBool(v)
		return text, fmt.Sprintf("is the boolean %s, but must be a string; quote it: %q", text, text)
	case json.Number:
		return v.String(), fmt.Sprintf("is the number %s, but must be a string; quote it: %q", v, v)
	case []any:
		return "", "is a list, but must be a string"
	default:
		return "", "is a map, but must be a string"
	}
}
