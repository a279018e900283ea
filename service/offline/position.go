package offline

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Position is a place in a file; lines and columns count from 1, and 0 is not known.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String is file:line:column as editors and terminals take it; empty if the file
// is not known.
func (p Position) String() string {
	if p.File == "" || p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// document is one of the documents of a file.
type document struct {
	text []byte
	line int // at which it begins
}

// splitDocuments splits a file at its separators, so that an invalid document does not
// affect the others.
func splitDocuments(body []byte) []document {
	out := []document{{line: 1}}
	line := 0
	for text := range bytes.Lines(body) {
		line++
		rest, separator := bytes.CutPrefix(text, []byte("---"))
		if !separator || len(rest) > 0 && !strings.ContainsRune(" \t\r\n", rune(rest[0])) {
			last := &out[len(out)-1]
			last.text = append(last.text, text...)
			continue
		}
		// What stands behind the separator keeps its column.
		out = append(out, document{text: append([]byte("   "), rest...), line: line})
	}
	return out
}

// place is an object in a file: where it is, and where everything in it is.
type place struct {
	file   string
	offset int // lines before its document
	node   *yaml.Node
}

// placeOf finds the root of a document; nodes of a text that is no YAML are not known.
func placeOf(file string, d document) place {
	out := place{file: file, offset: d.line - 1}
	var root yaml.Node
	if yaml.Unmarshal(d.text, &root) == nil && len(root.Content) > 0 {
		out.node = root.Content[0]
	}
	return out
}

// item is the place of an object of a list.
func (p place) item(n int) place {
	_, list := findEntry(p.node, "items")
	if list == nil || n >= len(list.Content) {
		return p
	}
	p.node = list.Content[n]
	return p
}

// positionOf finds the position of a problem: a field by its path, or an annotation by its
// key. A missing field has the position of its parent.
func (p place) positionOf(where string) Position {
	node := p.node
	if found := p.find(where); found != nil {
		node = found
	}
	if node == nil {
		return Position{File: p.file, Line: p.offset + 1, Column: 1}
	}
	return Position{File: p.file, Line: p.offset + node.Line, Column: node.Column}
}

// contains reports whether the object has the annotation, label or field.
func (p place) contains(where string) bool {
	_, metadata := findEntry(p.node, "metadata")
	for _, in := range []string{"annotations", "labels"} {
		_, keys := findEntry(metadata, in)
		if key, _ := findEntry(keys, where); key != nil {
			return true
		}
	}
	found := followPath(p.node, where)
	above, _, nested := cutLast(where, ".")
	return found != nil && (!nested || found != followPath(p.node, above))
}

// cutLast cuts a text around the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

func (p place) find(where string) *yaml.Node {
	_, metadata := findEntry(p.node, "metadata")
	_, keys := findEntry(metadata, "annotations")
	if key, _ := findEntry(keys, where); key != nil {
		return key
	}
	_, marks := findEntry(metadata, "labels")
	if key, _ := findEntry(marks, strings.TrimPrefix(where, "metadata.labels.")); key != nil {
		return key
	}
	if found := followPath(p.node, where); found != nil {
		return found
	}
	_, name := findEntry(metadata, "name")
	return name
}

// followPath follows a path such as spec.ports[1].port as far as it exists.
func followPath(node *yaml.Node, path string) *yaml.Node {
	var at *yaml.Node
	for _, part := range strings.Split(path, ".") {
		name, index, list := strings.Cut(part, "[")
		key, value := findEntry(node, name)
		if key == nil {
			return at
		}
		at, node = key, value
		if n, err := strconv.Atoi(strings.TrimSuffix(index, "]")); list && err == nil && node != nil && n < len(node.Content) {
			at, node = node.Content[n], node.Content[n]
		}
	}
	return at
}

// findEntry finds a key of a mapping and its value; nil if it is missing.
func findEntry(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}
