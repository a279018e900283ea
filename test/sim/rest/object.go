package rest

import "maps"

// Object is a JSON document. One that is in a table is never changed, only replaced.
type Object map[string]any

// Text is the value of a key, empty if it is no text.
func (o Object) Text(key string) string {
	s, _ := o[key].(string)
	return s
}

// Number is the value of a key; given is false if it is no number.
func (o Object) Number(key string) (n int, given bool) {
	switch v := o[key].(type) {
	case float64:
		return int(v), true
	case int:
		return v, true
	}
	return 0, false
}

// Truth is the value of a key, false if it is none.
func (o Object) Truth(key string) bool {
	b, _ := o[key].(bool)
	return b
}

// Texts are the texts of a list.
func (o Object) Texts(key string) []string {
	var out []string
	for _, v := range o.List(key) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// List is the list of a key, nil if it is none.
func (o Object) List(key string) []any {
	l, _ := o[key].([]any)
	return l
}

// Objects are the documents of a list.
func (o Object) Objects(key string) []Object {
	var out []Object
	for _, v := range o.List(key) {
		if d, ok := AsObject(v); ok {
			out = append(out, d)
		}
	}
	return out
}

// Object is the document of a key, nil if it is none.
func (o Object) Object(key string) Object {
	d, _ := AsObject(o[key])
	return d
}

// AsObject is a value as a document; ok is false if it is none.
func AsObject(v any) (d Object, ok bool) {
	switch d := v.(type) {
	case Object:
		return d, true
	case map[string]any:
		return d, true
	}
	return nil, false
}

// With is a copy with other values.
func (o Object) With(changes Object) Object {
	out := Object{}
	maps.Copy(out, o)
	maps.Copy(out, changes)
	return out
}

// Without is a copy that lacks the keys.
func (o Object) Without(keys ...string) Object {
	out := o.With(nil)
	for _, k := range keys {
		delete(out, k)
	}
	return out
}

// Only is a copy of the keys that are given, of those in the list.
func (o Object) Only(keys ...string) Object {
	out := Object{}
	for _, k := range keys {
		if v, ok := o[k]; ok {
			out[k] = v
		}
	}
	return out
}

// Anys are texts as a list of a document.
func Anys(texts []string) []any {
	out := []any{}
	for _, t := range texts {
		out = append(out, t)
	}
	return out
}
