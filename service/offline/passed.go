package offline

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reason is why a document was passed over.
type reason string

// The reasons, as they follow a number of documents.
const (
	otherKind       reason = "objects of other kinds"
	noObject        reason = "no Kubernetes object"
	isTemplate      reason = "templates; check what they render to: helm template . | berth check -"
	unreadableOther reason = "not readable, and without a Service"
	namespaceAgain  reason = "a Namespace that another document defines"
	nodeAgain       reason = "a Node that another document defines"
)

// passed counts the documents that were passed over, and lists them.
type passed struct {
	counts map[reason]int
	list   []string
}

func (p *passed) add(why reason, where, what string) {
	if p.counts == nil {
		p.counts = map[reason]int{}
	}
	p.counts[why]++
	line := where + ": passed over: " + strings.TrimPrefix(strings.TrimPrefix(what, where), ": ")
	if what == "" {
		line = where + ": passed over: a template"
	}
	p.list = append(p.list, line)
}

// notes returns one line for each reason.
func (p *passed) notes() []string {
	var out []string
	for _, why := range slices.Sorted(maps.Keys(p.counts)) {
		out = append(out, fmt.Sprintf("passed over %s: %s", countOf(p.counts[why], "document"), why))
	}
	return out
}

// mayBeService reports whether a text that is no valid YAML looks like a Service, or a
// list that may contain one.
func mayBeService(text []byte) bool {
	return regexp.MustCompile(`(?m)^\s*[-{]?\s*"?kind"?\s*:\s*"?(Service|ServiceList|List)"?\s*,?\s*(#.*)?\r?$`).Match(text)
}

// withArticle puts the name of a JSON type into a sentence.
func withArticle(jsonType string) string {
	if strings.HasPrefix(jsonType, "array") || strings.HasPrefix(jsonType, "object") {
		return "an " + jsonType
	}
	return "a " + jsonType
}

// typeName is what a field must be, in the words of YAML.
func typeName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	default:
		return t.String()
	}
}

// fieldOfType returns the path of the first value of a JSON type that a path without
// indexes leads to, with the index of each list on the way; empty if there is none.
func (p place) fieldOfType(path, jsonType string) string {
	return findType(p.node, strings.Split(path, "."), "", strings.Fields(jsonType)[0])
}

func findType(node *yaml.Node, rest []string, path, jsonType string) string {
	switch {
	case node == nil:
		return ""
	case node.Kind == yaml.SequenceNode && len(rest) > 0:
		for i, item := range node.Content {
			if found := findType(item, rest, fmt.Sprintf("%s[%d]", path, i), jsonType); found != "" {
				return found
			}
		}
		return ""
	case len(rest) == 0:
		if jsonTypeOf(node) == jsonType {
			return path
		}
		return ""
	}
	_, value := findEntry(node, rest[0])
	return findType(value, rest[1:], strings.TrimPrefix(path+"."+rest[0], "."), jsonType)
}

// jsonTypeOf names the type of a node as encoding/json does in its errors.
func jsonTypeOf(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "object"
	case node.Kind == yaml.SequenceNode:
		return "array"
	case node.Tag == "!!int", node.Tag == "!!float":
		return "number"
	case node.Tag == "!!bool":
		return "bool"
	default:
		return "string"
	}
}
