package annotations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/annotations"
)

// TestCompletions: a shell offers the keys that users write and that have an effect, with their
// legal values, of several sets at once; and no value of a key that is secret.
func TestCompletions(t *testing.T) {
	form := func(typ annotations.Type[string], s annotations.Support) []annotations.Form[string] {
		return []annotations.Form[string]{{Type: typ, Support: s, Reason: "it is a test", Doc: "d", Source: "s"}}
	}
	key := func(name, example string, typ annotations.Type[string]) *annotations.Key[string] {
		return &annotations.Key[string]{Name: name, Group: "g", Doc: "d", Example: example, Names: annotations.NamesNothing(), Forms: form(typ, annotations.Works)}
	}
	reported := key("lb.example.com/reported", "x", annotations.String())
	reported.Writer = annotations.ByController
	secret := key("lb.example.com/secret", "hunter2", annotations.String())
	secret.Secret = true
	later := key("lb.example.com/later", "x", annotations.String())
	later.Forms = form(annotations.String(), annotations.Later)
	first, err := annotations.NewSet("example", nil, key("lb.example.com/mode", "", annotations.Enum("fast", "slow")), key("lb.example.com/name", "blue", annotations.String()), reported, secret, later)
	if err != nil {
		t.Fatal(err)
	}
	second, err := annotations.NewSet("other", nil, key("lb.other.com/mode", "", annotations.Enum("on", "off")))
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string][]string{
		"": {
			"lb.example.com/mode=\t\"fast\" or \"slow\"", "lb.example.com/name=\tany text", "lb.example.com/secret=\tany text", "lb.other.com/mode=\t\"on\" or \"off\"",
		},
		"lb.example.com/mode=": {"lb.example.com/mode=fast", "lb.example.com/mode=slow"},
		"lb.example.com/name=": {"lb.example.com/name=blue"}, "lb.example.com/secret=": nil, "lb.example.com/reported=": nil, "lb.example.com/none=": nil,
	} {
		if d := cmp.Diff(want, annotations.Completions(typed, first, second)); d != "" {
			t.Errorf("%q (-want +got):\n%s", typed, d)
		}
	}
	if d := cmp.Diff([]string{"lb.other.com/mode"}, annotations.CompletionsOfKeys(second)); d != "" {
		t.Errorf("keys (-want +got):\n%s", d)
	}
}
