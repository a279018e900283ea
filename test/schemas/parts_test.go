package schemas

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// partOf returns the properties of a part of a document; "*" stands for the members of a list.
func partOf(t *testing.T, name string, path ...string) map[string]*jsonschema.Schema {
	t.Helper()
	d, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	at, err := d.infer()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range path {
		if key == "*" {
			at = at.Items
		} else {
			at = at.Properties[key]
		}
		if at == nil {
			t.Fatalf("%s has no %q of %q", name, key, path)
		}
	}
	if len(at.Properties) == 0 {
		t.Fatalf("%s: %q has no properties", name, path)
	}
	return at.Properties
}

// TestParts: what the commands print of a Service are parts of its document. The page has all of
// them, and every other document has the same properties in the same form.
func TestParts(t *testing.T) {
	for name, part := range map[string]struct {
		document string
		path     []string
		whole    []string // in the document of one Service
		more     []string // that only the command has
	}{
		"status":   {"status", []string{"services", "*"}, nil, nil},
		"list":     {"page-services", []string{"services", "*"}, nil, nil},
		"plan":     {"plan", []string{"plans", "*"}, []string{"detail", "plan"}, nil},
		"problems": {"check", []string{"services", "*", "problems", "*"}, []string{"detail", "problems", "*"}, []string{"file", "line", "column"}},
		"fields":   {"explain", []string{"resources", "*"}, []string{"detail", "want", "*"}, nil},
		"nodes":    {"graph", []string{"nodes", "*"}, []string{"detail", "graph", "nodes", "*"}, nil},
		"edges":    {"graph", []string{"edges", "*"}, []string{"detail", "graph", "edges", "*"}, nil},
	} {
		got, want := partOf(t, part.document, part.path...), partOf(t, "page-service", part.whole...)
		for _, key := range part.more {
			delete(got, key)
		}
		if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
			t.Errorf("%s: %q, and in the document of a Service %q", name, a, b)
			continue
		}
		for key := range got {
			a, errA := json.Marshal(got[key])
			b, errB := json.Marshal(want[key])
			if errA != nil || errB != nil || string(a) != string(b) {
				t.Errorf("%s: %s is\n%s\nand in the document of a Service\n%s", name, key, a, b)
			}
		}
	}
}
