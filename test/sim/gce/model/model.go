package model

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Property is the description of a field, or of a whole resource.
type Property struct {
	Ref        string               `json:"$ref"`
	Type       string               `json:"type"`
	Format     string               `json:"format"`
	Default    string               `json:"default"`
	Enum       []string             `json:"enum"`
	Items      *Property            `json:"items"`
	Properties map[string]*Property `json:"properties"`
	Additional *Property            `json:"additionalProperties"`
}

// Method is the description of a method.
type Method struct {
	ID         string                 `json:"id"`
	HTTPMethod string                 `json:"httpMethod"`
	Path       string                 `json:"path"`
	Request    *Property              `json:"request"`
	Response   *Property              `json:"response"`
	Parameters map[string]interface{} `json:"parameters"`
}

// Model is the description of the whole API.
type Model struct {
	Schemas   map[string]*Property `json:"schemas"`
	Resources map[string]struct {
		Methods map[string]*Method `json:"methods"`
	} `json:"resources"`
}

// Load reads the description out of the module cache.
func Load() (*Model, error) {
	dir, err := exec.CommandContext(context.Background(), "go", "list", "-f", "{{.Dir}}", "google.golang.org/api/compute/v1").Output()
	if err != nil {
		return nil, fmt.Errorf("folder of google.golang.org/api/compute/v1: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "compute-api.json"))
	if err != nil {
		return nil, err
	}
	m := &Model{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("description of the API: %w", err)
	}
	return m, nil
}

// Method gives the method with a name such as "forwardingRules.insert".
func (m *Model) Method(id string) *Method {
	resource, verb, _ := strings.Cut(id, ".")
	return m.Resources[resource].Methods[verb]
}

// Resolve follows a reference to the schema that it names.
func (m *Model) Resolve(p *Property) *Property {
	for p != nil && p.Ref != "" {
		p = m.Schemas[p.Ref]
	}
	return p
}

// Check compares a value as encoding/json decodes it with a description, and
// gives every difference.
func (m *Model) Check(p *Property, value any, at string) []string {
	p = m.Resolve(p)
	wrong := []string{fmt.Sprintf("%s: %v is no %s", at, value, p.Type)}
	switch p.Type {
	case "object":
		object, ok := value.(map[string]any)
		if !ok {
			return wrong
		}
		return m.checkObject(p, object, at)
	case "array":
		list, ok := value.([]any)
		if !ok {
			return wrong
		}
		var out []string
		for i, v := range list {
			out = append(out, m.Check(p.Items, v, fmt.Sprintf("%s[%d]", at, i))...)
		}
		return out
	case "string":
		s, ok := value.(string)
		if !ok {
			return wrong
		}
		if len(p.Enum) > 0 && !slices.Contains(p.Enum, s) {
			return []string{fmt.Sprintf("%s: %q is not one of %v", at, s, p.Enum)}
		}
		return nil
	case "boolean":
		if _, ok := value.(bool); ok {
			return nil
		}
		return wrong
	}
	if _, ok := value.(float64); ok {
		return nil
	}
	return wrong
}

func (m *Model) checkObject(p *Property, object map[string]any, at string) []string {
	var out []string
	for name, v := range object {
		field := p.Properties[name]
		if field == nil {
			field = p.Additional
		}
		if field == nil {
			out = append(out, fmt.Sprintf("%s.%s: no such field", at, name))
			continue
		}
		out = append(out, m.Check(field, v, at+"."+name)...)
		if name == "kind" && field.Default != "" && field.Default != v {
			out = append(out, fmt.Sprintf("%s.kind: %q, want %q", at, v, field.Default))
		}
	}
	return out
}
