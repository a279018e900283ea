package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack/plan"
)

// Draft is the version of JSON Schema.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Document is a JSON document of a command.
type Document struct {
	Name    string // of the file of its schema
	Command string // that prints it
	typ     reflect.Type
}

// Documents lists the documents.
func Documents() []Document {
	return []Document{
		{"annotations", "berth annotations -o json", reflect.TypeFor[[]offline.Row]()},
		{"check", "berth check -o json", reflect.TypeFor[offline.Checked]()},
		{"diff", "berth diff -o json", reflect.TypeFor[offline.Difference]()},
		{"doctor", "berth doctor -o json", reflect.TypeFor[offline.Checkup]()},
		{"explain", "berth explain -o json", reflect.TypeFor[offline.Explained]()},
		{"graph", "berth graph -o json", reflect.TypeFor[offline.Topology]()},
		{"page-service", "one Service of berth ui", reflect.TypeFor[view.Service]()},
		{"page-services", "the Services of berth ui", reflect.TypeFor[view.Fleet]()},
		{"page-shared", "the shared resources of berth ui", reflect.TypeFor[view.Shared]()},
		{"plan", "berth plan -o json and berth orphans -o json", reflect.TypeFor[plan.Document]()},
		{"status", "berth status -o json", reflect.TypeFor[offline.Standings]()},
	}
}

// Find returns the document with a name.
func Find(name string) (Document, error) {
	for _, d := range Documents() {
		if d.Name == name {
			return d, nil
		}
	}
	return Document{}, fmt.Errorf("no document %q", name)
}

// branches is the place of the only type that contains itself.
const branches = "Branch"

// infer returns the schema of the type, which allows no other properties than those of the type.
func (d Document) infer() (*jsonschema.Schema, error) {
	times := &jsonschema.Schema{Types: []string{"string", "null"}, Format: "date-time"}
	known := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[metav1.Time](): times,
		reflect.TypeFor[json.Number](): {Type: "number"},
		reflect.TypeFor[view.Branch](): {Ref: "#/$defs/" + branches},
	}
	out, err := jsonschema.ForType(d.typ, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, err
	}
	if slices.Contains([]reflect.Type{reflect.TypeFor[offline.Standings](), reflect.TypeFor[view.Fleet](), reflect.TypeFor[view.Service]()}, d.typ) {
		if out.Defs, err = branchSchema(known); err != nil {
			return nil, err
		}
	}
	out.Schema, out.Title = Draft, d.Command
	return out, nil
}

// branchSchema returns the definition of the type that contains itself.
func branchSchema(known map[reflect.Type]*jsonschema.Schema) (map[string]*jsonschema.Schema, error) {
	// A type of the same fields, so that only the nested use is a reference.
	type branch view.Branch
	schema, err := jsonschema.ForType(reflect.TypeFor[branch](), &jsonschema.ForOptions{TypeSchemas: known})
	return map[string]*jsonschema.Schema{branches: schema}, err
}

// Publish returns the text of the schema for readers: they ignore properties that a later version
// adds.
func (d Document) Publish() (string, error) {
	schema, err := d.infer()
	if err != nil {
		return "", err
	}
	allowOthers(reflect.ValueOf(schema), map[any]bool{})
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(schema)
	return out.String(), err
}

// allowOthers removes the prohibition of other properties from a schema and from everything below
// it.
func allowOthers(v reflect.Value, seen map[any]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		schema, ok := v.Interface().(*jsonschema.Schema)
		if !ok || schema == nil || seen[schema] {
			return
		}
		seen[schema] = true
		if len(schema.Properties) > 0 {
			schema.AdditionalProperties = nil
		}
		allowOthers(v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				allowOthers(v.Field(i), seen)
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			allowOthers(v.MapIndex(key), seen)
		}
	case reflect.Slice:
		for i := range v.Len() {
			allowOthers(v.Index(i), seen)
		}
	default: // no schema below
	}
}

// Validate reports where a text differs from the schema, including properties that the schema
// does not have.
func (d Document) Validate(text string) error {
	schema, err := d.infer()
	if err != nil {
		return err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return fmt.Errorf("schema of %s: %w", d.Command, err)
	}
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("%s: %w", d.Command, err)
	}
	return resolved.Validate(doc)
}
