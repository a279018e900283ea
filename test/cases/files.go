package cases

import (
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
	decode(t, file, string(text), into)
}

// decode reads the text of a YAML file.
func decode(t testing.TB, file, text string, into any) {
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

// overlay reads the surroundings of a case into a value: the fields of the world,
// over which those that the case replaces are laid, from a text of the file. Fields of
// facts are laid over one by one. The text in a field that appended names goes on
// where the one of the world's "config" ends. The texts are merged, since decoding
// twice into one value would mix the members of lists.
func overlay(t testing.TB, file, text string, into any, appended ...string) {
	t.Helper()
	base, over := map[string]any{}, map[string]any{}
	Unmarshal(t, worldFile, &base)
	decode(t, file, text, &over)
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
	merged, err := yaml.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, file, string(merged), into)
}
