package wire

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Filter is a parsed filter expression; nil matches everything. Both languages
// of the API are understood: the old one, "name eq REGEX", whose expression must
// match the whole value, and the new one with =, !=, :, <, >, AND, OR and NOT.
// Source: Compute Engine API reference, parameter filter of every list call.
type Filter func(Object) bool

// Match tells whether an object passes.
func (f Filter) Match(o Object) bool { return f == nil || f(o) }

// ParseFilter reads a filter; empty gives nil.
func ParseFilter(text string) (Filter, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	bad := func(why string) error { return Invalid("filter", text, "Invalid list filter expression: %s.", why) }
	p := &filterParser{tokens: tokens(text)}
	f, err := p.either()
	if err == nil && len(p.tokens) > 0 {
		err = fmt.Errorf("unexpected %q", p.tokens[0])
	}
	if err != nil {
		return nil, bad(err.Error())
	}
	return f, nil
}

// tokens splits at blanks, around operators and parentheses; quoted texts stay whole
// and keep their opening quote as a mark.
func tokens(text string) []string {
	var out []string
	word := ""
	flush := func() {
		if word != "" {
			out, word = append(out, word), ""
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"' || c == '\'':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				end = len(text) - i - 1
			}
			flush()
			out = append(out, `"`+text[i+1:i+1+end])
			i += end + 1
		case c == ' ' || c == '\t':
			flush()
		case c == '(' && word == "" && !afterOperator(out), c == ')' && balanced(word):
			flush()
			out = append(out, string(c))
		case strings.IndexByte("=<>!:", c) >= 0 && operatorFits(out, word):
			flush()
			op := string(c)
			if i+1 < len(text) && text[i+1] == '=' && c != ':' {
				op, i = op+"=", i+1
			}
			out = append(out, op)
		default:
			word += string(c)
		}
	}
	flush()
	return out
}

// balanced tells whether a closing parenthesis would close none of the word's own.
func balanced(word string) bool { return strings.Count(word, "(") <= strings.Count(word, ")") }

// operatorFits tells whether an operator may come here: behind a field name, so
// that the colons and signs of values such as IPv6 addresses and URLs stay in them.
func operatorFits(out []string, word string) bool {
	if afterOperator(out) {
		return false
	}
	return word != "" || (len(out) > 0 && out[len(out)-1] != "(" && out[len(out)-1] != ")")
}

func afterOperator(out []string) bool { return len(out) > 0 && isOperator(out[len(out)-1]) }

func isOperator(t string) bool {
	switch t {
	case "eq", "ne", "=", "!=", ":", "<", ">", "<=", ">=":
		return true
	}
	return false
}

type filterParser struct{ tokens []string }

func (p *filterParser) next() string {
	if len(p.tokens) == 0 {
		return ""
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *filterParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *filterParser) either() (Filter, error) {
	left, err := p.all()
	if err != nil {
		return nil, err
	}
	for p.peek() == "OR" {
		p.next()
		right, err := p.all()
		if err != nil {
			return nil, err
		}
		one := left
		left = func(o Object) bool { return one(o) || right(o) }
	}
	return left, nil
}

func (p *filterParser) all() (Filter, error) {
	left, err := p.single()
	if err != nil {
		return nil, err
	}
	for {
		switch p.peek() {
		case "", ")", "OR":
			return left, nil
		case "AND":
			p.next()
		}
		right, err := p.single()
		if err != nil {
			return nil, err
		}
		one := left
		left = func(o Object) bool { return one(o) && right(o) }
	}
}

func (p *filterParser) single() (Filter, error) {
	switch t := p.next(); t {
	case "NOT", "-":
		inner, err := p.single()
		if err != nil {
			return nil, err
		}
		return func(o Object) bool { return !inner(o) }, nil
	case "(":
		inner, err := p.either()
		if err != nil {
			return nil, err
		}
		if p.next() != ")" {
			return nil, fmt.Errorf("missing ')'")
		}
		return inner, nil
	case "":
		return nil, fmt.Errorf("it ends too early")
	default:
		op := p.next()
		if !isOperator(op) {
			return nil, fmt.Errorf("%q is no operator", op)
		}
		value := p.next()
		if value == "" {
			return nil, fmt.Errorf("no value for %q", t)
		}
		return compare(t, op, strings.TrimPrefix(value, `"`))
	}
}

func compare(field, op, value string) (Filter, error) {
	path := strings.Split(field, ".")
	switch op {
	case "eq", "ne":
		// RE2 as in the API, matching the whole value.
		re, err := regexp.Compile("^(?:" + value + ")$")
		if err != nil {
			return nil, err
		}
		return func(o Object) bool { return anyValue(o, path, re.MatchString) == (op == "eq") }, nil
	case "=", "!=":
		same := func(s string) bool { return s == value }
		if strings.Contains(value, "*") {
			same = regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, ".*") + "$").MatchString
		}
		return func(o Object) bool { return anyValue(o, path, same) == (op == "=") }, nil
	case ":":
		if value == "*" {
			return func(o Object) bool { return anyValue(o, path, func(string) bool { return true }) }, nil
		}
		part := strings.ToLower(strings.Trim(value, "*"))
		return func(o Object) bool {
			return anyValue(o, path, func(s string) bool { return strings.Contains(strings.ToLower(s), part) })
		}, nil
	}
	return func(o Object) bool {
		return anyValue(o, path, func(s string) bool { return ordered(s, op, value) })
	}, nil
}

func ordered(a, op, b string) bool {
	c := strings.Compare(a, b)
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		c = 0
		if x < y {
			c = -1
		} else if x > y {
			c = 1
		}
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// anyValue tells whether a value at the path, of which lists have many, passes.
func anyValue(v any, path []string, ok func(string) bool) bool {
	switch v := v.(type) {
	case Object:
		return len(path) > 0 && v[path[0]] != nil && anyValue(v[path[0]], path[1:], ok)
	case []any:
		for _, e := range v {
			if anyValue(e, path, ok) {
				return true
			}
		}
		return false
	case string:
		return len(path) == 0 && ok(v)
	case bool:
		return len(path) == 0 && ok(strconv.FormatBool(v))
	case float64:
		return len(path) == 0 && ok(strconv.FormatFloat(v, 'f', -1, 64))
	}
	return false
}
