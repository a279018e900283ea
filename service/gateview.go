package service

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-lb/berth/status"
)

// ClusterView returns the Services of a cluster, also in replicas that are not the leader.
type ClusterView struct {
	factory  informers.SharedInformerFactory
	services corelisters.ServiceLister
	synced   cache.InformerSynced
}

// NewGateView returns a view of what readiness gates depend on. It is empty until it runs.
func NewGateView(client kubernetes.Interface) (*ClusterView, error) {
	return newClusterView(client, slimGates)
}

// NewPageView returns a view of what the page shows. It is empty until it runs.
func NewPageView(client kubernetes.Interface) (*ClusterView, error) {
	return newClusterView(client, slimPage)
}

func newClusterView(client kubernetes.Interface, slim cache.TransformFunc) (*ClusterView, error) {
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Services()
	if err := informer.Informer().SetTransform(slim); err != nil {
		return nil, err
	}
	return &ClusterView{factory: factory, services: informer.Lister(), synced: informer.Informer().HasSynced}, nil
}

// Run updates the view until ctx ends.
func (v *ClusterView) Run(ctx context.Context) {
	v.factory.Start(ctx.Done())
	<-ctx.Done()
	v.factory.Shutdown()
}

// Services returns the Services of a namespace; none before the cache has synced.
func (v *ClusterView) Services(namespace string) []*corev1.Service {
	if !v.synced() {
		return nil
	}
	all, _ := v.services.Services(namespace).List(everything) // a lister of a running informer does not fail
	return all
}

// All returns the Services of all namespaces; false: the cache has not synced yet.
func (v *ClusterView) All() ([]*corev1.Service, bool) {
	all, _ := v.services.List(everything) // a lister of a running informer does not fail
	return all, v.synced()
}

// slimGates keeps the fields of a Service that gates of pods depend on.
func slimGates(obj any) (any, error) {
	svc, ok := obj.(*corev1.Service)
	if !ok {
		return obj, nil
	}
	out := &corev1.Service{}
	out.Namespace, out.Name, out.UID, out.ResourceVersion = svc.Namespace, svc.Name, svc.UID, svc.ResourceVersion
	out.Spec.Selector = svc.Spec.Selector
	if gates := svc.Annotations[status.AnnotationPodGates]; gates != "" {
		out.Annotations = map[string]string{status.AnnotationPodGates: gates}
	}
	return out, nil
}

// slimPage keeps of a Service what the page shows, and of one of another type its name.
func slimPage(obj any) (any, error) {
	svc, ok := obj.(*corev1.Service)
	if !ok {
		return obj, nil
	}
	svc.ManagedFields = nil
	delete(svc.Annotations, corev1.LastAppliedConfigAnnotation)
	if svc.Spec.Type == corev1.ServiceTypeLoadBalancer {
		return svc, nil
	}
	out := &corev1.Service{}
	out.Namespace, out.Name, out.UID, out.ResourceVersion, out.Spec.Type = svc.Namespace, svc.Name, svc.UID, svc.ResourceVersion, svc.Spec.Type
	return out, nil
}
