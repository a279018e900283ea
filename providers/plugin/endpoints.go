package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/service"
)

const (
	// endpointQuiet is how long changes of endpoints gather: a rollout is many.
	endpointQuiet = time.Second
	// endpointWorkers is how many Services are looked at for that at a time.
	endpointWorkers = 4
)

// endpoints follows the EndpointSlices of Services, where the cloud sends to pods
// or to the nodes of pods. The stock loop does not look at them, so a change of them
// is a call of our own. A nil one finds none: most clouds send to nodes, and then
// nobody watches.
type endpoints struct {
	slices discoverylisters.EndpointSliceLister
	synced cache.InformerSynced
	queue  workqueue.TypedRateLimitingInterface[string] // keys of Services
}

// watchEndpoints starts the informer of EndpointSlices, for which no other part of
// the program may have asked. Follow is called for Services whose endpoints changed.
func (v *view) watchEndpoints(stop <-chan struct{}, follow func(context.Context, *corev1.Service) error) (*endpoints, error) {
	informer := v.factory.Discovery().V1().EndpointSlices()
	e := &endpoints{
		slices: informer.Lister(), synced: informer.Informer().HasSynced,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: e.wake, UpdateFunc: func(_, obj any) { e.wake(obj) }, DeleteFunc: e.wake,
	})
	if err != nil {
		return nil, fmt.Errorf("endpoint informer: %w", err)
	}
	v.factory.Start(stop)
	life := wait.ContextForChannel(stop)
	context.AfterFunc(life, e.queue.ShutDown)
	for range endpointWorkers {
		go func() {
			for v.next(life, e.queue, follow) {
			}
		}()
	}
	return e, nil
}

// wake looks at the Service of a slice soon.
func (e *endpoints) wake(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if s, ok := obj.(*discoveryv1.EndpointSlice); ok && s.Labels[discoveryv1.LabelServiceName] != "" {
		e.queue.AddAfter(s.Namespace+"/"+s.Labels[discoveryv1.LabelServiceName], endpointQuiet)
	}
}

// next lets one Service follow its endpoints; false when the program stops. One
// that the stock loop has not begun with has no finalizer, and is left to it.
func (v *view) next(ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], follow func(context.Context, *corev1.Service) error) bool {
	key, quit := queue.Get()
	if quit {
		return false
	}
	defer queue.Done(key)
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return true
	}
	svc, err := v.services.Services(namespace).Get(name)
	if err != nil || !served(svc) || !slices.Contains(svc.Finalizers, service.StockFinalizer) {
		return true
	}
	if err := follow(ctx, svc); err != nil && !errors.Is(err, cloudprovider.ImplementedElsewhere) {
		klog.FromContext(ctx).Error(err, "endpoints", "service", key)
		queue.AddRateLimited(key)
		return true
	}
	queue.Forget(key)
	return true
}

// of returns the slices of a Service; they must not be written to. It waits for the
// first list of them: without it a Service would seem to have no pods.
func (e *endpoints) of(ctx context.Context, svc *corev1.Service) ([]*discoveryv1.EndpointSlice, error) {
	if e == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), e.synced) {
		return nil, fmt.Errorf("endpoint slices: %w", ctx.Err())
	}
	return e.slices.EndpointSlices(svc.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: svc.Name}))
}
