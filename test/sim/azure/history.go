package azure

import (
	"sync"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// maxPast bounds how many earlier states are kept.
const maxPast = 256

// past is one earlier state: as it was before the write at that time.
type past struct {
	until time.Time
	*arm.Service
}

// history remembers earlier states for stale reads. It is empty, and costs
// nothing, unless such a fault is armed.
type history struct {
	mu     sync.Mutex
	states []past
}

// remember freezes the state before a write, or forgets everything when no stale
// read is wanted any more.
func (h *history) remember(s *arm.Service, wanted bool) *arm.Service {
	if wanted {
		return s.Freeze()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = nil
	return nil
}

func (h *history) append(at time.Time, before *arm.Service) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = append(h.states, past{at, before})
	if len(h.states) > maxPast {
		h.states = h.states[len(h.states)-maxPast:]
	}
}

// service gives the state that a read is to be answered from: the live one
// unless the fault is set and something was remembered.
func (h *history) service(live *arm.Service, f *sim.Fault, now time.Time) *arm.Service {
	if f == nil {
		return live
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.BehindTime > 0 {
		for _, p := range h.states {
			if p.until.After(now.Add(-f.BehindTime)) {
				return p.Service
			}
		}
		return live
	}
	if len(h.states) == 0 {
		return live
	}
	return h.states[max(0, len(h.states)-max(1, f.BehindWrites))].Service
}
