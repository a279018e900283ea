package wire

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Type says what a field holds.
type Type int

// Types of fields.
const (
	Text   Type = iota // a text
	Bytes              // a text in base 64
	Int                // a number without fraction
	Number             // a number
	Truth              // true or false
	Map                // an object of texts
	Nested             // an object with fields of its own
)

// Field is one field of a resource.
type Field struct {
	Type Type
	List bool
	// Values are the legal ones, if they are few.
	Values []string
	// Fields are those of a Nested field.
	Fields Schema
	// Output fields come from the server; in a request they are ignored.
	Output bool
}

// Schema is the set of fields by name.
type Schema map[string]Field

// With is the schema and more fields.
func (s Schema) With(more Schema) Schema {
	out := maps.Clone(s)
	maps.Copy(out, more)
	return out
}

// Clean checks a request body against the schema and returns it without what
// the server sets itself. Unknown fields are refused like Google's front end
// refuses them; so are the API's fields that the simulator does not simulate.
func (s Schema) Clean(body Object) (Object, error) { return s.clean(body, "resource") }

func (s Schema) clean(body Object, at string) (Object, error) {
	out := make(Object, len(body))
	for _, name := range slices.Sorted(maps.Keys(body)) {
		f, known := s[name]
		if !known {
			return nil, Malformed("Unknown name \"%s\" at '%s': Cannot find field.", name, at)
		}
		if f.Output {
			continue
		}
		value, err := f.check(body[name], at+"."+name)
		if err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}

func (f Field) check(value any, at string) (any, error) {
	if value == nil {
		return nil, nil
	}
	if !f.List {
		return f.one(value, at)
	}
	list, ok := value.([]any)
	if !ok {
		return nil, Malformed("Proto field is not repeating, cannot start list at '%s'.", at)
	}
	out := make([]any, 0, len(list))
	for i, v := range list {
		v, err := f.one(v, fmt.Sprintf("%s[%d]", at, i))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (f Field) one(value any, at string) (any, error) {
	wrong := Malformed("Invalid value at '%s', %v", at, value)
	switch f.Type {
	case Text, Bytes:
		return f.text(value, at, wrong)
	case Int, Number:
		return f.number(value, wrong)
	case Truth:
		if b, ok := value.(bool); ok {
			return b, nil
		}
		return nil, wrong
	case Map:
		m, ok := value.(Object)
		if !ok {
			return nil, wrong
		}
		for _, v := range m {
			if _, ok := v.(string); !ok {
				return nil, wrong
			}
		}
		return m, nil
	default:
		m, ok := value.(Object)
		if !ok {
			return nil, wrong
		}
		return f.Fields.clean(m, at)
	}
}

func (f Field) text(value any, at string, wrong error) (any, error) {
	s, ok := value.(string)
	if !ok {
		return nil, wrong
	}
	switch {
	case f.Type == Bytes:
		if _, err := base64.StdEncoding.DecodeString(s); err != nil {
			return nil, wrong
		}
	case len(f.Values) > 0 && !slices.Contains(f.Values, s):
		return nil, Invalid(at, s, "Must be one of [%s]", strings.Join(f.Values, ", "))
	}
	return s, nil
}

// number takes numbers also as texts, as the JSON form of protocol buffers does.
func (f Field) number(value any, wrong error) (any, error) {
	n, ok := value.(float64)
	if s, isText := value.(string); isText {
		parsed, err := strconv.ParseFloat(s, 64)
		n, ok = parsed, err == nil
	}
	if !ok || (f.Type == Int && n != math.Trunc(n)) {
		return nil, wrong
	}
	return n, nil
}
