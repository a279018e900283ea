package ledger_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
)

var (
	object = stack.Key{Kind: "node-group", Name: "sg-1"}
	a      = stack.Owner{Namespace: "ns", Name: "a", UID: "1"}
	b      = stack.Owner{Namespace: "ns", Name: "b", UID: "2"}
	c      = stack.Owner{Namespace: "ns", Name: "c", UID: "3"}
)

func entryNamed(name string) stack.Resource {
	return stack.Resource{Key: stack.Key{Kind: "rule", Name: name}, In: object, Ownership: stack.Shared}
}

func ownerNames(owners []stack.Owner) []string {
	out := []string{}
	for _, o := range owners {
		out = append(out, o.Name)
	}
	return out
}

func TestOthers(t *testing.T) {
	yes := func(stack.Resource) bool { return true }
	for name, tc := range map[string]struct {
		fill  func(*ledger.Ledger)
		entry stack.Resource
		want  []string
	}{
		"nobody": {func(*ledger.Ledger) {}, entryNamed("80"), []string{}},
		"never oneself": {func(l *ledger.Ledger) {
			l.Enter(a, []stack.Resource{entryNamed("80")})
		}, entryNamed("80"), []string{}},
		"in order": {func(l *ledger.Ledger) {
			l.Enter(c, []stack.Resource{entryNamed("80")})
			l.Enter(b, []stack.Resource{entryNamed("80")})
		}, entryNamed("80"), []string{"b", "c"}},
		"entering replaces": {func(l *ledger.Ledger) {
			l.Enter(b, []stack.Resource{entryNamed("80")})
			l.Enter(b, []stack.Resource{entryNamed("81")})
		}, entryNamed("80"), []string{}},
		"found with another owner": {func(l *ledger.Ledger) {
			l.Enter(b, []stack.Resource{entryNamed("81")})
			l.Hold(b, []stack.Resource{entryNamed("80")})
		}, entryNamed("80"), []string{"b"}},
		"found with both: each may remove it": {func(l *ledger.Ledger) {
			l.Hold(a, []stack.Resource{entryNamed("80")})
			l.Hold(b, []stack.Resource{entryNamed("80")})
		}, entryNamed("80"), []string{}},
		"found with another owner, and replaced": {func(l *ledger.Ledger) {
			l.Hold(b, []stack.Resource{entryNamed("80")})
			l.Hold(b, []stack.Resource{entryNamed("81")})
		}, entryNamed("80"), []string{}},
		"found with an owner that has left": {func(l *ledger.Ledger) {
			l.Hold(b, []stack.Resource{entryNamed("80")})
			l.Leave(b)
		}, entryNamed("80"), []string{}},
		"a new wish replaces no evidence": {func(l *ledger.Ledger) {
			l.Hold(b, []stack.Resource{entryNamed("80")})
			l.Enter(b, []stack.Resource{entryNamed("81")})
		}, entryNamed("80"), []string{"b"}},
		"owned ones are not shared": {func(l *ledger.Ledger) {
			owned := entryNamed("80")
			owned.Ownership = stack.Owned
			l.Enter(b, []stack.Resource{owned})
		}, entryNamed("80"), []string{}},
		"the same key in another object is another entry": {func(l *ledger.Ledger) {
			elsewhere := entryNamed("80")
			elsewhere.In.Name = "sg-2"
			l.Enter(b, []stack.Resource{elsewhere})
		}, entryNamed("80"), []string{}},
		"leaving": {func(l *ledger.Ledger) {
			l.Enter(b, []stack.Resource{entryNamed("80")})
			l.Leave(b)
		}, entryNamed("80"), []string{}},
		"an unknown owner errs on yes": {func(l *ledger.Ledger) { l.EnterUnknown(b, yes) }, entryNamed("80"), []string{"b"}},
		"an unknown owner keeps what was entered before": {func(l *ledger.Ledger) {
			l.Enter(b, []stack.Resource{entryNamed("80")})
			l.EnterUnknown(b, func(stack.Resource) bool { return false })
		}, entryNamed("80"), []string{"b"}},
		"entering ends that": {func(l *ledger.Ledger) {
			l.EnterUnknown(b, yes)
			l.Enter(b, nil)
		}, entryNamed("80"), []string{}},
		"leaving ends that": {func(l *ledger.Ledger) {
			l.EnterUnknown(b, yes)
			l.Leave(b)
		}, entryNamed("80"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			l := ledger.New()
			tc.fill(l)
			if diff := cmp.Diff(tc.want, ownerNames(l.Others(a, tc.entry))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestKnows(t *testing.T) {
	l := ledger.New()
	l.EnterUnknown(a, func(stack.Resource) bool { return true })
	l.Enter(b, nil)
	got := []bool{l.Knows(a), l.Knows(b), l.Knows(c)}
	if diff := cmp.Diff([]bool{false, true, false}, got); diff != "" {
		t.Errorf("unknown, entered, never seen (-want +got):\n%s", diff)
	}
}

func TestEntriesAreThoseOfTheObject(t *testing.T) {
	l := ledger.New()
	elsewhere := entryNamed("82")
	elsewhere.In.Name = "sg-2"
	l.Enter(b, []stack.Resource{entryNamed("81"), elsewhere})
	l.Enter(a, []stack.Resource{entryNamed("80"), entryNamed("81")})
	var got []string
	for _, r := range l.Entries(object) {
		got = append(got, r.Key.Name)
	}
	if diff := cmp.Diff([]string{"80", "81", "81"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadyStays(t *testing.T) {
	l := ledger.New()
	if l.Ready() {
		t.Error("an empty ledger is ready")
	}
	l.SetReady()
	l.Enter(a, nil)
	l.Leave(a)
	if !l.Ready() {
		t.Error("a ready ledger is not ready any more")
	}
}

// TestLastOneOut: in any order of departures an entry is without owners exactly once,
// after the last owner has left.
func TestLastOneOut(t *testing.T) {
	l := ledger.New()
	const n = 50
	owner := func(i int) stack.Owner { return stack.Owner{Name: fmt.Sprint(i), UID: fmt.Sprint(i)} }
	for i := range n {
		l.Enter(owner(i), []stack.Resource{entryNamed("80")})
	}
	var wg sync.WaitGroup
	alone := make(chan int, n)
	for i := range n {
		wg.Go(func() {
			l.Leave(owner(i))
			if len(l.Others(owner(i), entryNamed("80"))) == 0 {
				alone <- i
			}
		})
	}
	wg.Wait()
	if len(alone) == 0 {
		t.Error("all users left and the entry does not count as free")
	}
}

// TestOlder: of the owners that want the same place in a shared resource, the oldest one is
// reported to all others, equally old ones by name. Younger owners are never reported, nor
// are places in a resource of one owner.
func TestOlder(t *testing.T) {
	lb := stack.Resource{Key: stack.Key{Kind: "lb", Name: "shop"}, Ownership: stack.Shared}
	port := stack.Resource{Key: stack.Key{Kind: "listener"}, In: lb.Key, Slot: "port 80"}
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	l := ledger.New()
	l.EnterSince(b, at(2), []stack.Resource{lb, port})
	l.EnterSince(c, at(1), []stack.Resource{lb, port})
	l.EnterSince(a, at(2), []stack.Resource{lb, port})
	check := func(me stack.Owner, entry stack.Resource, want string) {
		t.Helper()
		o, found := l.Older(me, entry)
		if o.Name != want || found != (want != "") {
			t.Errorf("%s: older is %q, %v, not %q", me.Name, o.Name, found, want)
		}
	}
	check(a, port, "c")
	check(b, lb, "c")
	check(c, port, "")
	l.Leave(c)
	check(b, port, "a")
	check(a, port, "")
	own := lb
	own.Ownership = stack.Owned
	l.EnterSince(a, at(1), []stack.Resource{own, port})
	check(b, port, "")
	l.Leave(a)
	check(b, lb, "")
}

// TestFind: every owner that anything is entered for is found, and of several the first.
func TestFind(t *testing.T) {
	l := ledger.New()
	wants, held, unknown := stack.Owner{Namespace: "b", Name: "x"}, stack.Owner{Namespace: "a", Name: "x"}, stack.Owner{Namespace: "c", Name: "x"}
	l.Enter(wants, nil)
	l.Hold(held, []stack.Resource{entryNamed("e")})
	l.EnterUnknown(unknown, func(stack.Resource) bool { return true })
	for _, want := range []stack.Owner{wants, held, unknown} {
		if got, found := l.Find(func(o stack.Owner) bool { return o == want }); !found || got != want {
			t.Errorf("%s: found %v, %t", want, got, found)
		}
	}
	if first, _ := l.Find(func(stack.Owner) bool { return true }); first != held {
		t.Errorf("the first is %s", first)
	}
	if got, found := l.Find(func(stack.Owner) bool { return false }); found {
		t.Errorf("found %s", got)
	}
}
