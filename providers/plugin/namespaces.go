package plugin

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// namespaces follows the labels of namespaces, where they decide on Services. A nil
// one knows none: mostly nobody looks at them, and then nobody watches.
type namespaces struct {
	view     *view
	lister   corelisters.NamespaceLister
	synced   cache.InformerSynced
	follower *follower
}

// watchNamespaces starts the informer of namespaces, for which no other part of the
// program may have asked.
func (v *view) watchNamespaces(stop <-chan struct{}, f *follower) (*namespaces, error) {
	informer := v.factory.Core().V1().Namespaces()
	n := &namespaces{view: v, lister: informer.Lister(), synced: informer.Informer().HasSynced, follower: f}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: n.wake})
	if err != nil {
		return nil, fmt.Errorf("namespace informer: %w", err)
	}
	v.factory.Start(stop)
	return n, nil
}

// wake looks at the Services of a namespace soon if its labels are others. A new
// namespace has no Services.
func (n *namespaces) wake(old, obj any) {
	before, ok := old.(*corev1.Namespace)
	now, is := obj.(*corev1.Namespace)
	if !ok || !is || maps.Equal(before.Labels, now.Labels) {
		return
	}
	all, err := n.view.services.Services(now.Name).List(labels.Everything())
	if err != nil {
		klog.Background().Error(err, "services of a namespace", "namespace", now.Name)
		return
	}
	for _, svc := range all {
		n.follower.wake(svc.Namespace, svc.Name)
	}
}

// of returns the labels of a Service's namespace; they must not be written to. It
// waits for the first list of them, and fails for a namespace that is not known:
// by labels that are only missing the Service would be put elsewhere.
func (n *namespaces) of(ctx context.Context, svc *corev1.Service) (map[string]string, error) {
	if n == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), n.synced) {
		return nil, fmt.Errorf("namespaces: %w", ctx.Err())
	}
	ns, err := n.lister.Get(svc.Namespace)
	if err != nil {
		return nil, fmt.Errorf("labels of the namespace: %w", err)
	}
	return ns.Labels, nil
}
