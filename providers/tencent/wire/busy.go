package wire

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/tencent/model"
)

// States of tasks and load balancers.
const (
	taskDone     = "done"
	taskRunning  = "running"
	taskFailed   = "failed: " // with the cloud's message behind it
	statePending = "pending"
	stateReady   = "ready"
	stateGone    = "" // not listed any more
)

// runningLongest is how long a write whose end was not waited for is believed to go on.
const runningLongest = 5 * time.Minute

// change makes a writing call about a load balancer, which takes one at a time, and waits until its
// task has ended. A call that meets a change of another program is repeated.
func (s *Session) change(ctx context.Context, balancer, action string, p params, out any) error {
	return s.changeAnd(ctx, balancer, action, p, out, func(task string) error { return s.finish(ctx, task) })
}

// changeLater is change for a call whose answer tells its result: the next one waits for its end.
func (s *Session) changeLater(ctx context.Context, balancer, action string, p params, out any) error {
	return s.changeAnd(ctx, balancer, action, p, out, func(task string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running[balancer] = started{task, s.now()}
		return nil
	})
}

func (s *Session) changeAnd(ctx context.Context, balancer, action string, p params, out any, accepted func(task string) error) error {
	if balancer == "" {
		return fault.New(fault.Internal, "%s: the load balancer is not known", action)
	}
	region, id := model.SplitID(balancer)
	p[fieldBalancer] = id
	var task string
	return s.locks.Change(ctx, balancer,
		func() (err error) {
			if err := s.awaitEarlier(ctx, balancer); err != nil {
				return err
			}
			task, err = s.write(ctx, region, action, p, out)
			return err
		},
		func(refusal error) error {
			if fault.Is(refusal, fault.Pending) {
				return nil
			}
			return refusal
		},
		func() error { return accepted(task) })
}

// awaitEarlier waits for the end of the last write of a load balancer.
func (s *Session) awaitEarlier(ctx context.Context, balancer string) error {
	s.mu.Lock()
	last, ok := s.running[balancer]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	if s.now().Sub(last.at) < runningLongest {
		if _, err := s.tasks.WaitFrom(ctx, last.task, last.at); err != nil {
			return &fault.Fault{Meaning: fault.Unavailable, Text: "stopped before it was sent", Err: err}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[balancer] == last {
		delete(s.running, balancer)
	}
	return nil
}

// finish waits for a task. The error is Ambiguous where the end was not seen or was a failure, so that
// the state is read again.
func (s *Session) finish(ctx context.Context, task string) error {
	state, err := s.tasks.Wait(ctx, task)
	switch message, failed := strings.CutPrefix(state, taskFailed); {
	case err != nil:
		return &fault.Fault{Meaning: fault.Ambiguous, Text: "stopped before the task " + task + " had ended", Err: err}
	case failed:
		return fault.New(fault.Ambiguous, "the task %s has failed: %s", task, message)
	}
	return nil
}

// taskStates returns the states of tasks. One that the API does not know has ended.
func (s *Session) taskStates(ctx context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	var failed error
	for _, id := range ids {
		got, err := s.task(ctx, id)
		switch {
		case fault.Is(err, fault.Invalid) || fault.Is(err, fault.NotFound):
			out[id] = taskDone
		case err != nil:
			failed = err
		case got.Status == 1:
			out[id] = taskFailed + got.Message
		case got.Status == 2:
			out[id] = taskRunning
		default:
			out[id] = taskDone
		}
	}
	return out, failed
}

type taskDoc struct {
	Status    int      `json:"Status"`
	Message   string   `json:"Message"`
	Balancers []string `json:"LoadBalancerIds"`
}

func (s *Session) task(ctx context.Context, id string) (taskDoc, error) {
	var got taskDoc
	region, plain := model.SplitID(id)
	err := s.read(ctx, region, actTask, params{"TaskId": plain}, &got)
	return got, err
}

// creations returns which new load balancers are ready. One that is not listed yet is not.
func (s *Session) creations(ctx context.Context, ids []string) (map[string]string, error) {
	return s.statesOf(ctx, ids, statePending, func(d balancerDoc) string {
		if !d.isReady() {
			return statePending
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen[d.ID] = d
		return stateReady
	})
}

// presence returns which load balancers exist.
func (s *Session) presence(ctx context.Context, ids []string) (map[string]string, error) {
	return s.statesOf(ctx, ids, stateGone, func(balancerDoc) string { return stateReady })
}

// statesOf returns the states of load balancers. One that an answer lacks has the other state; one of a call
// that failed has no entry.
func (s *Session) statesOf(ctx context.Context, ids []string, otherwise string, stateOf func(balancerDoc) string) (map[string]string, error) {
	out := map[string]string{}
	var failed error
	for region, of := range byRegion(ids) {
		for some := range slices.Chunk(of, mostIDs) {
			found, err := s.balancersByID(ctx, region, some)
			if err != nil {
				failed = err
				continue
			}
			for _, id := range some {
				out[model.IDIn(region, id)] = otherwise
			}
			for _, d := range found {
				out[d.ID] = stateOf(d)
			}
		}
	}
	return out, failed
}

// takeSeen returns a load balancer that was waited for.
func (s *Session) takeSeen(id string) balancerDoc {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.seen[id]
	delete(s.seen, id)
	return d
}
