package service

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/status"
)

// claimFresh claims a Service and tells whether nothing was ever made for it. That
// is sure only if the API server had it without any mark at the moment at which
// ours was written: what is remembered here may be old, and another process may
// have begun to serve it meanwhile.
func (c *Controller) claimFresh(ctx context.Context, svc *corev1.Service) (*corev1.Service, bool, error) {
	if svc.ResourceVersion != "" && unmarked(svc, c.reconciler.Outputs()) {
		claimed, err := c.claim(ctx, svc, true)
		if !apierrors.IsConflict(err) {
			return claimed, err == nil, err
		}
	}
	claimed, err := c.claim(ctx, svc, false)
	return claimed, false, err
}

// unmarked tells whether the Service carries nothing that a controller of load
// balancers writes: no finalizer, address, record or other output.
func unmarked(svc *corev1.Service, outputs providers.Outputs) bool {
	marks := append([]string{OwnFinalizer, StockFinalizer}, outputs.Finalizers...)
	if slices.ContainsFunc(svc.Finalizers, func(f string) bool { return slices.Contains(marks, f) }) {
		return false
	}
	for _, key := range append([]string{status.AnnotationApplied}, outputs.Annotations...) {
		if _, written := svc.Annotations[key]; written {
			return false
		}
	}
	return len(svc.Status.LoadBalancer.Ingress) == 0
}

// asSeen makes the API server refuse a patch if the Service has changed since.
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
		return body // it was made of JSON just now
	}
	return out
}
