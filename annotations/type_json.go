package annotations

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// JSONOf reads a JSON text into T. A field that T does not have is a warning and
// not an error, because official controllers ignore it. The rule may be nil.
func JSONOf[T any](legal string, rule func(T) error) Type[T] {
	t := Type[T]{
		facts: facts{name: "json", head: legal},
		parse: func(raw string, _ scope) (T, []string, error) { return parseJSON[T](raw) },
	}
	if rule == nil {
		return t
	}
	return t.Checked(rule)
}

func parseJSON[T any](raw string) (T, []string, error) {
	value, err := decodeJSON[T](raw, false)
	if err != nil {
		return value, nil, fmt.Errorf("is not legal JSON here: %w", err)
	}
	// Only an unknown field can make the strict reading fail after the other.
	if _, err := decodeJSON[T](raw, true); err != nil {
		return value, []string{"has a field that is ignored: " + err.Error()}, nil
	}
	return value, nil, nil
}

func decodeJSON[T any](raw string, strict bool) (T, error) {
	var value, none T
	decoder := json.NewDecoder(strings.NewReader(raw))
	if strict {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(&value); err != nil {
		return none, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return none, errors.New("text after the JSON value")
	}
	return value, nil
}
