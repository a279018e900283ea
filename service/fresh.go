package service

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/status"
)

// claimFresh claims a Service and reports whether nothing was ever created for it. That
// is certain only if the API server had it without any mark at the moment of our
// write: the copy here may be stale, and another process may have started to serve
// it meanwhile. A dry run claims nothing.
func (v *visit) claimFresh(ctx context.Context) (fresh bool, err error) {
	if v.options.DryRun {
		return false, nil
	}
	defer func() {
		if err == nil {
			v.known.served = v.svc
		}
	}()
	if v.svc.ResourceVersion != "" && isUnmarked(v.svc, v.reconciler.Outputs()) {
		err := v.claim(ctx, true)
		if !apierrors.IsConflict(err) {
			return err == nil, err
		}
	}
	return false, v.claim(ctx, false)
}

// claim writes our finalizer before anything is created in the cloud, and with it
// the class: the API server clears that when the type of the Service changes, and
// the owner of the finalizer must be known then. Our finalizer of a previous class is
// removed, because later it could not be identified as ours. With unchanged the write
// fails with a conflict if the Service has changed since it was read.
func (v *visit) claim(ctx context.Context, unchanged bool) error {
	want := v.options.Classes.Hold(v.svc)
	want.Now = v.options.Clock.Now()
	body, differs := status.Patch(v.svc, want)
	if !differs {
		return nil
	}
	if unchanged {
		body = asSeen(body, v.svc.ResourceVersion)
	}
	return v.write(ctx, body)
}

// Hold returns the Want of a Service before anything is created for it: the finalizer
// and its owner.
func (c Classes) Hold(svc *corev1.Service) status.Want {
	finalizer := FinalizerFor(svc)
	others := slices.DeleteFunc(c.finalizers(svc), func(f string) bool { return f == finalizer })
	want := status.Want{AddFinalizers: []string{finalizer}, DropFinalizers: others}
	if class, _ := classOf(svc); c.keptOfficially(svc, class, nil) {
		want.AddFinalizers = nil
	}
	if _, recorded := RecordOf(svc); !recorded && !slices.Contains(svc.Finalizers, finalizer) {
		want.Annotations = map[string]string{status.AnnotationApplied: NewRecord(svc, "", c.Installation).String()}
	}
	return want
}

// isUnmarked reports whether the Service has nothing that a controller of load
// balancers writes: no finalizer, address, record or other output.
func isUnmarked(svc *corev1.Service, outputs providers.Outputs) bool {
	marks := append([]string{OwnFinalizer, StockFinalizer}, outputs.Finalizers...)
	if slices.ContainsFunc(svc.Finalizers, func(f string) bool { return slices.Contains(marks, f) }) {
		return false
	}
	for _, key := range append(status.OwnAnnotations(), outputs.Annotations...) {
		if _, written := svc.Annotations[key]; written {
			return false
		}
	}
	if slices.ContainsFunc(outputs.Labels, func(key string) bool { _, written := svc.Labels[key]; return written }) {
		return false
	}
	return len(svc.Status.LoadBalancer.Ingress) == 0
}

// nothingMade is the record of a Service for which nothing was ever written to the
// cloud, because it was refused from the beginning. The first run that writes removes
// it.
const nothingMade = "none"

// JobOf returns the job of a served Service from its metadata: the next job of the loop,
// if the API server has this version of the Service.
func JobOf(svc *corev1.Service, outputs providers.Outputs) *reconcile.Job {
	record, known := RecordOf(svc)
	digest := record.Digest
	foreign := !known && slices.Contains(svc.Finalizers, FinalizerFor(svc)) // else the claim records that it is ours
	job := &reconcile.Job{Service: svc, Applied: digest, Foreign: foreign, NeverProvisioned: isUnmarked(svc, outputs)}
	if digest == nothingMade {
		job.Applied, job.NothingMade = "", true
	}
	return job
}

// releaseJob returns the job of a Service that is released.
func releaseJob(svc *corev1.Service, outputs providers.Outputs) reconcile.Job {
	served := JobOf(svc, outputs)
	return reconcile.Job{Service: svc, Release: true, Applied: served.Applied, NothingMade: served.NothingMade, Foreign: served.Foreign}
}

// asSeen makes the API server refuse a patch if the Service has changed since it was read.
func asSeen(body []byte, version string) []byte {
	var patch map[string]any
	if json.Unmarshal(body, &patch) != nil {
		return body
	}
	meta, ok := patch["metadata"].(map[string]any)
	if !ok {
		return body
	}
	meta["resourceVersion"] = version
	out, err := json.Marshal(patch)
	if err != nil {
		return body // it was just encoded as JSON
	}
	return out
}
