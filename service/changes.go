package service

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/inputs"
	"github.com/berth-lb/berth/status"
)

// serviceChanged queues a changed Service: at once for a change of its request, after a
// while for a change of our own output. Our own writes queue nothing. An informer may skip
// versions and return an older one: a change is then detected by comparison with the answer
// to our last write.
func (c *Controller) serviceChanged(old, now *corev1.Service) {
	if old.ResourceVersion == now.ResourceVersion && old.ResourceVersion != "" {
		return // a resync of the informer
	}
	key := now.Namespace + "/" + now.Name
	if old.UID != now.UID || !equality.Semantic.DeepEqual(old.Spec, now.Spec) {
		c.objects.changed(referenceTo(providers.Service, key), byUser)
	}
	answered := c.writes.newest(key, old)
	if isOlderVersion(now.ResourceVersion, answered.ResourceVersion) {
		answered = old
	}
	ours := c.writes.arrived(key, now.ResourceVersion)
	switch {
	case c.asksOtherwise(old, now) || c.asksOtherwise(answered, now):
		c.queue.Add(key, byUser)
	case !ours && !carriesTheSame(old, now):
		c.contested(key, old, now)
	case !ours && !carriesTheSame(answered, now):
		c.contested(key, answered, now)
	}
}

// asksOtherwise reports whether the request of a Service has changed, or its
// controller.
func (c *Controller) asksOtherwise(old, now *corev1.Service) bool {
	return old.UID != now.UID || (old.DeletionTimestamp == nil) != (now.DeletionTimestamp == nil) ||
		!equality.Semantic.DeepEqual(old.Spec, now.Spec) || !maps.Equal(c.userLabels(old), c.userLabels(now)) ||
		!maps.Equal(c.wishes(old), c.wishes(now))
}

// wishes returns the annotations of a Service except the ones that we write.
func (c *Controller) wishes(svc *corev1.Service) map[string]string {
	out := maps.Clone(svc.Annotations)
	for _, key := range append(status.OwnAnnotations(), c.reconciler.Outputs().Annotations...) {
		delete(out, key)
	}
	return out
}

// userLabels returns the labels of a Service without the keys of Outputs.
func (c *Controller) userLabels(svc *corev1.Service) map[string]string {
	return withoutKeys(svc.Labels, c.reconciler.Outputs().Labels)
}

// withoutKeys returns a copy of labels without some keys.
func withoutKeys(labels map[string]string, keys []string) map[string]string {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(key, _ string) bool { return slices.Contains(keys, key) })
	return out
}

// carriesTheSame reports whether two versions of a Service are equal in everything that
// we write.
func carriesTheSame(old, now *corev1.Service) bool {
	return slices.Equal(old.Finalizers, now.Finalizers) && maps.Equal(old.Annotations, now.Annotations) && maps.Equal(old.Labels, now.Labels) &&
		equality.Semantic.DeepEqual(old.Status.LoadBalancer, now.Status.LoadBalancer) &&
		equality.Semantic.DeepEqual(ourConditions(old), ourConditions(now))
}

// ourConditions returns the conditions of the types that we write.
func ourConditions(svc *corev1.Service) []metav1.Condition {
	return slices.DeleteFunc(slices.Clone(svc.Status.Conditions), func(c metav1.Condition) bool {
		return !slices.Contains(status.Types(), c.Type)
	})
}

// contested queues a Service on which another client has changed our output.
func (c *Controller) contested(key string, old, now *corev1.Service) {
	by := ""
	if !equality.Semantic.DeepEqual(old.Status.LoadBalancer, now.Status.LoadBalancer) {
		by = addressWriter(now)
	}
	c.queue.AddAfter(key, c.writes.contested(key, by, c.options.Clock.Now()), byRetry)
}

// addressField is the API server's name of the addresses in the list of field managers.
const addressField = `"f:loadBalancer"`

// addressWriters returns the managers of the addresses, without other managed fields:
// the whole list is most of a Service.
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

// addressWriter returns the last writer of the addresses of a Service.
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

// watchInputs queues Services for changes of other inputs of load balancers, as far as the
// cloud uses them.
func (c *Controller) watchInputs(factory informers.SharedInformerFactory) (err error) {
	if c.reconciler.WantsEndpoints() {
		watch := inputs.Watch{Changed: c.endpointsChanged, OwnPods: c.options.OwnPods}
		if c.gatesPods() {
			watch.PodGates = c.reconciler.IsPodGate
		}
		if c.endpoints, err = inputs.WatchEndpoints(inputs.Own(factory), watch); err != nil {
			return err
		}
	}
	if c.reconciler.WantsNamespaceLabels() {
		if c.namespaces, err = inputs.WatchNamespaces(inputs.Own(factory), c.namespaceChanged); err != nil {
			return err
		}
	}
	c.synced = slices.Concat(c.synced, c.endpoints.Synced(), c.namespaces.Synced())
	return nil
}

// endpointsChanged queues a Service, if it is served.
func (c *Controller) endpointsChanged(key string) {
	if c.seen.get(key) != nil {
		c.queue.Add(key, byEndpoints)
	}
	for _, kind := range []providers.ObjectKind{providers.Service, providers.Endpoints} {
		c.objects.changed(referenceTo(kind, key), byEndpoints)
	}
}

// referenceTo returns the reference of another Service to the object of a key.
func referenceTo(kind providers.ObjectKind, key string) providers.Reference {
	namespace, name, _ := strings.Cut(key, "/")
	return providers.Reference{Kind: kind, Namespace: namespace, Name: name}
}

// completeObject returns an object that a Service refers to with what is cached: a Service, and EndpointSlices. Of Endpoints
// the EndpointSlices count, as far as there are some.
func (c *Controller) completeObject(ref providers.Reference, watched providers.Object) providers.Object {
	switch ref.Kind {
	case providers.Service:
		return c.referredTo(ref)
	case providers.Endpoints:
		if found := c.endpoints.Named(ref.Namespace, ref.Name); len(found) > 0 {
			return providers.Object{Slices: found}
		}
		if watched.Slices != nil {
			watched.Slices = c.endpoints.Admitted(ref.Namespace, watched.Slices)
		}
	case providers.Secret, providers.ConfigMap: // are complete
	}
	return watched
}

// referredTo returns a Service that another one refers to, as far as it is known.
func (c *Controller) referredTo(ref providers.Reference) providers.Object {
	svc, err := c.services.Services(ref.Namespace).Get(ref.Name)
	if err != nil { // of a running informer: it does not exist
		return providers.Object{Why: isAway}
	}
	slices, _ := c.endpoints.Of(svc)
	return providers.Object{Service: svc, Slices: slices}
}

// namespaceChanged queues the Services of a namespace with changed labels, with the
// priority of a user's change.
func (c *Controller) namespaceChanged(namespace string) {
	for _, key := range c.seen.keys() {
		if strings.HasPrefix(key, namespace+"/") {
			c.queue.Add(key, byUser)
		}
	}
}

// serviceSeen queues a new or deleted Service.
func (c *Controller) serviceSeen(obj any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		c.queue.Add(key, byUser)
		c.objects.changed(referenceTo(providers.Service, key), byUser)
	}
}
