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

// GateView returns the Services of readiness gates, also in replicas that are not the
// leader.
type GateView struct {
	factory  informers.SharedInformerFactory
	services corelisters.ServiceLister
	synced   cache.InformerSynced
}

// NewGateView returns a view that is empty until it runs.
func NewGateView(client kubernetes.Interface) (*GateView, error) {
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Services()
	if err := informer.Informer().SetTransform(slimGates); err != nil {
		return nil, err
	}
	return &GateView{factory: factory, services: informer.Lister(), synced: informer.Informer().HasSynced}, nil
}

// Run updates the view until ctx ends.
func (v *GateView) Run(ctx context.Context) {
	v.factory.Start(ctx.Done())
	<-ctx.Done()
	v.factory.Shutdown()
}

// Services returns the Services of a namespace; none before the cache has synced.
func (v *GateView) Services(namespace string) []*corev1.Service {
	if !v.synced() {
		return nil
	}
	all, _ := v.services.Services(namespace).List(everything) // a lister of a running informer does not fail
	return all
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
