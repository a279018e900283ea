package cases

import (
	"reflect"
	"testing"

	"github.com/berth-lb/berth/stack"
)

type tangle struct {
	Name  string
	List  []string
	Parts map[string]*part
	Any   any
	own   int
}

type part struct {
	Port int32
	Open bool
}

// TestScramble: every place is reached, what was passed stays as it is, and the same
// bytes do the same.
func TestScramble(t *testing.T) {
	fresh := func() *tangle {
		return &tangle{Name: "a", List: []string{"x", "y"}, Parts: map[string]*part{"p": {Port: 1}}, Any: part{Port: 2}, own: 3}
	}
	from := fresh()
	changed := map[string]bool{}
	for where := range byte(32) {
		for how := range byte(6) {
			got := Scramble(from, []byte{where, how})
			if !reflect.DeepEqual(got, Scramble(from, []byte{where, how})) {
				t.Fatalf("%d %d: not the same twice", where, how)
			}
			if got.own != 3 {
				t.Errorf("%d %d: what is not exported is %d", where, how, got.own)
			}
			p, there := got.Parts["p"]
			changed["name"] = changed["name"] || got.Name != "a"
			changed["list"] = changed["list"] || len(got.List) == 1
			changed["no list"] = changed["no list"] || got.List == nil
			changed["map"] = changed["map"] || !there
			changed["in the map"] = changed["in the map"] || there && p.Open
			changed["in the interface"] = changed["in the interface"] || got.Any.(part).Port != 2
		}
	}
	if !reflect.DeepEqual(from, fresh()) {
		t.Errorf("the value itself was changed: %+v", from)
	}
	for _, what := range []string{"name", "list", "no list", "map", "in the map", "in the interface"} {
		if !changed[what] {
			t.Errorf("%s never changes", what)
		}
	}
}

// TestScrambleStack: resources go, and change in all but their keys.
func TestScrambleStack(t *testing.T) {
	from := &stack.Stack{}
	for _, name := range []string{"a", "b"} {
		from.Put(stack.Resource{Key: stack.Key{Kind: "thing", Name: name}, ID: name, Proof: stack.Name, Spec: part{Port: 1}})
	}
	seen := map[string]bool{}
	for op := range byte(8) {
		got := ScrambleStack(from, []byte{0, op, 2, 0})
		r, there := got.Get(stack.Key{Kind: "thing", Name: "a"})
		seen["gone"] = seen["gone"] || !there
		seen["id"] = seen["id"] || there && r.ID == ""
		seen["proof"] = seen["proof"] || there && r.Proof == stack.Tag
		seen["state"] = seen["state"] || there && r.State == stack.Failed
		seen["spec"] = seen["spec"] || there && r.Spec != from.Resources[0].Spec
	}
	if len(seen) != 5 || !seen["gone"] || !seen["id"] || !seen["proof"] || !seen["state"] || !seen["spec"] {
		t.Errorf("seen: %v", seen)
	}
	if r, there := from.Get(stack.Key{Kind: "thing", Name: "a"}); !there || r.ID != "a" {
		t.Errorf("the stack itself was changed: %+v", r)
	}
}
