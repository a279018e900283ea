package rest

import (
	"fmt"
	"strconv"
	"strings"
)

// Match compares a path with a pattern, in which parts in braces are parameters, and
// gives their values.
func Match(pattern, path []string) (map[string]string, bool) {
	if len(pattern) != len(path) {
		return nil, false
	}
	params := map[string]string{}
	for i, p := range pattern {
		if name, is := strings.CutPrefix(p, "{"); is {
			params[strings.TrimSuffix(name, "}")] = path[i]
			continue
		}
		if p != path[i] {
			return nil, false
		}
	}
	return params, true
}

// Flatten writes the values of a document under their paths, as a journal keeps them.
// The keys in secret are left out, wherever they are.
func Flatten(out map[string]string, prefix string, v any, secret map[string]bool) {
	switch v := v.(type) {
	case Object:
		Flatten(out, prefix, map[string]any(v), secret)
	case map[string]any:
		for k, inner := range v {
			if !secret[k] {
				Flatten(out, strings.TrimPrefix(prefix+"."+k, "."), inner, secret)
			}
		}
	case []any:
		for i, inner := range v {
			Flatten(out, prefix+"."+strconv.Itoa(i), inner, secret)
		}
	case nil:
	default:
		out[prefix] = fmt.Sprint(v)
	}
}
