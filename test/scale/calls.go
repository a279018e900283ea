package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// calls are how many cloud calls the simulator has seen. Its journal would tell
// more, but a phase of a large cluster fills megabytes of it.
type calls struct {
	All    int `json:"calls"`
	Writes int `json:"writes"`
}

func (c calls) since(before calls) calls {
	return calls{All: c.All - before.All, Writes: c.Writes - before.Writes}
}

func (s *scale) counted(ctx context.Context) (c calls, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.world.Sim.URL+"/_sim/counts", http.NoBody)
	if err != nil {
		return c, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return c, err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	if res.StatusCode != http.StatusOK {
		return c, fmt.Errorf("counts of the simulator: %s", res.Status)
	}
	err = json.NewDecoder(res.Body).Decode(&c)
	return c, err
}

// settle waits until no call has arrived for a time.
func (s *scale) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last, since := calls{All: -1}, time.Now()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		now, err := s.counted(ctx)
		if err != nil {
			return err
		}
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) >= quiet {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("calls go on after %s", limit)
		case <-tick.C:
		}
	}
}

// pollUntil polls until ask returns nil. It polls seldom: the API server and the
// simulator are on the same machine as the measured process, and their answers are
// large.
func pollUntil(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %w", limit, err)
		case <-tick.C:
		}
	}
}
