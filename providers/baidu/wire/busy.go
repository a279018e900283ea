package wire

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/fault"
)

// States of load balancers and addresses.
const (
	stateCreating = "creating"
	stateUpdating = "updating"
	stateFree     = "available"
	stateGone     = ""        // it does not exist
	stateBound    = "binded " // with the load balancer behind it
)

func isBusy(state string) bool { return state == stateCreating || state == stateUpdating }

// goneAfter is the time between two looks that both have to miss a load balancer before it counts as
// deleted: one that has just been created may be missing from an answer.
const goneAfter = 10 * time.Second

// change makes a writing call about a load balancer, which takes one at a time. It waits before until
// the change before has ended; its own end is waited for by the next one.
func (s *Session) change(ctx context.Context, balancer string, r request, out any) error {
	if balancer == "" {
		return fault.New(fault.Internal, "%s %s: the load balancer is not known", r.method, r.path)
	}
	send := func() error {
		if err := s.awaitChange(ctx, balancer); err != nil {
			return err
		}
		err := s.write(ctx, r, out)
		if err == nil || fault.Is(err, fault.Ambiguous) || fault.Is(err, fault.Pending) {
			s.setRunning(balancer, true)
		}
		return err
	}
	repeat := func(refusal error) error {
		if fault.Is(refusal, fault.Pending) {
			return nil
		}
		return refusal
	}
	return s.locks.Change(ctx, balancer, send, repeat, func() error { return nil })
}

// awaitChange waits for the end of the last change of a load balancer.
func (s *Session) awaitChange(ctx context.Context, balancer string) error {
	if !s.isRunning(balancer) {
		return nil
	}
	state, err := s.changes.Wait(ctx, balancer)
	switch {
	case err != nil:
		return stoppedError(err)
	case state == stateGone:
		return fault.New(fault.NotFound, "the load balancer %s does not exist any more", balancer)
	}
	s.setRunning(balancer, false)
	return nil
}

func (s *Session) isRunning(balancer string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[balancer]
}

func (s *Session) setRunning(balancer string, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if running {
		s.running[balancer] = true
	} else {
		delete(s.running, balancer)
	}
}

// root returns the path of load balancers of the kind that one has.
func (s *Session) root(balancer string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.normal[balancer] {
		return rootNormal
	}
	return rootApp
}

// Paths of load balancers of both kinds, and of addresses.
const (
	rootApp    = "/v1/appblb"
	rootNormal = "/v1/blb"
	rootEIP    = "/v1/eip"
)

// balancerStates returns the states of load balancers: of one by its id, of several by a list.
func (s *Session) balancerStates(ctx context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	if len(ids) > 1 {
		all, err := listAll[balancerDoc](ctx, s, "blbList", newRequest(apiBLB, http.MethodGet, rootApp, nil))
		if err != nil {
			return out, err
		}
		for _, d := range all {
			out[d.ID] = d.Status
		}
	}
	return s.statesOf(ctx, ids, out)
}

// statesOf completes the states of load balancers, each by its id.
func (s *Session) statesOf(ctx context.Context, ids []string, out map[string]string) (map[string]string, error) {
	var failed error
	for _, id := range ids {
		if _, known := out[id]; known {
			continue
		}
		state, err := s.balancerState(ctx, id)
		if err != nil {
			failed = err
			continue
		}
		out[id] = state
	}
	return out, failed
}

// balancerState returns the state of one load balancer.
func (s *Session) balancerState(ctx context.Context, id string) (string, error) {
	var got balancerDoc
	err := s.read(ctx, newRequest(apiBLB, http.MethodGet, s.root(id)+"/"+id, nil), &got)
	switch {
	case fault.Is(err, fault.NotFound):
		return s.missing(id), nil
	case err != nil:
		return "", err
	}
	s.setFound(id)
	return got.Status, nil
}

// setFound records that a load balancer or an address exists.
func (s *Session) setFound(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.missed, id)
}

// missing returns the state of a load balancer or an address that was not found: it counts as busy until it is not
// found a second time, and for as long as answers may lack what was created.
func (s *Session) missing(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, known := s.missed[id]
	switch {
	case s.isFresh(id):
	case !known:
		s.missed[id] = s.now()
	case s.now().Sub(first) >= goneAfter:
		return stateGone
	}
	return stateUpdating
}

// presence returns the states of load balancers that are being deleted.
func (s *Session) presence(ctx context.Context, ids []string) (map[string]string, error) {
	if len(ids) == 1 {
		return s.statesOf(ctx, ids, map[string]string{})
	}
	all, err := listAll[balancerDoc](ctx, s, "blbList", newRequest(apiBLB, http.MethodGet, rootApp, nil))
	out := map[string]string{}
	for _, d := range all {
		out[d.ID] = d.Status
	}
	for _, id := range ids {
		if _, listed := out[id]; !listed && err == nil {
			out[id] = s.missing(id)
		}
	}
	return out, err
}

// addressStates returns the states of addresses.
func (s *Session) addressStates(ctx context.Context, ids []string) (map[string]string, error) {
	all, err := s.allAddresses(ctx)
	out := map[string]string{}
	for _, d := range all {
		s.setFound(d.Address)
		out[d.Address] = d.Status
		if d.Status != stateFree && d.Status != stateCreating && d.Instance != "" {
			out[d.Address] = stateBound + d.Instance
		}
	}
	for _, id := range ids {
		if _, listed := out[id]; !listed && err == nil {
			out[id] = s.missing(id)
		}
	}
	return out, err
}

// isAddressBusy reports whether an address is about to become bound or free.
func isAddressBusy(state string) bool {
	return state != stateFree && state != stateGone && !strings.HasPrefix(state, stateBound)
}
