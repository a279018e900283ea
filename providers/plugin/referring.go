package plugin

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
)

// wakeReferring looks soon at the Services that refer to the one of a key, as some do for their
// load balancer to send to it.
func (f *follower) wakeReferring(o *opened, key string) {
	if !o.WantsObjects() {
		return
	}
	namespace, name, _ := strings.Cut(key, "/")
	refers := func(ref providers.Reference) bool {
		return (ref.Kind == providers.Service || ref.Kind == providers.Endpoints) && ref.Namespace == namespace && ref.Name == name
	}
	all, _ := f.view.services.Services(namespace).List(labels.Everything()) // a lister of a running informer does not fail
	for _, svc := range all {
		if isServed(svc) && slices.ContainsFunc(o.ListReferences(reconcile.Job{Service: svc}), refers) {
			f.wake(svc.Namespace + "/" + svc.Name)
		}
	}
}

// watchServices has Services that refer to others follow those.
func (f *follower) watchServices(o *opened) error {
	if !o.WantsObjects() {
		return nil
	}
	changed := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			f.wakeReferring(o, key)
		}
	}
	_, err := f.view.factory.Core().V1().Services().Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if !initial {
				changed(obj)
			}
		},
		UpdateFunc: func(old, now any) {
			was, _ := old.(*corev1.Service)
			is, _ := now.(*corev1.Service)
			if was != nil && is != nil && (was.UID != is.UID || !equality.Semantic.DeepEqual(was.Spec, is.Spec)) {
				changed(now)
			}
		},
		DeleteFunc: changed,
	})
	return err
}
