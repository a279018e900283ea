package query

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Encoded is a result that is written already.
type Encoded []byte

// List is a result that consists of a list under a name, and the token of the next page.
type List struct {
	Name  string
	Items any
	Next  string
}

// Encoder writes results as encoding/xml does, with the declarations of a type parsed once. It
// knows the kinds of values that results have, and fails on others. Lists differ: each has
// an element of its own, also when it is empty, around the elements that the dialect gives its
// members. With omitempty a nil list and an empty struct have none. An embedded struct with a
// name has an element, too.
type Encoder struct {
	types sync.Map // of a struct type: its []member
}

// member is a field that is written.
type member struct {
	index []int
	name  string
	omit  bool // where it is empty
}

// Encode returns the encoded fields of a result without an element around them. A nil result
// has none.
func (e *Encoder) Encode(style Style, result any) (Encoded, error) {
	switch r := result.(type) {
	case nil:
		return nil, nil
	case Encoded:
		return r, nil
	case List:
		out, err := e.element(nil, style, r.Name, reflect.ValueOf(r.Items))
		if r.Next != "" {
			out = append(appendText(append(out, "<nextToken>"...), r.Next), "</nextToken>"...)
		}
		return out, err
	}
	v := reflect.Indirect(reflect.ValueOf(result))
	if v.Kind() != reflect.Struct {
		return nil, fmt.Errorf("a result of type %T", result)
	}
	return e.fields(nil, style, v)
}

// element adds a value under a name, and nothing for a nil pointer.
func (e *Encoder) element(out []byte, style Style, name string, v reflect.Value) (_ []byte, err error) {
	if v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return out, nil
		}
		return e.element(out, style, name, v.Elem())
	}
	out = append(append(append(out, '<'), name...), '>')
	switch v.Kind() {
	case reflect.String:
		out = appendText(out, v.String())
	case reflect.Bool:
		out = strconv.AppendBool(out, v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		out = strconv.AppendInt(out, v.Int(), 10)
	case reflect.Struct:
		out, err = e.fields(out, style, v)
	case reflect.Slice:
		for i := 0; i < v.Len() && err == nil; i++ {
			out, err = e.element(out, style, style.listElement(), v.Index(i))
		}
	default:
		err = fmt.Errorf("%s has the type %s", name, v.Type())
	}
	return append(append(append(out, "</"...), name...), '>'), err
}

// fields adds the fields of a struct.
func (e *Encoder) fields(out []byte, style Style, v reflect.Value) ([]byte, error) {
	members, err := e.membersOf(v.Type())
	for _, m := range members {
		field := v.FieldByIndex(m.index)
		if m.omit && field.IsZero() {
			continue
		}
		var failed error
		if out, failed = e.element(out, style, m.name, field); failed != nil {
			return out, failed
		}
	}
	return out, err
}

// membersOf returns the fields of a struct type that are written, those of embedded structs
// included.
func (e *Encoder) membersOf(t reflect.Type) ([]member, error) {
	if known, ok := e.types.Load(t); ok {
		return known.([]member), nil
	}
	if t.Implements(reflect.TypeFor[xml.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()) {
		return nil, fmt.Errorf("%s writes itself", t)
	}
	var out []member
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("xml")
		if f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct {
			within, err := e.membersOf(f.Type)
			if err != nil {
				return nil, err
			}
			for _, m := range within {
				m.index = append([]int{i}, m.index...)
				out = append(out, m)
			}
			continue
		}
		if !f.IsExported() && !f.Anonymous || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if options != "" && options != "omitempty" || strings.Contains(name, ">") {
			return nil, fmt.Errorf("%s.%s has the tag %s", t, f.Name, tag)
		}
		out = append(out, member{index: []int{i}, name: cmp.Or(name, f.Name), omit: options != ""})
	}
	e.types.Store(t, out)
	return out, nil
}

// appendText adds text with the characters escaped that XML reserves.
func appendText(out []byte, text string) []byte {
	plain := func(c byte) bool { return c >= ' ' && c < 0x7f && !strings.ContainsRune(`"'&<>`, rune(c)) }
	for i := range len(text) {
		if !plain(text[i]) {
			b := bytes.NewBuffer(out)
			_ = xml.EscapeText(b, []byte(text)) // a buffer takes everything
			return b.Bytes()
		}
	}
	return append(out, text...)
}
