package kit

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// TestLocksChange: a change that met others is repeated, some times and with growing pauses,
// unless it waited for them; a change that is refused for itself is not. The end of a change is
// waited for once, when it was sent.
func TestLocksChange(t *testing.T) {
	busy, wrong := errors.New("others are changing it"), errors.New("no such value")
	tests := map[string]struct {
		answers []error       // of the calls, the last one for all later calls
		quiet   time.Duration // how long others take
		sent    int
		takes   time.Duration
		want    error
	}{
		"at once":                {[]error{nil}, 0, 1, 0, nil},
		"after others":           {[]error{busy, busy, nil}, 0, 3, 3 * busyPause, nil},
		"after others were slow": {[]error{busy, busy, nil}, time.Second, 3, 2 * time.Second, nil},
		"refused":                {[]error{busy, wrong}, 0, 2, busyPause, wrong},
		"busy for ever":          {[]error{busy}, 0, busyTries, 15 * busyPause, busy},
		"at the last try":        {append(slices.Repeat([]error{busy}, busyTries-1), nil), 0, busyTries, 15 * busyPause, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				locks, began := NewLocks(), time.Now()
				sent, settled := 0, false
				err := locks.Change(t.Context(), "it",
					func() error {
						sent++
						return tc.answers[min(sent, len(tc.answers))-1]
					},
					func(refusal error) error {
						if errors.Is(refusal, busy) {
							time.Sleep(tc.quiet)
							return nil
						}
						return refusal
					},
					func() error {
						settled = true
						return nil
					})
				if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) || sent != tc.sent || settled != (tc.want == nil) {
					t.Errorf("%v after %d calls, waited for %v; want %v, %d", err, sent, settled, tc.want, tc.sent)
				}
				if took := time.Since(began); took != tc.takes {
					t.Errorf("it took %v; want %v", took, tc.takes)
				}
				testLockIsFree(t, locks)
			})
		})
	}
}

// testLockIsFree fails the test if a lock is held, or if a caller that has ended gets it.
func testLockIsFree(t *testing.T, locks *Locks) {
	t.Helper()
	unlock, err := locks.Take(t.Context(), "it")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := locks.Change(ended, "it", nil, nil, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("one that never had its turn: %v, want that nothing was sent", err)
	}
}

// TestLocksChangeStops: a caller that ends during a pause gets the refusal at once.
func TestLocksChangeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy, began := errors.New("others are changing it"), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), busyPause/2)
		defer cancel()
		err := NewLocks().Change(ctx, "it", func() error { return busy }, func(error) error { return nil }, nil)
		if took := time.Since(began); !errors.Is(err, busy) || took != busyPause/2 {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// TestOrphans: what is listed is this cluster's, without what others have in it, and not
// where only others' is left.
func TestOrphans(t *testing.T) {
	key := func(name string) stack.Key { return stack.Key{Kind: "thing", Name: name} }
	one := func(uid string, resources ...stack.Resource) providers.Found[int] {
		s := &stack.Stack{Owner: stack.Owner{UID: uid}}
		for _, r := range resources {
			s.Put(r)
		}
		return providers.Found[int]{Have: s}
	}
	ours := stack.Resource{Key: key("ours"), Proof: stack.Tag}
	theirs := stack.Resource{Key: key("theirs"), Proof: stack.None}
	under := stack.Resource{Key: key("under"), Ownership: stack.External, Proof: stack.None}
	here := func(s *stack.Stack) (bool, error) { return s.Owner.UID != "another cluster's", nil }
	got, err := Orphans([]providers.Found[int]{
		one("whole", ours, theirs), one("on an external one", ours, under), one("nothing of it", under, theirs), one("another cluster's", ours),
	}, here)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{}
	for _, s := range got {
		for _, r := range s.Resources {
			listed[s.Owner.UID] = append(listed[s.Owner.UID], r.Key.Name)
		}
		slices.Sort(listed[s.Owner.UID])
	}
	if d := cmp.Diff(map[string][]string{"whole": {"ours"}, "on an external one": {"ours", "under"}}, listed); d != "" {
		t.Errorf("listed (-want +got):\n%s", d)
	}
	unread := errors.New("cannot be read")
	if _, err := Orphans([]providers.Found[int]{{Err: unread}}, here); !errors.Is(err, unread) {
		t.Errorf("a read that fails: %v", err)
	}
	if _, err := Orphans([]providers.Found[int]{one("whole", ours)}, func(*stack.Stack) (bool, error) { return false, unread }); !errors.Is(err, unread) {
		t.Errorf("a judgement that fails: %v", err)
	}
}
