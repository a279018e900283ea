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

// Parsed is what a Service requests, as far as it is known without the cloud.
type Parsed struct {
	Owner    stack.Owner
	Intent   Intent
	Request  providers.Request
	Asked    string // digest of the request, whatever its backends are
	Digest   string // digest of the request and its backends
	Problems annotations.Problems
	// Refused are those Problems that are no mistake but not allowed.
	Refused annotations.Problems

	lastGood bool // the Request is the last valid one
	replaced bool // no stack could be built for the first Request
}

// Intent is the purpose of a draft.
type Intent int

const (
	// Serve brings the cloud to the desired state.
	Serve Intent = iota
	// KeepServing retains existing resources and lets them follow the nodes, because the
	// request is invalid.
	KeepServing
	// Release deletes everything that the Service owns.
	Release
	// LeaveAlone changes nothing, because the request is invalid and no valid one is known.
	LeaveAlone
)

// parse chooses the kind and reads the annotations. A Service with an invalid value is served
// by its last valid request, with today's nodes. Without one, its existing resources follow the
// nodes; if the cloud cannot do that, the Service is left alone.
func (r *Reconciler) parse(job Job, last snapshot) Parsed {
	p := Parsed{Owner: OwnerOf(job.Service)}
	p.Request, p.Problems = r.parseRequest(job.Service, job.NamespaceLabels)
	p.Request.Objects = r.collectObjects(p.Request, job)
	if r.cloud.Exposed != nil {
		p.Problems = p.Problems.Outweigh(r.cloud.Exposed(p.Request))
	}
	if caps := r.cloud.Capabilities; len(caps) > 0 {
		p.Problems = append(p.Problems, providers.Exceeds(caps, r.cloud.Reach(p.Request))...)
	}
	if !p.Problems.Errors() { // otherwise it has defaults in the place of the user's values
		p.Refused = r.listRefusals(p.Request)
		p.Problems = append(p.Problems, p.Refused...)
	}
	if p.Problems.Errors() {
		p = r.fallBack(p, job, last)
	} else {
		p = r.withBackends(p, job, last.Have)
	}
	if p.Intent != LeaveAlone {
		p.Asked = askedDigest(r.cloud, p.Request)
		p.Digest = inputDigest(p.Asked, p.Request)
	}
	return p
}

// parseRequest reads the annotations of a Service in a namespace with some labels.
func (r *Reconciler) parseRequest(svc *corev1.Service, namespace map[string]string) (providers.Request, annotations.Problems) {
	kind := r.cloud.Choose(svc).Kind
	bag, problems := r.cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
	return providers.Request{Owner: OwnerOf(svc), Service: svc, Kind: kind, Values: bag, NamespaceLabels: r.selectLabels(namespace)}, problems
}

// selectLabels returns the labels of the namespace that the Service depends on; nil if there are none.
// A change of others is no change of the Service.
func (r *Reconciler) selectLabels(namespace map[string]string) map[string]string {
	if len(r.cloud.Labels.Namespace) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, key := range r.cloud.Labels.Namespace {
		if value, ok := namespace[key]; ok {
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

// listRefusals lists what a request must not contain. Services that are released are not checked:
// existing resources may always be deleted.
func (r *Reconciler) listRefusals(req providers.Request) annotations.Problems {
	if r.options.Admit == nil {
		return nil
	}
	return r.options.Admit(req.Service, r.cloud.Reach(req))
}

// fallBack replaces a request that cannot be used by the last valid one, unless that is the one, or
// is no longer allowed either.
func (r *Reconciler) fallBack(p Parsed, job Job, last snapshot) Parsed {
	good := last.good
	if good == nil || p.lastGood || r.listRefusals(*good).Errors() {
		p = r.keepExisting(p)
	} else {
		p.Request, p.lastGood = *good, true
		p.Request.Objects = withCurrentPods(good.Objects, job.Objects)
	}
	return r.withBackends(p, job, last.Have)
}

// keepExisting replaces a request that cannot be used by one that retains what exists, if the
// cloud can do that.
func (r *Reconciler) keepExisting(p Parsed) Parsed {
	if p.Intent = LeaveAlone; r.cloud.KeepServing != nil {
		p.Intent, p.Request = KeepServing, r.withoutRefusedAccounts(p.Request)
	}
	return p
}

// withCurrentPods returns the objects of the last valid request with today's pods of Services, and today's Endpoints.
// The rest of them stays as it was; a deleted Service has no pods.
func withCurrentPods(good, now map[providers.Reference]providers.Object) map[providers.Reference]providers.Object {
	out := maps.Clone(good)
	for _, ref := range referencedServices(good) {
		object := good[ref]
		object.Slices = now[ref].Slices
		if object.Service == nil {
			object = now[ref]
		}
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
		parsed, _ := r.parseRequest(service, req.NamespaceLabels)
		req.Service, req.Values = service, parsed.Values
	}
	return req
}

// withBackends adds today's backends to a request, for a Service with the resources that were
// observed last.
func (r *Reconciler) withBackends(p Parsed, job Job, have *stack.Stack) Parsed {
	if p.Intent == LeaveAlone {
		return p
	}
	virtual, epslices := r.virtualNodes(p.Request), job.Slices
	follows := r.followsPods(p.Request.Service, have)
	if !follows {
		epslices = nodeports.OnNodes(epslices, virtual)
	}
	if unmatched := warnUnmatched(job.Unmatched); len(unmatched) > 0 && (follows || virtual.Len() > 0) {
		p.Problems = append(p.Problems, unmatched...).Distinct()
	}
	p.Request.Backends = nodeports.BackendsOf(p.Request.Service, r.nodes.Select(r.cloud.Select(p.Request)), epslices, r.chooseFallback(p.Request))
	p.Request.Backends.Virtual = virtual
	return p
}

// virtualNodes returns the nodes whose pods are backends in their place.
func (r *Reconciler) virtualNodes(req providers.Request) nodeports.NodeSet {
	if r.cloud.Virtual == nil {
		return nodeports.NodeSet{}
	}
	return r.nodes.Select(r.cloud.Virtual(req))
}

// FollowsEndpoints reports whether the pods of a Service may determine the backends of
// its load balancer.
func (r *Reconciler) FollowsEndpoints(svc *corev1.Service) bool {
	if r.followsPods(svc, r.lastSnapshot(OwnerOf(svc)).Have) {
		return true
	}
	if r.cloud.Virtual == nil {
		return false
	}
	req, _ := r.parseRequest(svc, nil) // the draft reports the problems
	return r.virtualNodes(req).Len() > 0
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
	req, _ := r.parseRequest(job.Service, job.NamespaceLabels) // the draft reports the problems
	out := r.cloud.Refers(req)
	if good := r.lastSnapshot(req.Owner).good; good != nil {
		for _, ref := range referencedServices(good.Objects) {
			if !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}

// referencedServices returns the Services and Endpoints among objects, in order.
func referencedServices(objects map[providers.Reference]providers.Object) []providers.Reference {
	var out []providers.Reference
	for ref, object := range objects {
		if object.Service != nil || ref.Kind == providers.Endpoints {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, func(a, b providers.Reference) int { return cmp.Compare(a.String(), b.String()) })
	return out
}
