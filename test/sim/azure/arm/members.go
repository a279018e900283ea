package arm

import (
	"strconv"
	"strings"
)

// Members are what bodies may say: types with their members, and the type of each
// or "". A type with a slash is one of resources or of calls, and its one member
// the type of the body.
type Members map[string]map[string]string

// ReadMembers reads the text form: a line is a type and its members, each with a
// colon and its type if it has one of its own.
func ReadMembers(text string) Members {
	out := Members{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		of := map[string]string{}
		for _, w := range words[1:] {
			name, kind, _ := strings.Cut(w, ":")
			of[name] = kind
		}
		out[words[0]] = of
	}
	return out
}

// Rule is the rule for bodies of a type of resources or calls: the service refuses
// names that it does not know. Types that are not listed have none. Source:
// https://github.com/MicrosoftDocs/azure-docs/issues/16191.
func (m Members) Rule(of string) func(body Doc) *Error {
	root := m[of]["body"]
	if root == "" {
		return func(Doc) *Error { return nil }
	}
	return func(body Doc) *Error { return m.walk(root, "", body) }
}

func (m Members) walk(kind, path string, v any) *Error {
	switch x := v.(type) {
	case Doc:
		for name, e := range x {
			next, known := m[kind][name]
			if !known {
				return Badf("InvalidRequestFormat", "Cannot parse the request. Could not find member '%s' on object of type '%s'. Path '%s'.", name, kind, strings.TrimPrefix(path+"."+name, "."))
			}
			if next == "" {
				continue
			}
			if err := m.walk(next, path+"."+name, e); err != nil {
				return err
			}
		}
	case []any:
		for i, e := range x {
			if err := m.walk(kind, path+"["+strconv.Itoa(i)+"]", e); err != nil {
				return err
			}
		}
	}
	return nil
}
