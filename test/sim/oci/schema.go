package oci

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// kind is what a value of a document is.
type kind int

const (
	aText kind = iota
	aNumber
	aTruth
	aList
	anObject
	aMap     // from names to objects
	anything // that JSON can say
)

// prop is what a property of a request's body may be.
type prop struct {
	kind     kind
	need     bool
	or       any      // stands for it if it is not given; nil: nothing does
	min, max int      // of a number, or the length of a text; max 0: no bound
	words    []string // the texts that are known
	shape    *regexp.Regexp
	of       schema // the object, or each of a map
	each     *prop  // of a list
}

// schema is the properties of an object.
type schema map[string]prop

// with is a copy with other properties.
func (s schema) with(more schema) schema {
	out := maps.Clone(s)
	maps.Copy(out, more)
	return out
}

// optional returns a copy without required properties and defaults, for updates of existing
// objects.
func (s schema) optional() schema {
	out := schema{}
	for name, p := range s {
		p.need, p.or = false, nil
		out[name] = p
	}
	return out
}

// read checks a body and fills in defaults. An unknown property is refused: the API reference
// does not say so, but it is a mistake of the caller's.
func (s schema) read(at string, in rest.Object) (rest.Object, error) {
	out := rest.Object{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		p, known := s[name]
		if !known {
			return nil, invalidParam("%s is not a known property", joinPath(at, name))
		}
		if in[name] == nil {
			continue
		}
		v, err := p.read(joinPath(at, name), in[name])
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if _, given := out[name]; given {
			continue
		}
		if s[name].need {
			return nil, missingParam(joinPath(at, name))
		}
		if s[name].or != nil {
			out[name] = s[name].or
		}
	}
	return out, nil
}

func joinPath(at, name string) string { return strings.TrimPrefix(at+"."+name, ".") }

func (p prop) read(at string, v any) (any, error) {
	switch p.kind {
	case aText:
		return p.readText(at, v)
	case aNumber:
		n, ok := v.(float64)
		if !ok || n != math.Trunc(n) {
			return nil, invalidParam("%s must be a whole number", at)
		}
		if p.max != 0 && (int(n) < p.min || int(n) > p.max) {
			return nil, invalidParam("%s %v: must be %d to %d", at, n, p.min, p.max)
		}
	case aTruth:
		if _, ok := v.(bool); !ok {
			return nil, invalidParam("%s must be true or false", at)
		}
	case aList:
		return p.readList(at, v)
	case anObject:
		o, ok := rest.AsObject(v)
		if !ok {
			return nil, invalidParam("%s must be an object", at)
		}
		return p.of.read(at, o)
	case aMap:
		return p.readMap(at, v)
	case anything:
	}
	return v, nil
}

func (p prop) readText(at string, v any) (any, error) {
	s, ok := v.(string)
	switch {
	case !ok:
		return nil, invalidParam("%s must be a text", at)
	case len(p.words) > 0 && !slices.Contains(p.words, s):
		return nil, invalidParam("%s %q: must be one of %v", at, s, p.words)
	case p.max != 0 && (len(s) < p.min || len(s) > p.max):
		return nil, invalidParam("%s: must have %d to %d characters", at, p.min, p.max)
	case p.shape != nil && !p.shape.MatchString(s):
		return nil, invalidParam("%s %q: must match %v", at, s, p.shape)
	}
	return s, nil
}

func (p prop) readList(at string, v any) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, invalidParam("%s must be a list", at)
	}
	out := []any{}
	for i, inner := range list {
		read, err := p.each.read(fmt.Sprintf("%s[%d]", at, i), inner)
		if err != nil {
			return nil, err
		}
		out = append(out, read)
	}
	return out, nil
}

func (p prop) readMap(at string, v any) (any, error) {
	in, ok := rest.AsObject(v)
	if !ok {
		return nil, invalidParam("%s must be an object", at)
	}
	out := rest.Object{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		o, ok := rest.AsObject(in[name])
		if !ok {
			return nil, invalidParam("%s must be an object", joinPath(at, name))
		}
		read, err := p.of.read(joinPath(at, name), o)
		if err != nil {
			return nil, err
		}
		out[name] = read
	}
	return out, nil
}

// Short forms of properties.
func textProp() prop                { return prop{kind: aText} }
func idProp() prop                  { return prop{kind: aText, min: 1, max: 255} }
func oneOf(words ...string) prop    { return prop{kind: aText, words: words} }
func numberProp(low, high int) prop { return prop{kind: aNumber, min: low, max: high} }
func boolProp() prop                { return prop{kind: aTruth} }
func objectProp(of schema) prop     { return prop{kind: anObject, of: of} }
func mapOf(of schema) prop          { return prop{kind: aMap, of: of} }
func listProp(each prop) prop       { return prop{kind: aList, each: &each} }
func idsProp() prop                 { return listProp(idProp()) }
func freeProp() prop                { return prop{kind: anything} }

func (p prop) must() prop           { p.need = true; return p }
func (p prop) otherwise(v any) prop { p.or = v; return p }

// nameProp declares the name of a part of a load balancer. Source: API reference,
// "Valid names include only alphanumeric characters, dashes, and underscores".
func nameProp(longest int) prop {
	return prop{kind: aText, need: true, min: 1, max: longest, shape: regexp.MustCompile(`^[A-Za-z0-9_-]+$`)}
}

// parseAddress parses the text of a key as an address.
func parseAddress(o rest.Object, key string) (netip.Addr, error) {
	a, err := netip.ParseAddr(o.Text(key))
	if err != nil {
		return a, invalidParam("%s %q: must be an IP address", key, o.Text(key))
	}
	return a, nil
}
