package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-lb/berth/test/sim"
)

// Calls are cloud calls, counted from the simulator's journal.
type Calls struct {
	All, Writes int
	ByOperation map[string]int
}

func countCalls(entries []sim.Entry) Calls {
	c := Calls{ByOperation: map[string]int{}}
	for _, e := range entries {
		c.All++
		if e.Write {
			c.Writes++
		}
		c.ByOperation[e.Service+"."+e.Operation]++
	}
	return c
}

// Meter counts the calls of one phase.
type Meter struct {
	sim   *Sim
	since int
}

// Meter starts to count.
func (s *Sim) Meter(ctx context.Context) (*Meter, error) {
	entries, err := s.Journal(ctx, 0)
	if err != nil {
		return nil, err
	}
	m := &Meter{sim: s}
	if len(entries) > 0 {
		m.since = entries[len(entries)-1].Seq
	}
	return m, nil
}

// Read returns the calls since the start.
func (m *Meter) Read(ctx context.Context) (Calls, error) {
	entries, err := m.sim.Journal(ctx, m.since)
	return countCalls(entries), err
}

// Settle waits until no call has arrived for the time, and returns all since the start.
func (m *Meter) Settle(ctx context.Context, quiet, limit time.Duration) (Calls, error) {
	return m.settle(ctx, quiet, limit, func(c Calls) int { return c.All })
}

// SettleWrites waits until no call has written for the time, however many have read, and
// returns all since the start.
func (m *Meter) SettleWrites(ctx context.Context, quiet, limit time.Duration) (Calls, error) {
	return m.settle(ctx, quiet, limit, func(c Calls) int { return c.Writes })
}

// settle waits until the number of the counted calls has been the same for the time.
func (m *Meter) settle(ctx context.Context, quiet, limit time.Duration, count func(Calls) int) (Calls, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last, since := -1, time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		calls, err := m.Read(ctx)
		if err != nil {
			return calls, err
		}
		if n := count(calls); n != last {
			last, since = n, time.Now()
		}
		if time.Since(since) >= quiet {
			return calls, nil
		}
		select {
		case <-ctx.Done():
			return calls, fmt.Errorf("calls go on after %s", limit)
		case <-tick.C:
		}
	}
}
