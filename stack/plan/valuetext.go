package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// none represents a value that is not set.
const none = "(none)"

// valueText returns a plain JSON value for people, on one line. Strings are quoted, so
// that "80", 80 and an empty string differ and no control sequence reaches the
// terminal.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return none
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case string:
		if v == Secret {
			return v
		}
		return strconv.Quote(v)
	case []any:
		return listText(v)
	case map[string]any:
		return mapText(v)
	default: // not from NewDocument or Decode
		return strconv.Quote(fmt.Sprint(v))
	}
}

func listText(list []any) string {
	texts := make([]string, 0, len(list))
	for _, m := range list {
		texts = append(texts, valueText(m))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func mapText(m map[string]any) string {
	if ref, ok := refText(m); ok {
		return ref
	}
	texts := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !isUnset(m[k]) {
			texts = append(texts, nameText(k)+": "+valueText(m[k]))
		}
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// refText returns a reference: its target, and whether that exists.
func refText(m map[string]any) (string, bool) {
	ref, ok := m[refMember].(string)
	if !ok {
		return "", false
	}
	unknown, _ := m[unknownMember].(bool)
	switch {
	case len(m) == 1:
		return ref, true
	case len(m) == 2 && unknown:
		return ref + " (known after apply)", true
	default:
		return "", false
	}
}

// nameText returns the name of a member; names that are no words are quoted.
func nameText(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) || strings.ContainsRune(" \":,={}", r) }) {
		return strconv.Quote(name)
	}
	return name
}

// isUnset reports whether a value is null or empty. Zero and false are values.
func isUnset(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}
