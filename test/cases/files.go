package cases

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// Unmarshal reads a YAML file. A field that the value does not have is an error.
func Unmarshal(t testing.TB, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decodeYAML(t, file, string(text), into)
}

// decodeYAML reads the text of a YAML file.
func decodeYAML(t testing.TB, file, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// ReadWorld reads the surroundings of a case that replaces nothing of them.
func ReadWorld(t testing.TB, into any) {
	t.Helper()
	Unmarshal(t, worldFile, into)
}

// worldFile is what stands around the cases of a cloud.
const worldFile = "testdata/world.yaml"

// overlayFields reads the surroundings of a case into a value: the fields of the world, overlaid
// with the fields that a text of the file replaces. Fields of facts are overlaid one by one.
// In a field that appended names, the text is appended to the field of the world's "config".
// The texts are merged, since decoding twice into one value would mix the members of lists.
func overlayFields(t testing.TB, file, text string, into any, appended ...string) {
	t.Helper()
	base, over := map[string]any{}, map[string]any{}
	Unmarshal(t, worldFile, &base)
	decodeYAML(t, file, text, &over)
	if facts, ok := over["facts"].(map[string]any); ok {
		all, _ := base["facts"].(map[string]any)
		maps.Copy(all, facts)
		over["facts"] = all
	}
	start, _ := base["config"].(string)
	for _, field := range appended {
		if more, ok := over[field].(string); ok {
			over[field] = start + more
		}
	}
	maps.Copy(base, over)
	merged, err := json.Marshal(base) // which is YAML too, and cheaper to write
	if err != nil {
		t.Fatal(err)
	}
	decodeYAML(t, file, string(merged), into)
}
