package reconcile

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// Refers lists the objects that a Service refers to, which Jobs must contain, and the Services of
// its last valid request.
func (r *Reconciler) Refers(job Job) []providers.Reference {
	if r.cloud.Refers == nil {
		return nil
	}
	svc := job.Service
	kind := r.cloud.Choose(svc).Kind
	bag, _ := r.cloud.Annotations.Parse(kind, annotations.SourceOf(svc)) // the draft reports the problems
	out := r.cloud.Refers(providers.Request{Owner: OwnerOf(svc), Service: svc, Kind: kind, Values: bag, NamespaceLabels: r.labels(job)})
	if good := r.last(OwnerOf(svc)).good; good != nil {
		for _, ref := range referencedServices(good.Objects) {
			if !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
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

// objects returns the objects that a request refers to; nil if there are none. One that the job
// does not contain is unknown.
func (r *Reconciler) objects(req providers.Request, job Job) map[providers.Reference]providers.Object {
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
