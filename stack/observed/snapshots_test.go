package observed

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/stack"
)

// TestSnapshots: a snapshot is fresh until its next read is due: nearly an interval after a full
// read, at any time within it after a presence check, or when it says itself.
func TestSnapshots(t *testing.T) {
	have := &stack.Stack{}
	for name, tc := range map[string]struct {
		snap     Snapshot
		from, to time.Duration // when the read is due
	}{
		"full":       {Snapshot{Have: have, At: started}, interval * 8 / 10, interval},
		"partial":    {Snapshot{Have: have, At: started, Partial: true}, time.Second, interval * 8 / 10},
		"recheck":    {Snapshot{Have: have, At: started, Recheck: started.Add(time.Minute)}, time.Minute, time.Minute},
		"distrusted": {Snapshot{At: started}, interval, interval},
	} {
		t.Run(name, func(t *testing.T) {
			now := started
			s := NewSnapshots(Options{Now: func() time.Time { return now }, Interval: interval}, func(s *Snapshot) *Snapshot { return s })
			s.Put(ownerA, tc.snap)
			due := s.Due(ownerA)
			if due < tc.from || due > tc.to {
				t.Errorf("due after %s, want %s to %s", due, tc.from, tc.to)
			}
			if _, fresh := s.Fresh(ownerA); fresh != (tc.snap.Have != nil) {
				t.Errorf("fresh at once: %v", fresh)
			}
			now = now.Add(due)
			if _, fresh := s.Fresh(ownerA); fresh {
				t.Error("fresh when the read is due")
			}
			now = started
			s.Expire(ownerA)
			if _, fresh := s.Fresh(ownerA); fresh {
				t.Error("fresh after Expire")
			}
			if _, known := s.Last(ownerB); known || s.Due(ownerB) != interval {
				t.Error("a Service that was never put is known")
			}
		})
	}
}
