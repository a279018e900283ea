package query

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"reflect"
	"slices"
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
// knows the kinds of values that results have, and fails on others.
type Encoder struct {
	types sync.Map // of a struct type: its []member
}

// member is a field that is written.
type member struct {
	index   []int
	parents []string
	name    string
	omit    bool // where it is empty
}

// Encode returns the encoded fields of a result without an element around them. A nil result
// has none.
func (e *Encoder) Encode(result any) (Encoded, error) {
	switch r := result.(type) {
	case nil:
		return nil, nil
	case Encoded:
		return r, nil
	case List:
		out, err := e.element([]byte("<"+r.Name+">"), "item", reflect.ValueOf(r.Items))
		out = append(out, "</"+r.Name+">"...)
		if r.Next != "" {
			out = append(appendText(append(out, "<nextToken>"...), r.Next), "</nextToken>"...)
		}
		return out, err
	}
	v := reflect.ValueOf(result)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil, fmt.Errorf("a result of type %T", result)
	}
	return e.fields(nil, v)
}

// element adds a value under a name; each member of a list has an element of its own.
func (e *Encoder) element(out []byte, name string, v reflect.Value) ([]byte, error) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return out, nil
		}
		return e.element(out, name, v.Elem())
	case reflect.Slice:
		var err error
		for i := 0; i < v.Len() && err == nil; i++ {
			out, err = e.element(out, name, v.Index(i))
		}
		return out, err
	default:
		return e.single(out, name, v)
	}
}

// single adds a value that has one element.
func (e *Encoder) single(out []byte, name string, v reflect.Value) (_ []byte, err error) {
	out = append(append(append(out, '<'), name...), '>')
	switch v.Kind() {
	case reflect.String:
		out = appendText(out, v.String())
	case reflect.Bool:
		out = strconv.AppendBool(out, v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		out = strconv.AppendInt(out, v.Int(), 10)
	case reflect.Struct:
		out, err = e.fields(out, v)
	default:
		err = fmt.Errorf("%s has the type %s", name, v.Type())
	}
	return append(append(append(out, "</"...), name...), '>'), err
}

// fields adds the fields of a struct. Neighbours with common parents are within one element.
func (e *Encoder) fields(out []byte, v reflect.Value) ([]byte, error) {
	var open []string
	leave := func(parents []string) {
		common := 0
		for common < min(len(open), len(parents)) && open[common] == parents[common] {
			common++
		}
		for len(open) > common {
			out = append(append(append(out, "</"...), open[len(open)-1]...), '>')
			open = open[:len(open)-1]
		}
	}
	members, err := e.membersOf(v.Type())
	for _, m := range members {
		field := v.FieldByIndex(m.index)
		leave(m.parents)
		if (field.Kind() == reflect.Pointer || field.Kind() == reflect.Interface) && field.IsNil() {
			continue
		}
		for _, parent := range m.parents[len(open):] { // also around nothing
			out = append(append(append(out, '<'), parent...), '>')
			open = append(open, parent)
		}
		if m.omit && isEmpty(field) {
			continue
		}
		var failed error
		if out, failed = e.element(out, m.name, field); failed != nil {
			return out, failed
		}
	}
	leave(nil)
	return out, err
}

func isEmpty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice {
		return v.Len() == 0
	}
	return v.Kind() != reflect.Struct && v.IsZero()
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
		if !f.IsExported() || tag == "-" {
			continue
		}
		path, options, _ := strings.Cut(tag, ",")
		if options != "" && options != "omitempty" {
			return nil, fmt.Errorf("%s.%s has the option %s", t, f.Name, options)
		}
		names := strings.Split(path, ">")
		name := names[len(names)-1]
		if name == "" {
			name = f.Name
		}
		out = append(out, member{index: []int{i}, parents: slices.Clip(names[:len(names)-1]), name: name, omit: options != ""})
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
