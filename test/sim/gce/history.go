package gce

import (
	"sync"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/gce/compute"
)

// maxPast bounds how many earlier states are kept.
const maxPast = 256

// past is one earlier state: as it was before the write at that time.
type past struct {
	until time.Time
	*compute.View
}

// history remembers earlier states for stale reads. It is empty, and costs
// nothing, unless such a fault is armed.
type history struct {
	mu     sync.Mutex
	states []past
}

// remember keeps a state, or forgets everything when no stale read is wanted.
func (h *history) remember(at time.Time, before *compute.View, changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case before == nil:
		h.states = nil
	case changed:
		h.states = append(h.states, past{at, before})
		if len(h.states) > maxPast {
			h.states = h.states[len(h.states)-maxPast:]
		}
	}
}

// view gives the state that a read is to be answered from: nil, the live one,
// unless the fault is set and something was remembered.
func (h *history) view(f *sim.Fault, now time.Time) *compute.View {
	if f == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.BehindTime > 0 {
		for _, p := range h.states {
			if p.until.After(now.Add(-f.BehindTime)) {
				return p.View
			}
		}
		return nil
	}
	if len(h.states) == 0 {
		return nil
	}
	return h.states[max(0, len(h.states)-max(1, f.BehindWrites))].View
}
