package plugin

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// endpoints follows the EndpointSlices of Services, where the cloud sends to pods
// or to the nodes of pods. The stock loop does not look at them, so a change of them
// is a call of our own. A nil one finds none: most clouds send to nodes, and then
// nobody watches.
type endpoints struct {
	slices   discoverylisters.EndpointSliceLister
	synced   cache.InformerSynced
	follower *follower
	pods     *ownPods // nil: every address is believed
}

// watchEndpoints starts the informer of EndpointSlices, for which no other part of
// the program may have asked. The follower is told of Services whose endpoints changed.
func (v *view) watchEndpoints(stop <-chan struct{}, f *follower) (*endpoints, error) {
	informer := v.factory.Discovery().V1().EndpointSlices()
	e := &endpoints{slices: informer.Lister(), synced: informer.Informer().HasSynced, follower: f}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: e.wake, UpdateFunc: func(_, obj any) { e.wake(obj) }, DeleteFunc: e.wake,
	})
	if err != nil {
		return nil, fmt.Errorf("endpoint informer: %w", err)
	}
	v.factory.Start(stop)
	return e, nil
}

// wake looks at the Service of a slice soon.
func (e *endpoints) wake(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if s, ok := obj.(*discoveryv1.EndpointSlice); ok && s.Labels[discoveryv1.LabelServiceName] != "" {
		e.follower.wake(s.Namespace, s.Labels[discoveryv1.LabelServiceName])
	}
}

// of returns the slices of a Service; they must not be written to. It waits for the
// first list of them: without it a Service would seem to have no pods.
//
// Addresses that are no pods of the namespace are left out where that is asked for, and
// are returned as strays.
func (e *endpoints) of(ctx context.Context, svc *corev1.Service) (all []*discoveryv1.EndpointSlice, strays []netip.Addr, err error) {
	if e == nil {
		return nil, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), e.synced) {
		return nil, nil, fmt.Errorf("endpoint slices: %w", ctx.Err())
	}
	all, err = e.slices.EndpointSlices(svc.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: svc.Name}))
	if err != nil || e.pods == nil {
		return all, nil, err
	}
	return e.pods.keep(ctx, svc.Namespace, all)
}
