package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// Clone copies everything.
func (o Object) Clone() Object {
	out := make(Object, len(o))
	for k, v := range o {
		out[k] = cloneValue(v)
	}
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return Object(v).Clone()
	case Object:
		return v.Clone()
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cloneValue(e)
		}
		return out
	}
	return v
}

// Num returns a number, 0 if it is missing.
func (o Object) Num(name string) float64 { n, _ := o[name].(float64); return n }

// Has reports whether a name has a value other than null.
func (o Object) Has(name string) bool { return o[name] != nil }

// Default sets a value where there is none.
func (o Object) Default(name string, value any) {
	if o[name] == nil {
		o[name] = value
	}
}

// Merge applies a patch: objects are merged, null removes, all else replaces.
// Neither side is changed.
func (o Object) Merge(patch Object) Object {
	out := o.Clone()
	for name, v := range patch {
		inner, isObject := v.(Object)
		switch {
		case v == nil:
			delete(out, name)
		case isObject && out.Object(name) != nil:
			out[name] = out.Object(name).Merge(inner)
		default:
			out[name] = cloneValue(v)
		}
	}
	return out
}

// Prune removes nulls, and lists and objects without content, which Google's
// APIs leave out of their answers.
func (o Object) Prune() Object {
	for name, v := range o {
		switch v := v.(type) {
		case nil:
			delete(o, name)
		case []any:
			if len(v) == 0 {
				delete(o, name)
			}
		case Object:
			if v.Prune(); len(v) == 0 {
				delete(o, name)
			}
		}
	}
	return o
}

// Fingerprint is a hash of the contents, without the fields named.
func (o Object) Fingerprint(without ...string) string {
	rest := o.Clone()
	for _, name := range without {
		delete(rest, name)
	}
	// Maps are written in the order of their keys. Values decoded from JSON can be encoded as
	// JSON.
	data, _ := json.Marshal(rest)
	sum := sha256.Sum256(data)
	return base64.StdEncoding.EncodeToString(sum[:8])
}
