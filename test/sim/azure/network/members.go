package network

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// membersText is what bodies may say, from the SDK; models_test.go writes it. A
// line is a type and its members, each with the type of its own if it has one.
// A type with a slash is one of resources or of calls, and its one member the
// type of the body.
//
//go:embed members.txt
var membersText string

// members are types with their members, and the type of each or "".
type members map[string]map[string]string

func readMembers() members {
	out := members{}
	for line := range strings.Lines(membersText) {
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

// check gives the rule for bodies of a type of resources or calls: the service
// refuses names that it does not know. Source:
// https://github.com/MicrosoftDocs/azure-docs/issues/16191.
func (m members) check(of string) func(body arm.Doc) *arm.Error {
	root := m[of]["body"]
	return func(body arm.Doc) *arm.Error {
		if root == "" {
			return nil
		}
		return m.walk(root, "", body)
	}
}

func (m members) walk(kind, path string, v any) *arm.Error {
	switch x := v.(type) {
	case arm.Doc:
		for name, e := range x {
			next, known := m[kind][name]
			if !known {
				return refuse("InvalidRequestFormat", "Cannot parse the request. Could not find member '%s' on object of type '%s'. Path '%s'.", name, kind, strings.TrimPrefix(path+"."+name, "."))
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
