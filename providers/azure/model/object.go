package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Object is the body of an ARM resource, or of a part of one, with every field that Azure
// sent, known or not: unedited fields are sent back unchanged. Numbers are json.Number, so
// that they keep their digits.
type Object map[string]any

// ParseObject parses a body. The empty text is a nil Object: the resource does not exist.
func ParseObject(text []byte) (Object, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	return out, nil
}

// Bytes is the body to send: keys in order, texts as they are.
func (o Object) Bytes() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// Only texts, numbers, booleans, lists and maps are ever in an Object.
	_ = e.Encode(map[string]any(o))
	return bytes.TrimSpace(b.Bytes())
}

// Clone copies the object deeply, so that a merge never writes to what was read.
func (o Object) Clone() Object {
	if o == nil {
		return nil
	}
	copied, _ := cloneValue(map[string]any(o)).(map[string]any)
	return copied
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = cloneValue(e)
		}
		return out
	case Object:
		return cloneValue(map[string]any(v))
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cloneValue(e)
		}
		return out
	default:
		return v
	}
}

// In returns the object under a path; nil if not found. Field names are exact, since ARM
// responds with the documented spelling.
func (o Object) In(path ...string) Object {
	for _, key := range path {
		switch v := o[key].(type) {
		case map[string]any:
			o = v
		case Object:
			o = v
		default:
			return nil
		}
	}
	return o
}

// Make returns the object under a path, created if not found.
func (o Object) Make(path ...string) Object {
	for _, key := range path {
		next := o.In(key)
		if next == nil {
			next = Object{}
			o[key] = map[string]any(next)
		}
		o = next
	}
	return o
}

// Text is a field; "" where it is none, or no text.
func (o Object) Text(key string) string {
	s, _ := o[key].(string)
	return s
}

// enum is a text field in the letter case of the value that it equals in any letter case, and another text as it is. Azure
// keeps enumerations as written: the portal writes the protocol of a security rule as TCP.
// Source: hashicorp/terraform-provider-azurerm#16092.
func (o Object) enum(key string, values ...string) string {
	text := o.Text(key)
	for _, v := range values {
		if strings.EqualFold(text, v) {
			return v
		}
	}
	return text
}

// Flag is a field; false where it is none, or neither true nor false.
func (o Object) Flag(key string) bool {
	b, _ := o[key].(bool)
	return b
}

func (o Object) number(key string) int32 {
	switch v := o[key].(type) {
	case json.Number:
		n, _ := v.Int64()
		return int32(n) // ARM numbers of these fields are ports, seconds and counts
	case float64:
		return int32(v)
	case int:
		return int32(v)
	case int32:
		return v
	}
	return 0
}

// Texts is a list of texts; what is none of them is left out.
func (o Object) Texts(key string) []string {
	list, _ := o[key].([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// List is a list of objects.
func (o Object) List(key string) []Object {
	list, _ := o[key].([]any)
	var out []Object
	for _, v := range list {
		switch e := v.(type) {
		case map[string]any:
			out = append(out, e)
		case Object:
			out = append(out, e)
		}
	}
	return out
}

// SetList writes a list of objects.
func (o Object) SetList(key string, list []Object) {
	out := make([]any, 0, len(list))
	for _, e := range list {
		out = append(out, map[string]any(e))
	}
	o[key] = out
}

// SetTexts writes a list of texts.
func (o Object) SetTexts(key string, list []string) {
	out := make([]any, 0, len(list))
	for _, s := range list {
		out = append(out, s)
	}
	o[key] = out
}

// Tags are the tags of the object.
func (o Object) Tags() Tags {
	out := Tags{}
	for k, v := range o.In("tags") {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

func (o Object) setTags(t Tags) {
	if len(t) == 0 {
		delete(o, "tags")
		return
	}
	out := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(t)) {
		out[k] = t[k]
	}
	o["tags"] = out
}

// Props is the object's properties; nil if there are none.
func (o Object) Props() Object { return o.In("properties") }

// Ref is the id of a reference among the properties.
func (o Object) Ref(key string) string { return o.Props().In(key).Text("id") }

// IDObject refers to something by its ARM id.
func IDObject(id string) map[string]any { return map[string]any{"id": id} }

// refName is the name at the end of a reference's id; "" without one.
func (o Object) refName(key string) string { return LastSegment(o.Ref(key)) }

// Named is where in a list the object of a name is, whatever its case; -1: nowhere.
func Named(list []Object, name string) int {
	return slices.IndexFunc(list, func(o Object) bool { return strings.EqualFold(o.Text("name"), name) })
}
