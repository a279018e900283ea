package inputs

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Namespaces knows the labels of namespaces. A nil value knows none: most clouds do not
// look at them, and then namespaces are not watched.
type Namespaces struct {
	lister  corelisters.NamespaceLister
	synced  cache.InformerSynced
	changed func(namespace string)
}

// WatchNamespaces registers with the informer of namespaces. Changed is called with the
// name of one that is new or has other labels. It fails if the informer was started
// before, or has stopped.
func WatchNamespaces(from Sources, changed func(namespace string)) (*Namespaces, error) {
	informer := from.Factory.Core().V1().Namespaces().Informer()
	if err := from.keep(informer, slimNamespace); err != nil {
		return nil, fmt.Errorf("namespace informer: %w", err)
	}
	n := &Namespaces{lister: from.Factory.Core().V1().Namespaces().Lister(), changed: changed}
	watched, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { n.seen(nil, obj) },
		UpdateFunc: func(old, obj any) {
			if before, ok := old.(*corev1.Namespace); ok {
				n.seen(before, obj)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("namespace informer: %w", err)
	}
	n.synced = watched.HasSynced
	return n, nil
}

// Synced returns the functions that report whether the first list has synced.
func (n *Namespaces) Synced() []cache.InformerSynced {
	if n == nil {
		return nil
	}
	return []cache.InformerSynced{n.synced}
}

// Of returns the labels of a Service's namespace; they must not be written to. It fails
// for a namespace that is not known: a Service may be seen before its namespace is, and by
// labels that are only missing it would be put elsewhere.
func (n *Namespaces) Of(svc *corev1.Service) (map[string]string, error) {
	if n == nil {
		return nil, nil
	}
	ns, err := n.lister.Get(svc.Namespace)
	if err != nil {
		return nil, fmt.Errorf("labels of the namespace: %w", err)
	}
	return ns.Labels, nil
}

// seen wakes a namespace whose labels are new.
func (n *Namespaces) seen(before *corev1.Namespace, obj any) {
	if ns, ok := obj.(*corev1.Namespace); ok && (before == nil || !maps.Equal(before.Labels, ns.Labels)) {
		n.changed(ns.Name)
	}
}

// slimNamespace keeps what can be looked at: the name and the labels.
func slimNamespace(obj any) (any, error) {
	if ns, ok := obj.(*corev1.Namespace); ok {
		ns.ManagedFields, ns.Annotations = nil, nil
		ns.Spec, ns.Status = corev1.NamespaceSpec{}, corev1.NamespaceStatus{}
	}
	return obj, nil
}
