package helm

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is one entry of values.yaml: a section of further ones, or something that
// is described and can be set.
type value struct {
	key      string
	doc      string         // of what can be set; empty for a section
	more     map[string]any // what @schema lines add
	node     *yaml.Node
	sections []value // below a section
}

// readValues reads values.yaml with its comments.
func readValues(text []byte) ([]value, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	return readSection("", doc.Content[0])
}

func readSection(path string, node *yaml.Node) ([]value, error) {
	var out []value
	for i := 0; i < len(node.Content); i += 2 {
		v := value{key: node.Content[i].Value, node: node.Content[i+1]}
		where := strings.TrimPrefix(path+"."+v.key, ".")
		if err := v.readComment(node.Content[i].HeadComment); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if v.doc == "" {
			if v.node.Kind != yaml.MappingNode || len(v.node.Content) == 0 {
				return nil, fmt.Errorf("%s: no description: a comment that begins with --", where)
			}
			var err error
			if v.sections, err = readSection(where, v.node); err != nil {
				return nil, err
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// readComment takes description and schema out of a comment. Whatever stands
// before the description belongs to the file and not to the value.
func (v *value) readComment(comment string) error {
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#"))
		if text, ok := strings.CutPrefix(line, "@schema "); ok {
			if err := json.Unmarshal([]byte(text), &v.more); err != nil {
				return fmt.Errorf("@schema: %w", err)
			}
			continue
		}
		if text, ok := strings.CutPrefix(line, "-- "); ok {
			v.doc = text
		} else if v.doc != "" && line != "" {
			v.doc += " " + line
		}
	}
	return nil
}

// valuesSchema returns the JSON schema of values: what is not declared is an error,
// since it would be ignored.
func valuesSchema(values []value) map[string]any {
	properties := map[string]any{
		// Helm adds it where the chart is a part of another one.
		"global": map[string]any{"type": "object"},
	}
	for _, v := range values {
		properties[v.key] = v.schema()
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

func (v *value) schema() map[string]any {
	if v.doc == "" {
		out := valuesSchema(v.sections)
		delete(out["properties"].(map[string]any), "global")
		return out
	}
	out := map[string]any{"type": typeOf(v.node), "description": v.doc}
	for key, more := range v.more {
		out[key] = more
	}
	return out
}

func typeOf(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "object"
	case node.Kind == yaml.SequenceNode:
		return "array"
	case node.Tag == "!!bool":
		return "boolean"
	case node.Tag == "!!int":
		return "integer"
	}
	return "string"
}

// valuesTable returns the table of values for the chart's page.
func valuesTable(path string, values []value) (string, error) {
	var out strings.Builder
	for _, v := range values {
		where := strings.TrimPrefix(path+"."+v.key, ".")
		if v.doc == "" {
			below, err := valuesTable(where, v.sections)
			if err != nil {
				return "", err
			}
			out.WriteString(below)
			continue
		}
		var plain any
		if err := v.node.Decode(&plain); err != nil {
			return "", err
		}
		text, err := json.Marshal(plain)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "| `%s` | `%s` | %s |\n", where, strings.ReplaceAll(string(text), "|", `\|`), strings.ReplaceAll(v.doc, "|", `\|`))
	}
	return out.String(), nil
}
