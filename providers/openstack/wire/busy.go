package wire

import (
	"context"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/openstack/model"
)

// The states of a load balancer that matter. Source: Octavia API reference, status codes.
const (
	active        = model.Active
	failed        = model.Failed
	deleted       = "DELETED"
	pendingDelete = "PENDING_DELETE"
	gone          = "" // not listed any more
)

// isPending reports whether a load balancer refuses writes for now.
func isPending(status string) bool { return strings.HasPrefix(status, "PENDING_") }

// balancer is a load balancer in an answer.
type balancer = item[model.Balancer]

// change makes a writing call below a load balancer, one at a time for each, and waits
// until the load balancer is ready for the next one.
func (s *Session) change(ctx context.Context, balancer string, r request, out any) error {
	return s.locks.Change(ctx, balancer,
		func() error { return s.write(ctx, r, out) },
		func(refusal error) error { return s.quiet(ctx, balancer, refusal) },
		func() error { return s.ready(ctx, balancer) })
}

// quiet waits for concurrent changes of a load balancer, if they are why a call was
// refused; else it returns the refusal. The same status code means that something exists
// already or that the load balancer is busy; only its state distinguishes them.
func (s *Session) quiet(ctx context.Context, balancer string, refusal error) error {
	if !fault.Is(refusal, fault.Exists) {
		return refusal
	}
	status, err := s.statusOf(ctx, balancer)
	switch {
	case status == failed:
		return inError(balancer)
	case err != nil || !isPending(status):
		return refusal
	}
	return s.ready(ctx, balancer)
}

// ready waits until the last change of a load balancer has ended. It returns Ambiguous if
// the change ended in ERROR, so that the state is read again, and NotFound if the load
// balancer was deleted.
func (s *Session) ready(ctx context.Context, balancer string) error {
	status, err := s.settling.Wait(ctx, balancer)
	switch {
	case err != nil:
		return err
	case status == gone:
		return fault.New(fault.NotFound, "load balancer %s does not exist any more", balancer)
	case status == failed:
		return inError(balancer)
	}
	return nil
}

// inError returns the fault for a load balancer in ERROR. It is Ambiguous, so that the
// state is read again.
func inError(balancer string) error {
	return &fault.Fault{Meaning: fault.Ambiguous, Code: failed, Text: "the load balancer " + balancer + " has ended in ERROR; the log of its provider says why"}
}

func (s *Session) statusOf(ctx context.Context, balancer string) (string, error) {
	all, err := s.statuses(ctx, []string{balancer})
	return all[balancer], err
}

// listFrom is from how many load balancers on one list costs less than a call for each.
const listFrom = 2

// statuses asks how load balancers are, with one call for several.
func (s *Session) statuses(ctx context.Context, ids []string) (map[string]string, error) {
	return s.lookUp(ctx, ids, func(lb balancer) string { return lb.Provisioning })
}

// marks asks for the names and tags of load balancers, one on each line.
func (s *Session) marks(ctx context.Context, ids []string) (map[string]string, error) {
	return s.lookUp(ctx, ids, func(lb balancer) string {
		return strings.Join(append([]string{lb.Spec.Name}, lb.Tags...), "\n")
	})
}

// lookUp reads one property of load balancers; the result has no entry for one that is not
// found.
func (s *Session) lookUp(ctx context.Context, ids []string, what func(balancer) string) (map[string]string, error) {
	out := map[string]string{}
	if len(ids) < listFrom {
		var failed error
		for _, id := range ids {
			lb, err := s.getBalancer(ctx, id)
			switch {
			case fault.Is(err, fault.NotFound):
				out[id] = gone
			case err != nil:
				failed = err
			default:
				out[id] = what(lb)
			}
		}
		return out, failed
	}
	all, err := s.listBalancers(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		out[id] = gone
	}
	for _, lb := range all {
		if _, asked := out[lb.ID]; asked {
			out[lb.ID] = what(lb)
		}
	}
	return out, nil
}

func (s *Session) getBalancer(ctx context.Context, id string) (balancer, error) {
	return getItem(ctx, s, model.BalancerCodec(), id)
}

func (s *Session) listBalancers(ctx context.Context) ([]balancer, error) {
	return listItems(ctx, s, model.BalancerCodec(), nil)
}
