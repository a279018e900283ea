package kit

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// TestLocksChange: a change that met others is made anew, some times; one that is refused
// for itself is not; and what waits for its end is asked once, when it was sent.
func TestLocksChange(t *testing.T) {
	busy, wrong := errors.New("others are changing it"), errors.New("no such value")
	tests := map[string]struct {
		answers []error // of the calls, the last one for all that follow
		sent    int
		settled bool
		want    error
	}{
		"at once":         {[]error{nil}, 1, true, nil},
		"after others":    {[]error{busy, busy, nil}, 3, true, nil},
		"refused":         {[]error{busy, wrong}, 2, false, wrong},
		"busy for ever":   {[]error{busy}, busyTries, false, busy},
		"at the last try": {append(slices.Repeat([]error{busy}, busyTries-1), nil), busyTries, true, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			locks := NewLocks()
			sent, settled := 0, false
			err := locks.Change(t.Context(), "it",
				func() error {
					sent++
					return tc.answers[min(sent, len(tc.answers))-1]
				},
				func(refusal error) error {
					if errors.Is(refusal, busy) {
						return nil
					}
					return refusal
				},
				func() error {
					settled = true
					return nil
				})
			if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) || sent != tc.sent || settled != tc.settled {
				t.Errorf("%v after %d calls, waited for %v; want %v, %d, %v", err, sent, settled, tc.want, tc.sent, tc.settled)
			}
			unlock, err := locks.Take(t.Context(), "it")
			if err != nil {
				t.Fatal(err)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if err := locks.Change(ended, "it", nil, nil, nil); !fault.Is(err, fault.Unavailable) {
				t.Errorf("one that never had its turn: %v, want that nothing was sent", err)
			}
			unlock()
		})
	}
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
