package plan

import (
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Secret stands for the value of a secret field.
const Secret = "(secret)"

// The members of a reference in a document.
const (
	refMember     = "ref"
	unknownMember = "unknown"
)

// maxDepth bounds the nesting of a value; specs are flat, a value that is
// deeper points to itself.
const maxDepth = 32

// plainer converts values of specs to plain JSON values.
type plainer struct {
	made map[stack.Key]bool // keys that do not exist yet
}

func (p plainer) value(v any) any { return p.plain(reflect.ValueOf(v), 0) }

// redacted hides a value but not that it is empty: whether a password is set is useful
// and not secret.
func (p plainer) redacted(v reflect.Value) any {
	if !v.IsValid() || v.IsZero() {
		return p.plain(v, 0)
	}
	return Secret
}

func (p plainer) plain(v reflect.Value, depth int) any {
	if !v.IsValid() {
		return nil
	}
	if depth > maxDepth {
		return "(nested too deep)"
	}
	if v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		return p.plain(v.Elem(), depth+1)
	}
	if r, ok := v.Interface().(stack.Ref); ok {
		return p.ref(r)
	}
	if s, ok := asText(v); ok {
		return validUTF8(s)
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		return p.list(v, depth)
	case reflect.Map:
		return p.mapping(v, depth)
	case reflect.Struct:
		return p.structure(v, depth)
	default:
		return scalarValue(v)
	}
}

// ref returns a literal identifier, or the key pointed to and whether it exists.
func (p plainer) ref(r stack.Ref) any {
	switch {
	case r.IsZero():
		return nil
	case r.ID != "":
		return validUTF8(r.ID)
	case p.made[r.To]:
		return map[string]any{unknownMember: true, refMember: validUTF8(r.To.String())}
	default:
		return map[string]any{refMember: validUTF8(r.To.String())}
	}
}

// asText asks a type for its own text: any type that marshals to text (an
// address, a time), and numbers and strings with a name for each value (a
// duration). A struct that only has a String method stays a structure.
func asText(v reflect.Value) (string, bool) {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, err := m.MarshalText()
		return string(b), err == nil
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map, reflect.Func, reflect.Chan:
		return "", false
	default:
		s, ok := v.Interface().(fmt.Stringer)
		if !ok {
			return "", false
		}
		return s.String(), true
	}
}

func scalarValue(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.Kind() == reflect.String:
		return validUTF8(v.String())
	case v.CanInt():
		return json.Number(strconv.FormatInt(v.Int(), 10))
	case v.CanUint():
		return json.Number(strconv.FormatUint(v.Uint(), 10))
	case v.CanFloat() && !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0):
		return json.Number(strconv.FormatFloat(v.Float(), 'f', -1, v.Type().Bits()))
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	default: // functions, channels: no cloud resource has them
		return "(" + v.Type().String() + ")"
	}
}

func (p plainer) list(v reflect.Value, depth int) any {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return base64.StdEncoding.EncodeToString(v.Bytes())
	}
	out := make([]any, 0, v.Len())
	for i := range v.Len() {
		out = append(out, p.plain(v.Index(i), depth+1))
	}
	return out
}

// mapping converts a map to an object, and a map to empty structs, a set in Go, to a
// sorted list.
func (p plainer) mapping(v reflect.Value, depth int) any {
	if e := v.Type().Elem(); e.Kind() == reflect.Struct && e.NumField() == 0 {
		list := make([]any, 0, v.Len())
		for _, k := range v.MapKeys() {
			list = append(list, p.plain(k, depth+1))
		}
		slices.SortFunc(list, func(a, b any) int { return cmp.Compare(keyText(a), keyText(b)) })
		return list
	}
	out := make(map[string]any, v.Len())
	for _, k := range v.MapKeys() {
		out[keyText(p.plain(k, depth+1))] = p.plain(v.MapIndex(k), depth+1)
	}
	return out
}

func (p plainer) structure(v reflect.Value, depth int) any {
	out := map[string]any{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case !f.IsExported():
		case isSecret(f):
			out[f.Name] = p.redacted(v.Field(i))
		default:
			out[f.Name] = p.plain(v.Field(i), depth+1)
		}
	}
	return out
}

// keyText is a string as it is and anything else as JSON.
func keyText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil { // cannot be for plain values
		return fmt.Sprint(v)
	}
	return string(b)
}

func isSecret(f reflect.StructField) bool {
	return slices.Contains(strings.Split(f.Tag.Get("plan"), ","), "secret")
}

// secretField reports whether a field of a spec, or a field inside one
// ("Auth.Password"), is secret.
func secretField(spec stack.Spec, field string) bool {
	t := reflect.TypeOf(spec)
	for name := range strings.SplitSeq(field, ".") {
		for t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t == nil || t.Kind() != reflect.Struct {
			return false
		}
		f, ok := t.FieldByName(name)
		if !ok {
			return false
		}
		if isSecret(f) {
			return true
		}
		t = f.Type
	}
	return false
}
