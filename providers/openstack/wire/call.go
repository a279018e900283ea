package wire

import (
	"context"
	"net/http"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"github.com/berth-lb/berth/providers"
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

// pending reports whether a load balancer refuses writes for now.
func pending(status string) bool { return strings.HasPrefix(status, "PENDING_") }

// read makes a reading call. Errors are faults.
func (s *Session) read(ctx context.Context, bucket string, call func(context.Context) error) error {
	return s.limits.Read(ctx, errorTable(), bucket, call)
}

// listAll reads all pages of a list, which has the name of its family in the answers.
// Errors are faults.
func listAll[T any](ctx context.Context, s *Session, bucket string, list pagination.Pager, family string) (all []T, err error) {
	list = list.WithPageCreator(func(r pagination.PageResult) pagination.Page { return page{PageResult: r, family: family} })
	err = s.read(ctx, bucket, func(ctx context.Context) error {
		all = nil
		return list.EachPage(ctx, func(_ context.Context, p pagination.Page) (bool, error) {
			var some []T
			err := p.(page).ExtractIntoSlicePtr(&some, family) //nolint:forcetypeassert // the creator above makes no other
			all = append(all, some...)
			return true, err
		})
	})
	return all, err
}

// page is one page of a list. The SDK's own pages encode and decode their JSON again for
// each accessor; with thousands of members that is most of the work of a read.
type page struct {
	pagination.PageResult

	family string
}

// body is the answer as the SDK has decoded it; nil where there is none.
func (p page) body() map[string]any {
	m, _ := p.Body.(map[string]any)
	return m
}

// GetBody is the answer, for the SDK.
func (p page) GetBody() any { return p.Body }

// IsEmpty reports whether the page has no entries, and so is the last one. It returns an
// error if the response is not a list, which must not be mistaken for an empty one.
func (p page) IsEmpty() (bool, error) {
	entries, is := p.body()[p.family].([]any)
	if !is && p.StatusCode != http.StatusNoContent {
		return false, fault.New(fault.Unavailable, "the answer of %s has no list of %s", p.Host, p.family)
	}
	return len(entries) == 0, nil
}

// NextPageURL is where the next page is; empty after the last one.
// Source: Networking and Octavia API references, pagination: links of the list.
func (p page) NextPageURL() (string, error) {
	links, _ := p.body()[p.family+"_links"].([]any)
	for _, l := range links {
		link, _ := l.(map[string]any)
		if at, _ := link["href"].(string); link["rel"] == "next" {
			return at, nil
		}
	}
	return "", nil
}

// write makes a writing call. Errors are faults; Ambiguous if the call may have taken
// effect without an answer.
func (s *Session) write(ctx context.Context, bucket string, call func(context.Context) error) error {
	return s.limits.Write(ctx, errorTable(), bucket, call)
}

// change makes a writing call below a load balancer, one at a time for each, and waits
// until the load balancer is ready for the next one.
func (s *Session) change(ctx context.Context, balancer string, call func(context.Context) error) error {
	return s.locks.Change(ctx, balancer,
		func() error { return s.write(ctx, bucketBalancer, call) },
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
	case err != nil || !pending(status):
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
		return fault.New(fault.NotFound, "load balancer %s is not there any more", balancer)
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
	return s.lookUp(ctx, ids, func(lb loadbalancers.LoadBalancer) string { return lb.ProvisioningStatus })
}

// marks asks for the names and tags of load balancers, one on each line.
func (s *Session) marks(ctx context.Context, ids []string) (map[string]string, error) {
	return s.lookUp(ctx, ids, func(lb loadbalancers.LoadBalancer) string {
		return strings.Join(append([]string{lb.Name}, lb.Tags...), "\n")
	})
}

// lookUp reads one property of load balancers; the result has no entry for one that is not
// found.
func (s *Session) lookUp(ctx context.Context, ids []string, what func(loadbalancers.LoadBalancer) string) (map[string]string, error) {
	out := map[string]string{}
	if len(ids) < listFrom {
		for _, id := range ids {
			lb, err := s.getBalancer(ctx, id)
			switch {
			case fault.Is(err, fault.NotFound):
				out[id] = gone
			case err != nil:
				return nil, err
			default:
				out[id] = what(*lb)
			}
		}
		return out, nil
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

func (s *Session) getBalancer(ctx context.Context, id string) (lb *loadbalancers.LoadBalancer, err error) {
	err = s.read(ctx, bucketBalancer, func(ctx context.Context) error {
		lb, err = loadbalancers.Get(ctx, s.balancer, id).Extract()
		return err
	})
	return lb, err
}

func (s *Session) listBalancers(ctx context.Context) ([]loadbalancers.LoadBalancer, error) {
	return listAll[loadbalancers.LoadBalancer](ctx, s, bucketBalancer, loadbalancers.List(s.balancer, nil), "loadbalancers")
}

// nameOf names a call by its method and the collection that it is about.
func nameOf(r *http.Request) providers.Call {
	call := providers.Call{API: "openstack", Operation: r.Method}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	known := map[string]string{
		"loadbalancers": bucketBalancer, "listeners": bucketBalancer, "pools": bucketBalancer, "members": bucketBalancer, "healthmonitors": bucketBalancer,
		"floatingips": bucketNetwork, "ports": bucketNetwork, "subnets": bucketNetwork, "networks": bucketNetwork, "security-groups": bucketNetwork,
		"security-group-rules": bucketNetwork, "containers": bucketKeys, "secrets": bucketKeys, "tokens": "identity",
	}
	for _, p := range parts {
		if api, ok := known[p]; ok {
			call.API, call.Operation = api, r.Method+" "+p
		}
	}
	return call
}
