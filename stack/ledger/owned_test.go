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

// TestMayRelease: a release deletes what the Service had when it began and no other one has now. What another one has had
// and lost is deleted as well.
func TestMayRelease(t *testing.T) {
	one, two, three := ledger.Identity{Kind: "lb", ID: "1"}, ledger.Identity{Kind: "lb", ID: "2"}, ledger.Identity{Kind: "lb", ID: "3"}
	l := ledger.New()
	check := func(what, want string) {
		t.Helper()
		got := ""
		for _, id := range []ledger.Identity{one, two, three} {
			if l.MayRelease(a, id) {
				got += id.ID
			}
		}
		if got != want {
			t.Errorf("%s: may release %q, want %q", what, got, want)
		}
	}
	l.Own(a, []ledger.Identity{one, two, three}, false)
	check("not begun", "")
	l.Leave(a)
	l.BeginRelease(a, []ledger.Identity{one, two})
	l.BeginRelease(a, []ledger.Identity{three})
	l.Leave(a)
	check("begun", "12")
	l.Own(b, []ledger.Identity{two}, false)
	check("found with another one", "1")
	l.Own(b, nil, false)
	check("no longer found with it", "12")
	l.Forget(a)
	check("forgotten", "")
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
