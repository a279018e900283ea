package annotations

import (
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
// backslash takes the next character as it is, the value may hold "=", keys and
// values are trimmed, a piece without "=" or with an empty key is bad, the empty
// text is the empty map. A comma at the very end is noted and ignored; there it
// becomes part of the last value, which cannot be intended.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/annotations/parser.go.
func MapStrict() Type[map[string]string] {
	legal := "key=value pairs separated by commas, with a backslash before a comma that belongs to a value"
	return Type[map[string]string]{
		facts: facts{name: "map", head: legal},
		parse: func(raw string, _ scope) (map[string]string, []string, error) { return strictMap(raw) },
	}
}

func strictMap(raw string) (map[string]string, []string, error) {
	out := map[string]string{}
	if raw == "" {
		return out, nil, nil
	}
	var notes []string
	pieces := splitEscaped(raw)
	if last := len(pieces) - 1; last > 0 && strings.TrimSpace(pieces[last]) == "" {
		pieces = pieces[:last]
		notes = append(notes, "ends with a comma, which is ignored")
	}
	for _, piece := range pieces {
		key, value, found := strings.Cut(piece, "=")
		if !found {
			return nil, nil, fmt.Errorf("has the piece %s, which has no \"=\"", quoteValue(strings.TrimSpace(piece)))
		}
		if key = strings.TrimSpace(key); key == "" {
			return nil, nil, fmt.Errorf("has the piece %s, which has no key", quoteValue(strings.TrimSpace(piece)))
		}
		out[key] = strings.TrimSpace(value)
	}
	return out, notes, nil
}

// splitEscaped splits at bare commas and takes the backslashes out. A backslash
// at the very end stands for itself.
func splitEscaped(raw string) []string {
	var out []string
	var text strings.Builder
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '\\' && i+1 < len(raw):
			i++
			text.WriteByte(raw[i])
		case raw[i] == ',':
			out = append(out, text.String())
			text.Reset()
		default:
			text.WriteByte(raw[i])
		}
	}
	return append(out, text.String())
}

// Only limits the keys of a map; use it with Checked.
func Only(keys ...string) func(map[string]string) error {
	return func(values map[string]string) error {
		for _, key := range sortedKeys(values) {
			if !slices.Contains(keys, key) {
				return fmt.Errorf("has key %s, only %s can be set", quoteValue(key), joinAnd(keys))
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

// Matches reports whether the labels fulfil the selector.
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
		return newSelector(lenientMap(raw), true), nil
	})
}

// SelectorStrict reads a selector with MapStrict's rules; values match exactly.
func SelectorStrict() Type[Selector] {
	return Type[Selector]{
		facts: facts{name: "label selector", head: "key=value pairs separated by commas"},
		parse: func(raw string, _ scope) (Selector, []string, error) {
			values, notes, err := strictMap(raw)
			return newSelector(values, false), notes, err
		},
	}
}

func newSelector(values map[string]string, emptyExists bool) Selector {
	out := Selector{}
	for _, key := range sortedKeys(values) {
		out = append(out, Requirement{Key: key, Value: values[key], Exists: emptyExists && values[key] == ""})
	}
	return out
}
