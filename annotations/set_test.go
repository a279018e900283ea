package annotations_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/test/golden"
)

// stringKey is a sound declaration that a case then spoils.
func stringKey(name string, kinds ...string) *annotations.Key[string] {
	return &annotations.Key[string]{
		Name: name, Doc: "A key.",
		Forms: []annotations.Form[string]{{Kinds: kinds, Type: annotations.String()}},
	}
}

func TestNewSetRefuses(t *testing.T) {
	untyped := stringKey("k")
	untyped.Forms[0].Type = annotations.Type[string]{}
	unreasoned := stringKey("k")
	unreasoned.Forms[0].Support = annotations.Later
	twoForms := stringKey("k", "clb")
	twoForms.Forms = append(twoForms.Forms, twoForms.Forms[0])
	aliased := stringKey("j")
	aliased.Aliases = []string{"k"}
	cases := []struct {
		name string
		in   []annotations.Declaration
		want string
	}{
		{"twice", []annotations.Declaration{stringKey("k"), stringKey("k")}, "k: declared twice for every kind"},
		{"twice for a kind", []annotations.Declaration{stringKey("k", "clb", "nlb"), stringKey("k", "nlb")}, "k: declared twice for nlb"},
		{"alias of another", []annotations.Declaration{stringKey("k"), aliased}, "k: declared twice for every kind"},
		{"no form", []annotations.Declaration{&annotations.Key[int]{Name: "k", Doc: "A key."}}, "k: has no form"},
		{"no doc", []annotations.Declaration{&annotations.Key[string]{Name: "k", Forms: stringKey("x").Forms}}, "k: has no doc sentence"},
		{"no name", []annotations.Declaration{stringKey("")}, ": the name is not a key"},
		{"not text", []annotations.Declaration{stringKey("\xff<PORT>")}, "\xff<PORT>: the name is not a key"},
		{"no type", []annotations.Declaration{untyped}, "k: form 1 has no type"},
		{"no reason", []annotations.Declaration{unreasoned}, `k: form 1 is "later" without a reason`},
		{"kind twice", []annotations.Declaration{twoForms}, "k: two forms are for the same kind"},
		{"foreign", []annotations.Declaration{annotations.Foreign("", "k*")}, "k*: a foreign key needs a reason"},
		{"several", []annotations.Declaration{untyped, unreasoned}, `k: form 1 has no type | k: form 1 is "later" without a reason | k: declared twice for every kind`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := annotations.NewSet("test", nil, c.in...)
			if err == nil {
				t.Fatal("NewSet accepted it")
			}
			if want := "test annotations: " + c.want; err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	}
}

func TestNewSetAllowsTheSameTextWhereItCannotClash(t *testing.T) {
	label := stringKey("k")
	label.On = annotations.ServiceLabel
	if _, err := annotations.NewSet("test", nil, stringKey("k", "clb"), stringKey("k", "nlb"), label); err != nil {
		t.Error(err)
	}
}

func TestKindsAndNames(t *testing.T) {
	set := mustSet(t)
	if diff := cmp.Diff([]string{"clb", "nlb"}, set.Kinds()); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	names := set.Names()
	if len(names) != 17 || names[0] != prefix+"action.<PROTOCOL>-<PORT>" || set.Provider() != "example" {
		t.Errorf("%d names of %s, first %s", len(names), set.Provider(), names[0])
	}
}

func TestTryExamples(t *testing.T) {
	if err := mustSet(t).TryExamples(testPorts); err != nil {
		t.Errorf("the example set: %v", err)
	}
	bad := &annotations.Key[int]{Name: "k", Doc: "A key.", Example: "ten", Forms: []annotations.Form[int]{{Type: annotations.Int()}}}
	set, err := annotations.NewSet("test", nil, bad)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.TryExamples(nil); err == nil || err.Error() != `k: example "ten" is not a whole number` {
		t.Errorf("TryExamples = %v", err)
	}
}

func TestAnyCaseKeys(t *testing.T) {
	key := stringKey("lb.example.com/Names")
	key.AnyCase = true
	set, err := annotations.NewSet("test", []string{prefix}, key)
	if err != nil {
		t.Fatal(err)
	}
	bag, problems := set.Parse("", annotations.Source{Annotations: map[string]string{"lb.example.com/nAMES": "x"}})
	if got := key.Get(bag); got != "x" || problems != nil {
		t.Errorf("value %q with %v, want x", got, problems)
	}
}

func TestMarkdown(t *testing.T) {
	page := annotations.Markdown(mustSet(t), "Annotations of the example cloud", "All keys begin with `lb.example.com/`.")
	golden.Check(t, "testdata/example.md", page)
	for _, line := range strings.Split(page, "\n") {
		if strings.TrimRight(line, " ") != line {
			t.Errorf("blanks at the end of %q", line)
		}
	}
}

func TestJSON(t *testing.T) {
	text, err := annotations.JSON(mustSet(t))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/example.json", string(text))
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	columns := []string{
		"key", "on", "kinds", "type", "unit", "min", "max", "values", "default", "change",
		"bad", "support", "reason", "doc", "source", "aliases", "perPort",
	}
	for _, row := range rows {
		for _, column := range columns {
			if _, ok := row[column]; !ok {
				t.Errorf("%v has no column %s", row["key"], column)
			}
		}
	}
}
