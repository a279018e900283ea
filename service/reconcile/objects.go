package reconcile

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// Refers lists the objects that a Service refers to, of which Jobs must say what is known,
// and the Services behind what it goes on with while it cannot be understood.
func (r *Reconciler) Refers(job Job) []providers.Reference {
	if r.cloud.Refers == nil {
		return nil
	}
	svc := job.Service
	kind := r.cloud.Choose(svc).Kind
	bag, _ := r.cloud.Annotations.Parse(kind, annotations.SourceOf(svc)) // the draft tells what is wrong
	out := r.cloud.Refers(providers.Request{Owner: OwnerOf(svc), Service: svc, Kind: kind, Values: bag, NamespaceLabels: r.labels(job)})
	if good := r.snapshots.good(OwnerOf(svc)); good != nil {
		for _, ref := range others(good.Objects) {
			if !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}

// refreshed are the objects of a request that goes on, with today's pods behind Services. What
// those ask for stays as it was; one that is gone has no pods.
func refreshed(good, now map[providers.Reference]providers.Object) map[providers.Reference]providers.Object {
	out := maps.Clone(good)
	for _, ref := range others(good) {
		object := good[ref]
		object.Slices = now[ref].Slices
		out[ref] = object
	}
	return out
}

// objects are what is known of the objects that a request refers to; nil if there are
// none. One that the job does not bring is not known.
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
