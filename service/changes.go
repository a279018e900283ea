package service

import (
	"bytes"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-lb/berth/status"
)

// serviceChanged queues a Service that somebody has changed: at once for what it asks
// for, after a while for what we write on it. Our own writes wake nobody.
func (c *Controller) serviceChanged(old, now *corev1.Service) {
	if old.ResourceVersion == now.ResourceVersion && old.ResourceVersion != "" {
		return // the informer only says that it is still there
	}
	key := now.Namespace + "/" + now.Name
	ours := c.writes.arrived(key, now.ResourceVersion)
	switch {
	case c.asksOtherwise(old, now):
		c.queue.Add(key, byUser)
	case !ours && !carriesTheSame(old, now):
		c.contested(key, old, now)
	}
}

// asksOtherwise tells whether a Service asks for something else than before, or for
// the same of another controller.
func (c *Controller) asksOtherwise(old, now *corev1.Service) bool {
	return old.UID != now.UID || (old.DeletionTimestamp == nil) != (now.DeletionTimestamp == nil) ||
		!equality.Semantic.DeepEqual(old.Spec, now.Spec) || !maps.Equal(old.Labels, now.Labels) ||
		!maps.Equal(c.wishes(old), c.wishes(now))
}

// wishes are the annotations of a Service but for those that we write.
func (c *Controller) wishes(svc *corev1.Service) map[string]string {
	out := maps.Clone(svc.Annotations)
	for _, key := range append(status.OwnAnnotations(), c.reconciler.Outputs().Annotations...) {
		delete(out, key)
	}
	return out
}

// carriesTheSame tells whether two versions of a Service are the same in all that we
// write.
func carriesTheSame(old, now *corev1.Service) bool {
	return slices.Equal(old.Finalizers, now.Finalizers) && maps.Equal(old.Annotations, now.Annotations) &&
		equality.Semantic.DeepEqual(old.Status.LoadBalancer, now.Status.LoadBalancer) &&
		equality.Semantic.DeepEqual(ourConditions(old), ourConditions(now))
}

// ourConditions are those of the types that we write.
func ourConditions(svc *corev1.Service) []metav1.Condition {
	return slices.DeleteFunc(slices.Clone(svc.Status.Conditions), func(c metav1.Condition) bool {
		return !slices.Contains(status.Types(), c.Type)
	})
}

// contested queues a Service on which somebody else has changed what we write.
func (c *Controller) contested(key string, old, now *corev1.Service) {
	by := ""
	if !equality.Semantic.DeepEqual(old.Status.LoadBalancer, now.Status.LoadBalancer) {
		by = addressWriter(now)
	}
	c.queue.AddAfter(key, c.writes.contested(key, by, c.options.Clock.Now()), byRetry)
}

// addressField is how the API server names the addresses in the list of who manages
// which field.
const addressField = `"f:loadBalancer"`

// addressWriters keeps of a list of managers those of the addresses, without what
// else they manage: the whole list is most of a Service.
func addressWriters(all []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var out []metav1.ManagedFieldsEntry
	for _, m := range all {
		if m.FieldsV1 != nil && bytes.Contains(m.FieldsV1.GetRawBytes(), []byte(addressField)) {
			m.FieldsV1 = nil
			out = append(out, m)
		}
	}
	return out
}

// addressWriter is who wrote the addresses of a Service last.
func addressWriter(svc *corev1.Service) string {
	var last metav1.ManagedFieldsEntry
	for _, m := range svc.ManagedFields {
		if last.Manager == "" || m.Time != nil && last.Time != nil && last.Time.Before(m.Time) {
			last = m
		}
	}
	if last.Manager == "" {
		return "another program"
	}
	return last.Manager
}

// sliceChanged queues the Service of a slice whose endpoints are others.
func (c *Controller) sliceChanged(old, now any) {
	before, _ := old.(*discoveryv1.EndpointSlice)
	after, _ := now.(*discoveryv1.EndpointSlice)
	if before != nil && after != nil && serviceOf(before) == serviceOf(after) &&
		before.AddressType == after.AddressType && equality.Semantic.DeepEqual(before.Endpoints, after.Endpoints) && equality.Semantic.DeepEqual(before.Ports, after.Ports) {
		return
	}
	c.wakeFor(old)
	c.wakeFor(now)
}

// wakeFor queues the Service of a slice, if it is handled.
func (c *Controller) wakeFor(slice any) {
	if key := serviceOf(slice); key != "" && c.seen.get(key) != nil {
		c.queue.Add(key, byEndpoints)
	}
}

// serviceSeen queues a Service that is new or gone.
func (c *Controller) serviceSeen(obj any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		c.queue.Add(key, byUser)
	}
}
