package annotations

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MapLenient reads "k=v,k2=v2" as the AWS cloud provider does: pieces are
// trimmed, a piece without "=" has the empty value, text after a second "=" is
// lost, an empty key drops the piece, nothing is an error.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer.go.
func MapLenient() Type[map[string]string] {
	return Custom("map", "key=value pairs separated by commas", func(raw string) (map[string]string, error) {
		return lenientMap(raw), nil
	})
}

func lenientMap(raw string) map[string]string {
	out := map[string]string{}
	for _, piece := range strings.Split(strings.TrimSpace(raw), ",") {
		parts := strings.Split(strings.TrimSpace(piece), "=")
		if parts[0] == "" {
			continue
		}
		value := ""
		if len(parts) > 1 {
			value = parts[1]
		}
		out[parts[0]] = value
	}
	return out
}

// MapStrict reads "k=v,k2=v2" as the AWS Load Balancer Controller does: a
// backslash takes the next character as it is, the value may hold "=", a piece
// without "=" or with an empty key is bad, the empty text is the empty map.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/annotations/parser.go.
func MapStrict() Type[map[string]string] {
	legal := `key=value pairs separated by commas, with a backslash before a comma that belongs to a value`
	return Custom("map", legal, strictMap)
}

func strictMap(raw string) (map[string]string, error) {
	out := map[string]string{}
	if raw == "" {
		return out, nil
	}
	for _, piece := range splitEscaped(raw) {
		if piece.equals < 0 {
			return nil, fmt.Errorf("has the piece %s without \"=\"", quote(piece.text))
		}
		key := strings.TrimSpace(piece.text[:piece.equals])
		if key == "" {
			return nil, errors.New("has a piece with an empty key")
		}
		out[key] = strings.TrimSpace(piece.text[piece.equals:])
	}
	return out, nil
}

// piece is one pair without its backslashes; equals is where the value starts,
// with the first bare "=" taken out, or -1.
type piece struct {
	text   string
	equals int
}

func splitEscaped(raw string) []piece {
	var out []piece
	var text strings.Builder
	equals, escaped := -1, false
	flush := func() {
		out = append(out, piece{text: text.String(), equals: equals})
		text.Reset()
		equals = -1
	}
	for _, r := range raw {
		switch {
		case escaped:
			text.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == ',':
			flush()
		case r == '=' && equals < 0:
			equals = text.Len()
		default:
			text.WriteRune(r)
		}
	}
	flush()
	return out
}

// Only limits the keys of a map; use it with Checked.
func Only(keys ...string) func(map[string]string) error {
	return func(values map[string]string) error {
		for _, key := range sortedKeys(values) {
			if !slices.Contains(keys, key) {
				return fmt.Errorf("has key %s, only %s can be set", quote(key), and(keys))
			}
		}
		return nil
	}
}

// A Requirement is one condition on labels.
type Requirement struct {
	Key    string
	Value  string
	Exists bool // the key alone counts, whatever its value
}

// A Selector is a list of requirements sorted by key; all must hold. The empty
// selector holds for everything.
type Selector []Requirement

// Matches tells whether the labels fulfil the selector.
func (s Selector) Matches(labels map[string]string) bool {
	for _, r := range s {
		value, ok := labels[r.Key]
		if !ok || !r.Exists && value != r.Value {
			return false
		}
	}
	return true
}

// SelectorLenient reads a selector with MapLenient's rules; an empty value means
// that the label must exist.
func SelectorLenient() Type[Selector] {
	return Custom("label selector", "key=value pairs separated by commas", func(raw string) (Selector, error) {
		return selector(lenientMap(raw), true), nil
	})
}

// SelectorStrict reads a selector with MapStrict's rules; values match exactly.
func SelectorStrict() Type[Selector] {
	return Custom("label selector", "key=value pairs separated by commas", func(raw string) (Selector, error) {
		values, err := strictMap(raw)
		return selector(values, false), err
	})
}

func selector(values map[string]string, emptyExists bool) Selector {
	out := Selector{}
	for _, key := range sortedKeys(values) {
		out = append(out, Requirement{Key: key, Value: values[key], Exists: emptyExists && values[key] == ""})
	}
	return out
}
