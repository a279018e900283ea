package plugin

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/service"
)

const (
	// followQuiet is how long changes gather: a rollout is many.
	followQuiet = time.Second
	// followWorkers is how many Services are looked at for them at a time.
	followWorkers = 4
)

// follower calls for Services when something changes that the stock loop does not
// look at: endpoints, or labels of a namespace.
type follower struct {
	view  *view
	queue workqueue.TypedRateLimitingInterface[string] // keys of Services
	// update is what the stock loop would have called.
	update func(context.Context, *corev1.Service) error
}

// startFollower works until the program stops.
func (v *view) startFollower(stop <-chan struct{}, update func(context.Context, *corev1.Service) error) *follower {
	f := &follower{view: v, queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()), update: update}
	life := wait.ContextForChannel(stop)
	context.AfterFunc(life, f.queue.ShutDown)
	for range followWorkers {
		go func() {
			for f.next(life) {
			}
		}()
	}
	return f
}

// wake looks at a Service soon, by its namespace/name.
func (f *follower) wake(key string) { f.queue.AddAfter(key, followQuiet) }

// next takes one Service; false when the program stops. One that the stock loop has
// not begun with has no finalizer, and is left to it.
func (f *follower) next(ctx context.Context) bool {
	key, quit := f.queue.Get()
	if quit {
		return false
	}
	defer f.queue.Done(key)
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return true
	}
	svc, err := f.view.services.Services(namespace).Get(name)
	if err != nil || !isServed(svc) || !slices.Contains(svc.Finalizers, service.StockFinalizer) {
		return true
	}
	if err := f.update(ctx, svc); err != nil && !errors.Is(err, cloudprovider.ImplementedElsewhere) {
		klog.FromContext(ctx).Error(err, "a change around the Service", "service", key)
		f.queue.AddRateLimited(key)
		return true
	}
	f.queue.Forget(key)
	return true
}
