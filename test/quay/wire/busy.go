package wire

import (
	"context"

	"github.com/berth-lb/berth/providers/fault"
)

// States of load balancers and work requests.
const (
	stateBusy    = "busy"
	stateRunning = "running"
	stateFailed  = "failed"
	stateGone    = "" // not listed any more
)

// change makes a writing call about a load balancer, which takes one at a time, and waits until
// it is ready for the next one. A call that meets a change of another program is repeated
// after that.
func (s *Session) change(ctx context.Context, balancer string, r request) error {
	var answer struct {
		State string `json:"state"`
	}
	return s.locks.Change(ctx, balancer,
		func() error { return s.write(ctx, r, &answer) },
		func(refusal error) error {
			if codeOf(refusal) != codeBusy {
				return refusal
			}
			_, err := s.ready.Wait(ctx, balancer)
			return err
		},
		func() error {
			if answer.State != stateBusy {
				return nil
			}
			if _, err := s.ready.Wait(ctx, balancer); err != nil {
				return &fault.Fault{Meaning: fault.Ambiguous, Text: "stopped before the change had ended", Err: err}
			}
			return nil
		})
}

// finish waits for a work request and returns the load balancer that it has created. The
// error is Ambiguous where the end was not seen, so that the state is read again.
func (s *Session) finish(ctx context.Context, w work) (string, error) {
	if w.State != stateRunning {
		return w.Balancer, nil
	}
	id, err := s.works.Wait(ctx, w.ID)
	switch {
	case err != nil:
		return "", &fault.Fault{Meaning: fault.Ambiguous, Text: "stopped before the work request " + w.ID + " had ended", Err: err}
	case id == stateFailed || id == stateGone:
		return "", fault.New(fault.Ambiguous, "the work request %s has failed", w.ID)
	}
	return id, nil
}

// balancerStates returns the states of load balancers by their identifiers, with one
// list for all waiting steps.
func (s *Session) balancerStates(ctx context.Context, ids []string) (map[string]string, error) {
	all, err := listAll[balancerDoc](ctx, s, "balancers")
	if err != nil {
		return nil, err // what no complete list shows may exist
	}
	out := map[string]string{}
	for _, id := range ids {
		out[id] = stateGone
	}
	for _, d := range all {
		out[d.ID] = d.State
	}
	return out, nil
}

// workStates returns for each work request that it is running or has failed, or else the
// identifier of its load balancer.
func (s *Session) workStates(ctx context.Context, ids []string) (map[string]string, error) {
	all, err := listAll[work](ctx, s, "works")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, id := range ids {
		out[id] = stateGone
	}
	for _, w := range all {
		if out[w.ID] = w.State; w.State != stateRunning && w.State != stateFailed {
			out[w.ID] = w.Balancer
		}
	}
	return out, nil
}
