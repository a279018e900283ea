package wire

import (
	"encoding/json"

	"github.com/berth-lb/berth/test/sim/rest"
)

// Object is a JSON object. Numbers are float64, lists are []any, and nested objects are
// Objects too after Decode or Clone.
type Object = rest.Object

// Decode reads a JSON object.
func Decode(data []byte) (Object, error) {
	var raw map[string]any
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, Malformed("%v", err)
	}
	return Object(raw).Clone(), nil
}

// Texts makes a list of texts, nil of none.
func Texts[T ~string](values ...T) any {
	if len(values) == 0 {
		return nil
	}
	out := make([]any, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}
