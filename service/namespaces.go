package service

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// namespaceView knows the labels of namespaces. A nil view knows none: most clouds
// do not look at them, and then nobody watches namespaces.
type namespaceView struct {
	namespaces corelisters.NamespaceLister
}

// of returns the labels of a Service's namespace; they must not be written to. The
// Service may be seen before its namespace is: it then waits, since by labels that
// are only missing it would be put elsewhere.
func (v *namespaceView) of(svc *corev1.Service) (map[string]string, error) {
	if v == nil {
		return nil, nil
	}
	ns, err := v.namespaces.Get(svc.Namespace)
	if err != nil {
		return nil, fmt.Errorf("labels of the namespace: %w", err)
	}
	return ns.Labels, nil
}

// watchNamespaces lets a change of a namespace's labels wake its Services.
func (c *Controller) watchNamespaces(factory informers.SharedInformerFactory) error {
	informer := factory.Core().V1().Namespaces().Informer()
	if err := informer.SetTransform(slimNamespace); err != nil {
		return fmt.Errorf("namespace informer: %w", err)
	}
	watched, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { c.namespaceSeen(nil, obj) },
		UpdateFunc: func(old, obj any) {
			if before, ok := old.(*corev1.Namespace); ok {
				c.namespaceSeen(before, obj)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("namespace informer: %w", err)
	}
	c.synced = append(c.synced, watched.HasSynced)
	c.namespaces = &namespaceView{namespaces: factory.Core().V1().Namespaces().Lister()}
	return nil
}

// namespaceSeen queues the Services of a namespace whose labels are new. Whoever has
// labelled it waits for what becomes of it.
func (c *Controller) namespaceSeen(before *corev1.Namespace, obj any) {
	ns, ok := obj.(*corev1.Namespace)
	if !ok || before != nil && maps.Equal(before.Labels, ns.Labels) {
		return
	}
	for _, key := range c.seen.keys() {
		if strings.HasPrefix(key, ns.Name+"/") {
			c.queue.Add(key, byUser)
		}
	}
}
