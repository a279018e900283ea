package reconcile

import (
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// refusals lists what a request must not ask for. Services that are released are
// never asked about: what is there may always go.
func (r *Reconciler) refusals(req providers.Request) annotations.Problems {
	if r.options.Admit == nil {
		return nil
	}
	return r.options.Admit(req.Service, r.cloud.Reach(req))
}

// ReachOf is how far the Service of a draft reaches: by what is wanted, once that is known.
func (r *Reconciler) ReachOf(d *Draft) providers.Reach {
	if d.Want != nil && r.cloud.Becomes != nil {
		return r.cloud.Becomes(d.Request, d.Want)
	}
	return r.cloud.Reach(d.Request)
}

// admit enters into a draft what the request must not ask for. A request with a
// bad value is not judged: defaults stand where the user wrote something else.
func (r *Reconciler) admit(d *Draft) {
	if d.Problems.Errors() {
		return
	}
	d.Refused = r.refusals(d.Request)
	d.Problems = append(d.Problems, d.Refused...)
}

// admitWant judges what is wanted as well: a live load balancer may keep what the
// Service no longer asks for, and must not be changed any further then. It goes on
// following the nodes.
func (r *Reconciler) admitWant(d *Draft, want *stack.Stack) bool {
	if r.options.Admit == nil || r.cloud.Becomes == nil {
		return true
	}
	refused := r.options.Admit(d.Request.Service, r.cloud.Becomes(d.Request, want))
	if !refused.Errors() {
		return true
	}
	for i := range refused {
		refused[i].Message += "; the load balancer that is there keeps what it has, and is not changed until it is allowed or the Service is made anew"
	}
	d.Refused = append(d.Refused, refused...).Distinct()
	d.Problems = append(d.Problems, refused...).Distinct()
	if d.Intent = LeaveAlone; r.cloud.KeepServing != nil {
		d.Intent = KeepServing
		r.keepServing(d)
	}
	return false
}

// withoutRefusedAccounts returns a request without the ServiceAccounts that the policy refuses.
// The load balancer of a refused Service still follows the nodes, and reads and writes for that
// must not be made as an account that the Service may not name.
func (r *Reconciler) withoutRefusedAccounts(req providers.Request) providers.Request {
	refused := r.refusals(req)
	if !refused.Errors() {
		return req
	}
	service := req.Service.DeepCopy()
	for _, n := range r.cloud.Reach(req).Names {
		outside := func(p annotations.Problem) bool { return p.Key == n.Key || p.Key == "metadata.namespace" }
		if n.Thing == annotations.ThingAccount && slices.ContainsFunc(refused, outside) {
			delete(service.Annotations, n.Key)
		}
	}
	if len(service.Annotations) < len(req.Service.Annotations) {
		req.Service = service
		req.Values, _ = r.cloud.Annotations.Parse(req.Kind, annotations.SourceOf(service))
	}
	return req
}
