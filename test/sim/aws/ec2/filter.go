package ec2

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// maxFilterValues bounds the values of all filters of a call together.
// Source: EC2 API reference, "Using filtering".
const maxFilterValues = 200

// property gives the values of an object that a filter looks at. Only those
// are here that some journal has.
type property[T any] func(c *call, o T) []string

type properties[T any] map[string]property[T]

func singleValue(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func boolValues(b bool) []string { return []string{strconv.FormatBool(b)} }

// selectBy keeps the objects that pass every Filter.N of the call.
func selectBy[T any](c *call, props properties[T], id func(T) string, objects []T) ([]T, error) {
	filters := c.List("Filter")
	total := 0
	for _, f := range filters {
		total += len(f.Strs("Value"))
		name := f.Str("Name")
		if _, known := props[name]; known || tagFilter(name) {
			continue
		}
		if name == "" {
			name = "null"
		}
		return nil, query.Errorf("InvalidParameterValue", "The filter '%s' is invalid", name)
	}
	if total > maxFilterValues {
		return nil, query.Errorf("FilterLimitExceeded", "The maximum number of filter values specified on a single call is %d", maxFilterValues)
	}
	for _, f := range filters {
		name, patterns := f.Str("Name"), f.Strs("Value")
		var kept []T
		for _, o := range objects {
			if anyMatch(patterns, filterValues(c, props, name, id, o)) {
				kept = append(kept, o)
			}
		}
		objects = kept
	}
	return objects, nil
}

func tagFilter(name string) bool {
	return name == "tag-key" || name == "tag-value" || (strings.HasPrefix(name, "tag:") && len(name) > len("tag:"))
}

func filterValues[T any](c *call, props properties[T], name string, id func(T) string, o T) []string {
	if p, known := props[name]; known {
		return p(c, o)
	}
	tags := c.st.tags[id(o)]
	if key, ok := strings.CutPrefix(name, "tag:"); ok {
		if v, has := tags[key]; has {
			return []string{v}
		}
		return nil
	}
	var out []string
	for k, v := range tags {
		if name == "tag-key" {
			out = append(out, k)
		} else {
			out = append(out, v)
		}
	}
	return out
}

func anyMatch(patterns, values []string) bool {
	for _, p := range patterns {
		for _, v := range values {
			if matchWildcard(p, v) {
				return true
			}
		}
	}
	return false
}

// matchWildcard matches * (any text), ? (any one character) and \ before either of them
// or itself, case included.
func matchWildcard(pattern, s string) bool {
	if !strings.ContainsAny(pattern, `*?\\`) {
		return pattern == s
	}
	var re strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*':
			re.WriteString(".*")
		case c == '?':
			re.WriteString(".")
		case c == '\\' && i+1 < len(pattern):
			i++
			fallthrough
		default:
			re.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	ok, err := regexp.MatchString("(?s)^"+re.String()+"$", s)
	return err == nil && ok
}
