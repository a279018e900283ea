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

// TestPortMarks: a key may be written as its cloud writes it; both marks mean the
// number of a port, and a misspelt key is led to either.
func TestPortMarks(t *testing.T) {
	for _, name := range []string{"lb.example.com/port_{port}_probe", "lb.example.com/port_<PORT>_probe"} {
		key := stringKey(name)
		set, err := annotations.NewSet("test", []string{prefix}, key)
		if err != nil {
			t.Fatal(err)
		}
		bag, problems := set.Parse("", annotations.Source{Ports: testPorts, Annotations: map[string]string{
			"lb.example.com/port_80_probe": "x", "lb.example.com/port_81_probe": "y", "lb.example.com/port_443_prob": "z",
		}})
		if got := key.Port(bag, 80); got != "x" {
			t.Errorf("%s: value %q, want x", name, got)
		}
		told := strings.Join(problems.Strings(), "\n")
		for _, want := range []string{`names port "81"`, "lb.example.com/port_443_probe"} {
			if !strings.Contains(told, want) {
				t.Errorf("%s: told %s, want %s in it", name, told, want)
			}
		}
		if row := annotations.Rows(set)[0]; !row.PerPort || row.Key != name {
			t.Errorf("row %+v", row)
		}
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

func TestRowsDescribe(t *testing.T) {
	list := func(def []string) *annotations.Key[[]string] {
		return &annotations.Key[[]string]{
			Name: "k", Doc: "A key.",
			Forms: []annotations.Form[[]string]{{Type: annotations.ListOf(annotations.Enum("a", "b")), Default: def}},
		}
	}
	accepted := stringKey("k")
	accepted.Forms[0].Support, accepted.Forms[0].Reason = annotations.Accepted, "gone"
	mixed := stringKey("k", "clb")
	mixed.Forms[0].Support, mixed.Forms[0].Reason = annotations.Later, "soon"
	mixed.Forms = append(mixed.Forms, accepted.Forms[0])
	cases := []struct {
		name string
		key  annotations.Declaration
		got  func(annotations.Row) any
		want any
	}{
		{"default list", list([]string{"a", "b"}), func(r annotations.Row) any { return r.Default }, "a b"},
		{"empty default list", list([]string{}), func(r annotations.Row) any { return r.Default }, "none"},
		{"no default list", list(nil), func(r annotations.Row) any { return r.Default }, "none"},
		{"item values", list(nil), func(r annotations.Row) any { return r.Values }, []string{"a", "b"}},
		{"support", accepted, func(r annotations.Row) any { return r.Reason }, "gone"},
		{"the better support of two", mixed, func(r annotations.Row) any { return r.Support }, annotations.Accepted},
		{"variants", mixed, func(r annotations.Row) any { return len(r.Variants) }, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			set, err := annotations.NewSet("test", nil, c.key)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.got(annotations.Rows(set)[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMarkdownTellsHeadingsApart(t *testing.T) {
	first, second := stringKey("a.b"), stringKey("ab")
	second.Forms[0].Change = annotations.Refused
	second.Forms[0].Support, second.Forms[0].Reason = annotations.Accepted, "it is | gone"
	set, err := annotations.NewSet("test", nil, first, second)
	if err != nil {
		t.Fatal(err)
	}
	page := annotations.Markdown(set, "Page", "")
	for _, want := range []string{
		"- [`a.b`](#ab)\n", "- [`ab`](#ab-1) (no effect)\n", "## Other\n", "| A change | is refused |\n",
		"| Support | accepted without effect: it is \\| gone |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	set := mustSet(b)
	src := annotations.Source{
		Annotations: withPrefix(map[string]string{"scheme": "internal", "check-interval": "20", "attributes.80": "a=b", "nonsense": "1"}),
		Ports:       testPorts,
	}
	for b.Loop() {
		set.Parse("nlb", src)
	}
}

// TestCollect: declarations at fault are an error, and a set that refuses every
// Service.
func TestCollect(t *testing.T) {
	if _, err := annotations.Collect("p", []string{"example.com/"}, nil, []annotations.Declaration{stringKey("example.com/a")}); err != nil {
		t.Errorf("declarations without fault: %v", err)
	}
	set, err := annotations.Collect("p", []string{"example.com/"}, nil, []annotations.Declaration{stringKey("example.com/a")}, []annotations.Declaration{stringKey("example.com/a")})
	if err == nil {
		t.Fatal("a key that is declared twice is no error")
	}
	if _, problems := set.Parse("k", annotations.Source{}); !problems.Errors() {
		t.Error("a set at fault refuses nothing")
	}
}
