package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// parse chooses the kind and reads the annotations. A Service with an invalid value is served
// by its last valid request, with today's nodes. Without one, its existing resources follow the
// nodes; if the cloud cannot do that, the Service is left alone.
func (r *Reconciler) parse(d *Draft) {
	svc := d.Job.Service
	kind := r.cloud.Choose(svc).Kind
	bag, problems := r.cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
	d.Problems = problems
	d.Request = providers.Request{Owner: d.Owner, Service: svc, Kind: kind, Values: bag, NamespaceLabels: r.selectLabels(d.Job)}
	d.Request.Objects = r.collectObjects(d.Request, d.Job)
	if r.cloud.Exposed != nil {
		d.Problems = d.Problems.Outweigh(r.cloud.Exposed(d.Request))
	}
	if caps := r.cloud.Capabilities; len(caps) > 0 {
		d.Problems = append(d.Problems, providers.Exceeds(caps, r.cloud.Reach(d.Request))...)
	}
	r.checkAdmission(d)
	if d.Problems.Errors() {
		r.fallBack(d)
	}
	if d.Intent != LeaveAlone {
		d.Request.Backends = r.computeBackends(d)
	}
}

// selectLabels returns the labels of the namespace that the Service depends on; nil if there are none.
// A change of others is no change of the Service.
func (r *Reconciler) selectLabels(job Job) map[string]string {
	if len(r.cloud.Labels.Namespace) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, key := range r.cloud.Labels.Namespace {
		if value, ok := job.NamespaceLabels[key]; ok {
			out[key] = value
		}
	}
	return out
}

// collectObjects returns the objects that a request refers to; nil if there are none. One that the job
// does not contain is unknown.
func (r *Reconciler) collectObjects(req providers.Request, job Job) map[providers.Reference]providers.Object {
	if r.cloud.Refers == nil {
		return nil
	}
	out := map[providers.Reference]providers.Object{}
	for _, ref := range r.cloud.Refers(req) {
		object, known := job.Objects[ref]
		if !known {
			object.Why = "is not known here"
		}
		out[ref] = object
	}
	return out
}

// checkAdmission adds to a draft what the request must not contain. A request with an invalid value is not
// checked: it has defaults in the place of the user's values.
func (r *Reconciler) checkAdmission(d *Draft) {
	if d.Problems.Errors() {
		return
	}
	d.Refused = r.listRefusals(d.Request)
	d.Problems = append(d.Problems, d.Refused...)
}

// listRefusals lists what a request must not contain. Services that are released are not checked:
// existing resources may always be deleted.
func (r *Reconciler) listRefusals(req providers.Request) annotations.Problems {
	if r.options.Admit == nil {
		return nil
	}
	return r.options.Admit(req.Service, r.cloud.Reach(req))
}

// fallBack replaces a request that cannot be used by the last valid one, unless that is no
// longer allowed either.
func (r *Reconciler) fallBack(d *Draft) {
	good := d.last.good
	switch {
	case good != nil && !r.listRefusals(*good).Errors():
		d.Request = *good
		d.Request.Objects = withCurrentPods(good.Objects, d.Job.Objects)
	case r.cloud.KeepServing != nil:
		d.Intent, d.Request = KeepServing, r.withoutRefusedAccounts(d.Request)
	default:
		d.Intent = LeaveAlone
	}
}

// withCurrentPods returns the objects of the last valid request with today's pods of Services.
// The rest of them stays as it was; a deleted Service has no pods.
func withCurrentPods(good, now map[providers.Reference]providers.Object) map[providers.Reference]providers.Object {
	out := maps.Clone(good)
	for _, ref := range referencedServices(good) {
		object := good[ref]
		object.Slices = now[ref].Slices
		out[ref] = object
	}
	return out
}

// withoutRefusedAccounts returns a request without the ServiceAccounts that the policy refuses.
// The load balancer of a refused Service still follows the nodes, and reads and writes for that
// must not be made as an account that the Service may not name.
func (r *Reconciler) withoutRefusedAccounts(req providers.Request) providers.Request {
	refused := r.listRefusals(req)
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

func (r *Reconciler) computeBackends(d *Draft) nodeports.Backends {
	set := r.nodes.Select(r.cloud.Select(d.Request))
	epslices := d.Job.Slices
	if !r.followsPods(d.Request.Service, d.last.Have) {
		epslices = nil
	} else {
		d.Problems = append(d.Problems, warnUnmatched(d.Job.Unmatched)...)
	}
	return nodeports.BackendsOf(d.Request.Service, set, epslices, r.chooseFallback(d.Request))
}

// FollowsEndpoints reports whether the pods of a Service may determine the backends of
// its load balancer.
func (r *Reconciler) FollowsEndpoints(svc *corev1.Service) bool {
	return r.followsPods(svc, r.lastSnapshot(OwnerOf(svc)).Have)
}

// followsPods does so for a Service with the resources that were observed last.
func (r *Reconciler) followsPods(svc *corev1.Service, have *stack.Stack) bool {
	switch of := r.cloud.EndpointsOf; {
	case !r.cloud.Endpoints:
		return false
	case of == nil || of(svc):
		return true
	}
	return r.cloud.PodsIn != nil && r.cloud.PodsIn(have)
}

// chooseFallback returns which terminating endpoints of the Service count.
func (r *Reconciler) chooseFallback(request providers.Request) nodeports.Fallback {
	if r.cloud.Fallback == nil { // a cloud that was not bound
		return nodeports.FallbackOf(request.Service)
	}
	return r.cloud.Fallback(request)
}

// maxNamed is the number of addresses that a warning lists.
const maxNamed = 3

// warnUnmatched warns of addresses in EndpointSlices that no Pod of the namespace has.
func warnUnmatched(all []netip.Addr) annotations.Problems {
	if len(all) == 0 {
		return nil
	}
	var names []string
	for _, a := range all[:min(len(all), maxNamed)] {
		names = append(names, a.String())
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return annotations.Problems{{Key: "endpoints", Severity: annotations.Warning, Code: annotations.CodePlan,
		Message: "are left out because no pod of this namespace has these addresses, and the controller sends to no others (--own-pods): " + strings.Join(names, ", ")}}
}

// ListReferences returns the objects that a Service refers to, which Jobs must contain, and the Services of
// its last valid request.
func (r *Reconciler) ListReferences(job Job) []providers.Reference {
	if r.cloud.Refers == nil {
		return nil
	}
	svc := job.Service
	kind := r.cloud.Choose(svc).Kind
	bag, _ := r.cloud.Annotations.Parse(kind, annotations.SourceOf(svc)) // the draft reports the problems
	out := r.cloud.Refers(providers.Request{Owner: OwnerOf(svc), Service: svc, Kind: kind, Values: bag, NamespaceLabels: r.selectLabels(job)})
	if good := r.lastSnapshot(OwnerOf(svc)).good; good != nil {
		for _, ref := range referencedServices(good.Objects) {
			if !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}

// referencedServices returns the Services among objects, in order.
func referencedServices(objects map[providers.Reference]providers.Object) []providers.Reference {
	var out []providers.Reference
	for ref, object := range objects {
		if object.Service != nil {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, func(a, b providers.Reference) int { return cmp.Compare(a.String(), b.String()) })
	return out
}
