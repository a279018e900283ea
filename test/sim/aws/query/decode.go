package query

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Decode reads the members of a request into the fields of a struct, by the names that the
// fields have in answers: one type can serve for both. Tags are the constraints of a member:
//
//	required:"true"
//	range:"1..65535"           of a number
//	enum:"on|off"              of a text, or of each text of a list
//	length:"1..128"            of a text, or of each text of a list
//	pattern:"^[a-z]*$"         of a text, or of each text of a list
//	count:"1..20"              of the elements of a list, either end may be open
//
// A fault of shape is a member that breaks its constraint. All of them are reported together,
// because the real services do so; where there are none, the first value of a wrong type is.
// A list that was sent without elements is empty, and one that was not sent is nil.
func Decode(p Params, into any) error {
	d := &decoder{patterns: map[string]*regexp.Regexp{}}
	d.structure(p, "", reflect.ValueOf(into).Elem())
	switch n := len(d.faults); n {
	case 0:
		return d.mistyped
	case 1:
		return Errorf("ValidationError", "1 validation error detected: %s", d.faults[0])
	default:
		return Errorf("ValidationError", "%d validation errors detected: %s", n, strings.Join(d.faults, "; "))
	}
}

type decoder struct {
	faults   []string
	mistyped error
	patterns map[string]*regexp.Regexp
}

// fault records that a member breaks a constraint. AWS writes the place of a member as in
// tags.1.member.key.
func (d *decoder) fault(at, value, constraint string) {
	d.faults = append(d.faults, fmt.Sprintf("Value %s at '%s' failed to satisfy constraint: Member must %s", value, at, constraint))
}

// structure reads the fields of a struct; those of embedded structs are its own.
func (d *decoder) structure(p Params, at string, to reflect.Value) {
	for i := range to.NumField() {
		f := to.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("xml"), ",")
		if name == "" {
			name = f.Name
		}
		switch {
		case f.Anonymous && f.Tag.Get("xml") == "":
			d.structure(p, at, to.Field(i))
		case !f.IsExported() || name == "-":
		case p.Has(name):
			d.value(p, name, at+strings.ToLower(name[:1])+name[1:], f.Tag, to.Field(i))
		case f.Tag.Get("required") == "true":
			d.fault(at+strings.ToLower(name[:1])+name[1:], "null", "not be null")
		}
	}
}

// value reads a member that was sent, and reports whether it has a value of its type.
func (d *decoder) value(p Params, name, at string, tag reflect.StructTag, to reflect.Value) bool {
	switch to.Kind() {
	case reflect.Pointer:
		into := reflect.New(to.Type().Elem())
		ok := d.value(p, name, at, tag, into.Elem())
		if ok {
			to.Set(into)
		}
		return ok
	case reflect.String:
		to.SetString(p.Str(name))
		d.text(to.String(), at, tag)
	case reflect.Int:
		n, ok, err := p.Int(name)
		if d.keep(err); !ok || err != nil {
			return false
		}
		if lo, hi, has := parseBounds(tag, "range"); has {
			d.within(n, lo, hi, "'"+strconv.Itoa(n)+"'", at, "have value")
		}
		to.SetInt(int64(n))
	case reflect.Bool:
		on, ok, err := p.Bool(name)
		if d.keep(err); !ok || err != nil {
			return false
		}
		to.SetBool(on)
	case reflect.Struct:
		d.structure(p.Sub(name), at+".", to)
	default: // a list
		d.list(p, name, at, tag, to)
	}
	return true
}

// keep keeps the first value of a wrong type.
func (d *decoder) keep(err error) {
	if d.mistyped == nil {
		d.mistyped = err
	}
}

// list reads a list of structs, of texts or of numbers.
func (d *decoder) list(p Params, name, at string, tag reflect.StructTag, to reflect.Value) {
	elements := p.List(name)
	to.Set(reflect.MakeSlice(to.Type(), len(elements), len(elements)))
	for i, e := range elements {
		place, into := at+"."+strconv.Itoa(i+1)+".member", to.Index(i)
		switch into.Kind() {
		case reflect.Struct:
			d.structure(e, place+".", into)
		case reflect.Int:
			n, err := strconv.Atoi(e.Value())
			if err != nil {
				d.keep(Errorf("ValidationError", "Value '%s' at '%s' is not a valid integer", e.Value(), at))
			}
			into.SetInt(int64(n))
		default:
			into.SetString(e.Value())
			d.text(e.Value(), place, tag)
		}
	}
	if lo, hi, has := parseBounds(tag, "count"); has {
		shown := "'[]'"
		if n := len(elements); n > 0 {
			noun := name[strings.LastIndexFunc(name, unicode.IsUpper):]
			shown = "'" + strconv.Itoa(n) + " " + strings.ToLower(noun) + "'"
		}
		d.within(len(elements), lo, hi, shown, at, "have length")
	}
}

// text checks a text.
func (d *decoder) text(v, at string, tag reflect.StructTag) {
	shown := "'" + v + "'"
	if words, has := tag.Lookup("enum"); has && !slices.Contains(strings.Split(words, "|"), v) {
		d.fault(at, shown, "satisfy enum value set: ["+strings.ReplaceAll(words, "|", ", ")+"]")
	}
	if lo, hi, has := parseBounds(tag, "length"); has {
		d.within(utf8.RuneCountInString(v), lo, hi, shown, at, "have length")
	}
	if text, has := tag.Lookup("pattern"); has {
		if d.patterns[text] == nil {
			d.patterns[text] = regexp.MustCompile(text)
		}
		if !d.patterns[text].MatchString(v) {
			d.fault(at, shown, "satisfy regular expression pattern: "+text)
		}
	}
}

// within checks a number against bounds; 0 as the upper one is none.
func (d *decoder) within(n, lo, hi int, shown, at, verb string) {
	switch {
	case n < lo:
		d.fault(at, shown, verb+" greater than or equal to "+strconv.Itoa(lo))
	case hi > 0 && n > hi:
		d.fault(at, shown, verb+" less than or equal to "+strconv.Itoa(hi))
	}
}

// parseBounds reads a tag such as 1..128; an open end is 0.
func parseBounds(tag reflect.StructTag, key string) (lo, hi int, has bool) {
	from, to, has := strings.Cut(tag.Get(key), "..")
	lo, _ = strconv.Atoi(from) // an open end
	hi, _ = strconv.Atoi(to)
	return lo, hi, has
}
