package reconcile

import (
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// refusals lists what a request must not contain. Services that are released are not checked:
// existing resources may always be deleted.
func (r *Reconciler) refusals(req providers.Request) annotations.Problems {
	if r.options.Admit == nil {
		return nil
	}
	return r.options.Admit(req.Service, r.cloud.Reach(req))
}

// ReachOf returns the reach of the Service of a draft, of the desired stack if that is known.
func (r *Reconciler) ReachOf(d *Draft) providers.Reach {
	if d.Want != nil && r.cloud.Becomes != nil {
		return r.cloud.Becomes(d.Request, d.Want)
	}
	return r.cloud.Reach(d.Request)
}

// admit adds to a draft what the request must not contain. A request with an invalid value is not
// checked: it has defaults in the place of the user's values.
func (r *Reconciler) admit(d *Draft) {
	if d.Problems.Errors() {
		return
	}
	d.Refused = r.refusals(d.Request)
	d.Problems = append(d.Problems, d.Refused...)
}

// admitWant checks the desired stack as well: an existing load balancer may keep what the Service
// no longer requests, and must not be changed any further then. It still follows the nodes.
func (r *Reconciler) admitWant(d *Draft, want *stack.Stack) bool {
	if r.options.Admit == nil || r.cloud.Becomes == nil {
		return true
	}
	refused := r.options.Admit(d.Request.Service, r.cloud.Becomes(d.Request, want))
	if !refused.Errors() {
		return true
	}
	for i := range refused {
		refused[i].Message += "; the existing load balancer is retained, and is not changed until this is allowed or the Service is recreated"
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
