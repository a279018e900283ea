package codec_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/kit/codec"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// crane is a spec that uses every sort of field.
type crane struct {
	Name   string
	Dock   stack.Ref
	Load   int
	Hooks  []string
	Labels map[string]string
	Motor  motor
	Gears  []gear
	Lit    bool
	State  string
	Note   string
	Rest   string
}

type motor struct{ Power, Speed int }

type gear struct{ Teeth int }

func craneKind() codec.Kind[crane] {
	return codec.New("crane", "v1/tower-cranes",
		codec.Of("name", func(c *crane) *string { return &c.Name }),
		codec.Ref("dock_id", func(c *crane) *stack.Ref { return &c.Dock }).InPlace(),
		codec.Of("load", func(c *crane) *int { return &c.Load }).InPlace().Always(),
		codec.Of("hooks", func(c *crane) *[]string { return &c.Hooks }).InPlace(),
		codec.Of("labels", func(c *crane) *map[string]string { return &c.Labels }).WithUpdates().When(func(c crane) bool { return c.Labels != nil }),
		codec.Nested("motor", func(c *crane) *motor { return &c.Motor },
			codec.Of("power", func(m *motor) *int { return &m.Power }),
			codec.Of("speed", func(m *motor) *int { return &m.Speed }).Always(),
		).Immutable(),
		codec.List("gears", func(c *crane) *[]gear { return &c.Gears }, codec.New("gear", "gears", codec.Of("teeth", func(g *gear) *int { return &g.Teeth }))).InPlace(),
		codec.As("light", func(c *crane) *bool { return &c.Lit },
			func(lit bool) (any, bool) { return "on", lit },
			func(lit *bool, text json.RawMessage) error { *lit = string(text) == `"on"`; return nil }).InPlace().Null(),
		codec.Of("state", func(c *crane) *string { return &c.State }).ReadOnly(),
	).Aside("Note").Rest(func(c *crane) *string { return &c.Rest }).Tidied(func(c *crane) { slices.Sort(c.Hooks) })
}

func resolveID(r stack.Ref) string { return "id of " + r.To.Name }

func fullCrane() crane {
	return crane{
		Name: "a", Dock: stack.RefTo(stack.Key{Kind: "dock", Name: "west"}), Load: 5, Hooks: []string{"x"}, Labels: map[string]string{"k": "v"},
		Motor: motor{Power: 7}, Gears: []gear{{9}}, Lit: true, State: "busy", Note: "n", Rest: `{"paint":"red"}`,
	}
}

func TestBodies(t *testing.T) {
	kind := craneKind()
	for name, tc := range map[string]struct {
		body codec.Object
		want string
	}{
		"create":                  {kind.Create(fullCrane(), resolveID), `{"name":"a","dock_id":"id of west","load":5,"hooks":["x"],"labels":{"k":"v"},"motor":{"power":7,"speed":0},"gears":[{"teeth":9}],"light":"on","paint":"red"}`},
		"create without values":   {kind.Create(crane{}, resolveID), `{"load":0}`},
		"update of nothing":       {kind.Update(crane{}, nil, resolveID), `{}`},
		"update of one field":     {kind.Update(crane{Load: 3, Hooks: []string{"x"}}, []string{"Load"}, resolveID), `{"load":3}`},
		"update to nothing":       {kind.Update(crane{}, []string{"Dock", "Load", "Hooks", "Gears", "Lit"}, resolveID), `{"dock_id":"","load":0,"hooks":[],"gears":[],"light":null}`},
		"update with a companion": {kind.Update(crane{Load: 3, Labels: map[string]string{}}, []string{"Load"}, resolveID), `{"load":3,"labels":{}}`},
		"update of fixed fields":  {kind.Update(fullCrane(), []string{"Name", "Motor", "State", "Note"}, resolveID), `{"labels":{"k":"v"}}`},
		"replace":                 {kind.Replace(crane{Load: 1, Rest: `{"paint":"red"}`}, resolveID), `{"load":1,"light":null,"paint":"red"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var want codec.Object
			if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(tc.body)
			if err != nil {
				t.Fatal(err)
			}
			var got codec.Object
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("body (-want +got):\n%s", d)
			}
		})
	}
}

// TestDecode verifies that an observed object has the spec that was written, and that fields
// without a declaration are kept.
func TestDecode(t *testing.T) {
	text, err := json.Marshal(craneKind().Create(fullCrane(), resolveID))
	if err != nil {
		t.Fatal(err)
	}
	want := fullCrane()
	want.Dock, want.State, want.Note = stack.RefID("id of west"), "", ""
	got, err := craneKind().Decode(text)
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("error %v, spec (-want +got):\n%s", err, d)
	}
	got, err = craneKind().Decode([]byte(`{"hooks":["b","a"],"dock_id":null,"light":null,"gears":null,"motor":null,"state":"idle","paint":"","wheels":[]}`))
	if d := cmp.Diff(crane{Hooks: []string{"a", "b"}, State: "idle"}, got); err != nil || d != "" {
		t.Errorf("error %v, spec (-want +got):\n%s", err, d)
	}
	if _, err := craneKind().Decode([]byte(`{"motor":{"power":"high"}}`)); err == nil || !strings.Contains(err.Error(), "crane: motor: power") {
		t.Errorf("error %v, want the path of the field", err)
	}
}

func TestRule(t *testing.T) {
	got := craneKind().Rule(diff.Rule{Fields: diff.Fields{Ignore: []string{"Note"}, Immutable: []string{"Lit"}}})
	if d := cmp.Diff([]string{"Lit", "Motor"}, got.Immutable); d != "" {
		t.Errorf("immutable (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"Labels", "Name", "Note", "State"}, got.Ignore); d != "" {
		t.Errorf("ignored (-want +got):\n%s", d)
	}
}

func TestNames(t *testing.T) {
	kind := craneKind()
	if kind.Many != "tower_cranes" || kind.Operation("GET") != "GET tower-cranes" {
		t.Errorf("a list is named %q and its operation %q", kind.Many, kind.Operation("GET"))
	}
}

// TestProblems verifies that a declaration which forgets a field of the spec is reported.
func TestProblems(t *testing.T) {
	if got := craneKind().Problems(); len(got) > 0 {
		t.Errorf("problems of a complete declaration: %q", got)
	}
	other := ""
	broken := codec.New("gear", "gears", codec.Of("teeth", func(*gear) *string { return &other }), codec.Of("teeth", func(*gear) *string { return &other }))
	want := []string{"teeth: stands for no field of the spec", "teeth: is declared twice", "teeth: stands for no field of the spec", "Teeth: the spec's field is neither declared nor set aside"}
	if d := cmp.Diff(want, broken.Problems()); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
}
