package ledger_test

import (
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
)

// TestOwn: the first owner of an identity keeps it until it leaves or is found without it.
func TestOwn(t *testing.T) {
	group, pool := ledger.Identity{Kind: "group", ID: "1"}, ledger.Identity{Kind: "pool", In: "lb-1", ID: "1"}
	l := ledger.New()
	check := func(what string, id ledger.Identity, want string) {
		t.Helper()
		o, known := l.OwnerOf(id)
		if o.Name != want || known != (want != "") {
			t.Errorf("%s: %v is of %q, %v; want %q", what, id, o.Name, known, want)
		}
	}
	l.Own(a, []ledger.Identity{group}, false)
	l.Own(b, []ledger.Identity{group, pool}, false)
	check("taken already", group, "a")
	check("another one", pool, "b")
	l.Own(b, nil, true)
	check("kept", pool, "b")
	l.Own(b, nil, false)
	check("found without", pool, "")
	l.Leave(a)
	check("left", group, "")
	l.Own(b, []ledger.Identity{group}, false)
	check("free again", group, "b")
}

// TestBeginRelease: what a Service has when its release begins stays its own until it is forgotten, or until a
// later Service is found to have it.
func TestBeginRelease(t *testing.T) {
	one, two, three := ledger.Identity{Kind: "lb", ID: "1"}, ledger.Identity{Kind: "lb", ID: "2"}, ledger.Identity{Kind: "lb", ID: "3"}
	l := ledger.New()
	check := func(what, want string) {
		t.Helper()
		got := ""
		for _, id := range []ledger.Identity{one, two, three} {
			o, _ := l.OwnerOf(id)
			got += id.ID + o.Name + " "
		}
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	l.Own(a, []ledger.Identity{three}, false)
	l.BeginRelease(a, []ledger.Identity{one, two})
	l.BeginRelease(a, []ledger.Identity{three})
	l.Leave(a)
	check("begun", "1a 2a 3 ")
	l.Own(b, []ledger.Identity{two, three}, false)
	check("used by a later one", "1a 2b 3b ")
	l.Forget(a)
	check("forgotten", "1 2b 3b ")
	l.BeginRelease(b, []ledger.Identity{two})
	l.Own(b, []ledger.Identity{one}, false) // it is served again
	l.Leave(b)
	check("left", "1 2 3 ")
}

// TestNamesake: a Service of the same name with another UID counts, as soon as it is entered
// and until it leaves, whether its desired state is known or not.
func TestNamesake(t *testing.T) {
	later := a
	later.UID = "later"
	l := ledger.New()
	check := func(what string, entered, doubted bool) {
		t.Helper()
		if e, d := l.Namesake(a); e != entered || d != doubted {
			t.Errorf("%s: entered %v, doubted %v", what, e, d)
		}
	}
	l.Enter(a, nil)
	l.Enter(b, nil)
	check("none", false, false)
	l.EnterUnknown(later, func(stack.Resource) bool { return true })
	check("unknown", true, false)
	l.Enter(later, nil)
	l.Doubt(later)
	check("a creation in doubt", true, true)
	l.Own(later, nil, true)
	check("after a run that saw a part", true, true)
	l.Own(later, nil, false)
	check("after a run that saw all", true, false)
	l.Doubt(later)
	l.Leave(later)
	check("left", false, false)
}
