package reconcile

import (
	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

// parse chooses the kind and reads the annotations. A Service with an invalid value is served
// by its last valid request, with today's nodes. Without one, its existing resources follow the
// nodes; if the cloud cannot do that, the Service is left alone.
func (r *Reconciler) parse(d *Draft) {
	svc := d.Job.Service
	kind := r.cloud.Choose(svc).Kind
	bag, problems := r.cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
	d.Problems = problems
	d.Request = providers.Request{Owner: d.Owner, Service: svc, Kind: kind, Values: bag, NamespaceLabels: r.labels(d.Job)}
	d.Request.Objects = r.objects(d.Request, d.Job)
	if r.cloud.Exposed != nil {
		d.Problems = d.Problems.Outweigh(r.cloud.Exposed(d.Request))
	}
	if caps := r.cloud.Capabilities; len(caps) > 0 {
		d.Problems = append(d.Problems, providers.Exceeds(caps, r.cloud.Reach(d.Request))...)
	}
	r.admit(d)
	if d.Problems.Errors() {
		r.fallBack(d)
	}
	if d.Intent != LeaveAlone {
		d.Request.Backends = r.backends(d)
	}
}

// fallBack replaces a request that cannot be used by the last valid one, unless that is no
// longer allowed either.
func (r *Reconciler) fallBack(d *Draft) {
	good := r.last(d.Owner).good
	switch {
	case good != nil && !r.refusals(*good).Errors():
		d.Request = *good
		d.Request.Objects = withCurrentPods(good.Objects, d.Job.Objects)
	case r.cloud.KeepServing != nil:
		d.Intent, d.Request = KeepServing, r.withoutRefusedAccounts(d.Request)
	default:
		d.Intent = LeaveAlone
	}
}

func (r *Reconciler) backends(d *Draft) nodeports.Backends {
	set := r.nodes.Select(r.cloud.Select(d.Request))
	epslices := d.Job.Slices
	if !r.FollowsEndpoints(d.Request.Service) {
		epslices = nil
	} else {
		d.Problems = append(d.Problems, warnUnmatched(d.Job.Unmatched)...)
	}
	return nodeports.BackendsOf(d.Request.Service, set, epslices, r.fallback(d.Request))
}

// fallback returns which terminating endpoints of the Service count.
func (r *Reconciler) fallback(request providers.Request) nodeports.Fallback {
	if r.cloud.Fallback == nil { // a cloud that was not bound
		return nodeports.FallbackOf(request.Service)
	}
	return r.cloud.Fallback(request)
}
