package query

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Style says which of the two dialects a service speaks.
type Style int

const (
	// AWSQuery is the dialect of both ELB services: lists are Name.member.N.
	AWSQuery Style = iota
	// EC2Query is the dialect of EC2: lists are Name.N, answers have no result wrapper.
	EC2Query
)

// listElement is the element around each member of a list in an answer.
func (s Style) listElement() string {
	if s == EC2Query {
		return "item"
	}
	return "member"
}

// Params is one structure of a decoded request. The zero value is an empty
// structure. Names may be dotted paths ("HealthCheck.Target").
type Params struct {
	n     *node
	style Style
	path  string
}

type node struct {
	value string
	set   bool
	kids  map[string]*node
}

// ParseForm makes the tree of a form. Action and Version stay in it.
func ParseForm(form url.Values, style Style) Params {
	root := &node{}
	for key, values := range form {
		at := root
		for part := range strings.SplitSeq(key, ".") {
			next := at.kids[part]
			if next == nil {
				next = &node{}
				if at.kids == nil {
					at.kids = map[string]*node{}
				}
				at.kids[part] = next
			}
			at = next
		}
		at.set = true
		if len(values) > 0 {
			at.value = values[0]
		}
	}
	return Params{n: root, style: style}
}

func (p Params) at(name string) *node {
	n := p.n
	for part := range strings.SplitSeq(name, ".") {
		if n == nil {
			return nil
		}
		n = n.kids[part]
	}
	return n
}

func (p Params) full(name string) string {
	if p.path == "" {
		return name
	}
	return p.path + "." + name
}

// Str is the scalar called name, or "" when it is absent.
func (p Params) Str(name string) string {
	if n := p.at(name); n != nil {
		return n.value
	}
	return ""
}

// Has reports whether name was sent at all, be it as a scalar, as a bare
// "Name=" (how AWS Query writes an empty list) or with anything below it.
func (p Params) Has(name string) bool {
	n := p.at(name)
	return n != nil && (n.set || len(n.kids) > 0)
}

// Int is the number called name; ok is false when it is absent. A value that is
// no 32 bit number is an error (ValidationError, or InvalidParameterValue in EC2).
func (p Params) Int(name string) (v int, ok bool, err error) {
	n := p.at(name)
	if n == nil || !n.set {
		return 0, false, nil
	}
	i, perr := strconv.ParseInt(n.value, 10, 32)
	if perr != nil {
		return 0, true, p.bad(name, n.value, "integer")
	}
	return int(i), true, nil
}

// Bool is the boolean called name; ok is false when it is absent. Anything but
// true and false (in any case) is an error.
func (p Params) Bool(name string) (v, ok bool, err error) {
	n := p.at(name)
	if n == nil || !n.set {
		return false, false, nil
	}
	switch strings.ToLower(n.value) {
	case "true":
		return true, true, nil
	case "false":
		return false, true, nil
	}
	return false, true, p.bad(name, n.value, "boolean")
}

func (p Params) bad(name, value, kind string) *Error {
	if p.style == EC2Query {
		return Errorf("InvalidParameterValue", "Invalid value '%s' for %s. Expected a value of type %s.", value, p.full(name), kind)
	}
	return Errorf("ValidationError", "Value '%s' at '%s' is not a valid %s", value, p.full(name), kind)
}

// Strs is the list of scalars called name, in the order of its numbers.
func (p Params) Strs(name string) []string {
	nodes := p.elements(name)
	if len(nodes) == 0 {
		return nil
	}
	out := make([]string, 0, len(nodes))
	for _, e := range nodes {
		out = append(out, e.n.value)
	}
	return out
}

// List is the list of structures called name, in the order of its numbers.
func (p Params) List(name string) []Params {
	nodes := p.elements(name)
	out := make([]Params, 0, len(nodes))
	for _, e := range nodes {
		out = append(out, Params{n: e.n, style: p.style, path: p.full(name) + "." + strconv.Itoa(e.number)})
	}
	return out
}

// Sub is the structure called name; an absent one is empty.
func (p Params) Sub(name string) Params {
	return Params{n: p.at(name), style: p.style, path: p.full(name)}
}

// Value is the scalar that a structure itself holds: the element of a list of scalars.
func (p Params) Value() string {
	if p.n == nil {
		return ""
	}
	return p.n.value
}

type element struct {
	number int
	n      *node
}

func (p Params) elements(name string) []element {
	list := p.at(name)
	if list == nil {
		return nil
	}
	if m := list.kids["member"]; m != nil && p.style == AWSQuery {
		list = m
	}
	var out []element
	for key, kid := range list.kids {
		if i, err := strconv.Atoi(key); err == nil {
			out = append(out, element{i, kid})
		}
	}
	slices.SortFunc(out, func(a, b element) int { return a.number - b.number })
	return out
}
