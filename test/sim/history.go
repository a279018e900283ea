package sim

import (
	"sync"
	"time"
)

// maxPast bounds how many earlier states are kept.
const maxPast = 256

// History remembers earlier states of one service for stale reads. The zero value
// is empty and ready, and costs nothing unless such a fault is armed.
type History[S any] struct {
	mu     sync.Mutex
	states []past[S]
}

// past is one earlier state: as it was before the write at that time.
type past[S any] struct {
	until time.Time
	state S
}

// Keep remembers the state before a write at a time.
func (h *History[S]) Keep(at time.Time, before S) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = append(h.states, past[S]{at, before})
	if more := len(h.states) - maxPast; more > 0 {
		h.states = h.states[more:]
	}
}

// Forget drops all states; simulators do so when no stale read is wanted any more.
func (h *History[S]) Forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = nil
}

// At gives the state that a read is to be answered from: the live one unless the
// fault is set and something was remembered.
func (h *History[S]) At(live S, f *Fault, now time.Time) S {
	if f == nil {
		return live
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.BehindTime > 0 {
		for _, p := range h.states {
			if p.until.After(now.Add(-f.BehindTime)) {
				return p.state
			}
		}
		return live
	}
	if len(h.states) == 0 {
		return live
	}
	return h.states[max(0, len(h.states)-max(1, f.BehindWrites))].state
}
