package arm

import (
	"encoding/json"
	"strconv"
)

// Doc is one JSON object. A stored Doc is never changed; a write replaces it.
type Doc = map[string]any

// Clone returns a deep copy of a JSON value.
func Clone[T any](v T) T {
	out, _ := cloneValue(v).(T)
	return out
}

func cloneValue(v any) any {
	switch x := v.(type) {
	case Doc:
		out := make(Doc, len(x))
		for k, e := range x {
			out[k] = cloneValue(e)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = cloneValue(e)
		}
		return out
	}
	return v
}

// Value walks down the path; nil when something on it is missing.
func Value(d Doc, path ...string) any {
	var v any = d
	for _, name := range path {
		m, ok := v.(Doc)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// Object is the object at the path, or nil.
func Object(d Doc, path ...string) Doc {
	m, _ := Value(d, path...).(Doc)
	return m
}

// Text is the text at the path, or "".
func Text(d Doc, path ...string) string {
	s, _ := Value(d, path...).(string)
	return s
}

// Flag is the boolean at the path, or false.
func Flag(d Doc, path ...string) bool {
	b, _ := Value(d, path...).(bool)
	return b
}

// Number is the whole number at the path and whether there is one.
func Number(d Doc, path ...string) (int, bool) {
	switch n := Value(d, path...).(type) {
	case int:
		return n, true
	case json.Number:
		i, err := strconv.Atoi(n.String())
		return i, err == nil
	}
	return 0, false
}

// List is the objects in the list at the path.
func List(d Doc, path ...string) []Doc {
	items, _ := Value(d, path...).([]any)
	out := make([]Doc, 0, len(items))
	for _, item := range items {
		if m, ok := item.(Doc); ok {
			out = append(out, m)
		}
	}
	return out
}

// Texts is the texts in the list at the path.
func Texts(d Doc, path ...string) []string {
	items, _ := Value(d, path...).([]any)
	var out []string
	for _, item := range items {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Put sets the value at the path and makes the objects on the way.
func Put(d Doc, value any, path ...string) {
	for _, name := range path[:len(path)-1] {
		next, ok := d[name].(Doc)
		if !ok {
			next = Doc{}
			d[name] = next
		}
		d = next
	}
	d[path[len(path)-1]] = value
}

// Default sets the value at the path unless there is one.
func Default(d Doc, value any, path ...string) {
	if Value(d, path...) == nil {
		Put(d, value, path...)
	}
}

// Drop removes properties of one object.
func Drop(d Doc, names ...string) {
	for _, name := range names {
		delete(d, name)
	}
}

// Any turns documents into a JSON list.
func Any(docs []Doc) []any {
	out := make([]any, len(docs))
	for i, d := range docs {
		out[i] = d
	}
	return out
}

// OnlyID reduces an embedded resource to its id, as the service stores it.
func OnlyID(d Doc, name string) {
	m, ok := d[name].(Doc)
	if !ok {
		delete(d, name)
		return
	}
	if id := Text(m, "id"); id != "" {
		d[name] = Doc{"id": id}
		return
	}
	delete(d, name)
}

// OnlyIDs does the same for a list; entries without id vanish.
func OnlyIDs(d Doc, name string) {
	if d[name] == nil {
		delete(d, name)
		return
	}
	var out []any
	for _, m := range List(d, name) {
		if id := Text(m, "id"); id != "" {
			out = append(out, Doc{"id": id})
		}
	}
	if len(out) == 0 {
		delete(d, name)
		return
	}
	d[name] = out
}

// Refs makes a list of references.
func Refs(ids []string) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = Doc{"id": id}
	}
	return out
}

// Merge lays a patch over a document; null removes.
// Source: RFC 7396, which ARM's PATCH follows.
func Merge(base, patch Doc) Doc {
	out := Clone(base)
	for name, v := range patch {
		next, isDoc := v.(Doc)
		old, wasDoc := out[name].(Doc)
		switch {
		case v == nil:
			delete(out, name)
		case isDoc && wasDoc && name != "tags":
			out[name] = Merge(old, next)
		default:
			out[name] = cloneValue(v)
		}
	}
	return out
}

// Bare removes every null, which ARM reads like an absent property.
func Bare(v any) {
	switch x := v.(type) {
	case Doc:
		for k, e := range x {
			if e == nil {
				delete(x, k)
				continue
			}
			Bare(e)
		}
	case []any:
		for _, e := range x {
			Bare(e)
		}
	}
}
