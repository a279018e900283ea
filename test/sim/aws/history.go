package aws

import (
	"sync"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// maxPast bounds how many earlier states of one service are kept.
const maxPast = 256

// past is one earlier state: as it was before the write at that time.
type past struct {
	until time.Time
	*query.Service
}

// history remembers earlier states for stale reads. It is empty, and costs
// nothing, unless such a fault is armed.
type history struct {
	mu     sync.Mutex
	states map[string][]past
}

// remember freezes a service before a write, or forgets everything when no
// stale read is wanted any more.
func (h *history) remember(s *query.Service, wanted bool) *query.Service {
	if !wanted || s.Freeze == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		if !wanted {
			h.states = nil
		}
		return nil
	}
	return s.Freeze()
}

func (h *history) append(name string, at time.Time, before *query.Service) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.states == nil {
		h.states = map[string][]past{}
	}
	h.states[name] = append(h.states[name], past{at, before})
	if more := len(h.states[name]) - maxPast; more > 0 {
		h.states[name] = h.states[name][more:]
	}
}

// service gives the state that a read is to be answered from: the live one
// unless the fault is set and something was remembered.
func (h *history) service(live *query.Service, f *sim.Fault, now time.Time) *query.Service {
	if f == nil {
		return live
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.states[live.Name]
	if f.BehindTime > 0 {
		for _, p := range list {
			if p.until.After(now.Add(-f.BehindTime)) {
				return p.Service
			}
		}
		return live
	}
	if len(list) == 0 {
		return live
	}
	return list[max(0, len(list)-max(1, f.BehindWrites))].Service
}
