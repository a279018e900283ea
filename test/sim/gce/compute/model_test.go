package compute

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/gce/model"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

func TestRoutesAreTheAPIs(t *testing.T) {
	m, err := model.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range New(Options{}).Routes() {
		method := m.Method(r.ID)
		if method == nil {
			t.Errorf("%s: the API has no such method", r.ID)
			continue
		}
		if diff := cmp.Diff([]string{"compute." + r.ID, method.HTTPMethod, method.Path}, []string{method.ID, r.Method, r.Path}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", r.ID, diff)
		}
	}
}

func TestSchemasAreTheAPIs(t *testing.T) {
	m, err := model.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, col := range newCollections() {
		name := map[string]string{"addresses": "Address", "backendServices": "BackendService", "publicDelegatedPrefixes": "PublicDelegatedPrefix"}[col.name]
		if name == "" {
			name = string(col.name[0]-'a'+'A') + col.name[1:len(col.name)-1]
		}
		p := m.Schemas[name]
		if p == nil {
			t.Fatalf("%s: the API has no schema %s", col.name, name)
		}
		if kind := p.Properties["kind"].Default; kind != col.kind() {
			t.Errorf("%s: kind %s, want %s", col.name, col.kind(), kind)
		}
		for _, problem := range compareSchema(m, p, col.schema, name) {
			// All kinds share these two, and not all have them.
			if problem != name+".region: no such field" && problem != name+".zone: no such field" {
				t.Error(problem)
			}
		}
	}
}

func compareSchema(m *model.Model, p *model.Property, schema wire.Schema, at string) []string {
	var out []string
	for name, f := range schema {
		at := at + "." + name
		want := p.Properties[name]
		if want == nil {
			out = append(out, at+": no such field")
			continue
		}
		want = m.Resolve(want)
		if f.List != (want.Type == "array") {
			out = append(out, fmt.Sprintf("%s: list %v, want %v", at, f.List, want.Type))
			continue
		}
		if f.List {
			want = m.Resolve(want.Items)
		}
		types := map[wire.Type][]string{
			wire.Text: {"string"}, wire.Bytes: {"string"}, wire.Int: {"integer"}, wire.Number: {"number"},
			wire.Truth: {"boolean"}, wire.Map: {"object"}, wire.Nested: {"object"},
		}
		if !slices.Contains(types[f.Type], want.Type) {
			out = append(out, fmt.Sprintf("%s: want %s", at, want.Type))
		}
		if f.Type == wire.Bytes && want.Format != "byte" {
			out = append(out, at+": want no bytes")
		}
		for _, v := range f.Values {
			if !slices.Contains(want.Enum, v) {
				out = append(out, fmt.Sprintf("%s: %q is not one of %v", at, v, want.Enum))
			}
		}
		if f.Fields != nil {
			out = append(out, compareSchema(m, want, f.Fields, at)...)
		}
	}
	return out
}
