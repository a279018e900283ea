package service

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// byService is the index of EndpointSlices by namespace/name of their Service.
const byService = "service"

// endpointView finds the EndpointSlices of a Service. A nil view has none: most
// clouds send to nodes, and then nobody watches endpoints.
type endpointView struct {
	slices cache.Indexer
	pods   *podView
}

// of returns the slices of a Service, which must not be written to, and the addresses
// that were left out of them because they are no pods of its namespace.
func (v *endpointView) of(svc *corev1.Service) ([]*discoveryv1.EndpointSlice, []netip.Addr) {
	if v == nil {
		return nil, nil
	}
	found, err := v.slices.ByIndex(byService, svc.Namespace+"/"+svc.Name)
	if err != nil {
		klog.Background().Error(err, "endpoints") // the index exists, see watchEndpoints
		return nil, nil
	}
	var out []*discoveryv1.EndpointSlice
	for _, obj := range found {
		if s, ok := obj.(*discoveryv1.EndpointSlice); ok {
			out = append(out, s)
		}
	}
	return v.pods.own(svc.Namespace, v.pods.await(svc.Namespace, out))
}

// serviceOf names the Service of a slice; empty if it has none.
func serviceOf(obj any) string {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	s, ok := obj.(*discoveryv1.EndpointSlice)
	if !ok || s.Labels[discoveryv1.LabelServiceName] == "" {
		return ""
	}
	return s.Namespace + "/" + s.Labels[discoveryv1.LabelServiceName]
}

// watchEndpoints lets a change of endpoints wake the Service.
func (c *Controller) watchEndpoints(factory informers.SharedInformerFactory) error {
	informer := factory.Discovery().V1().EndpointSlices().Informer()
	index := cache.Indexers{byService: func(obj any) ([]string, error) {
		if key := serviceOf(obj); key != "" {
			return []string{key}, nil
		}
		return nil, nil
	}}
	if err := informer.SetTransform(slimSlice); err != nil {
		return fmt.Errorf("endpoint informer: %w", err)
	}
	if err := informer.AddIndexers(index); err != nil {
		return fmt.Errorf("endpoint informer: %w", err)
	}
	watched, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: c.wakeFor, UpdateFunc: c.sliceChanged, DeleteFunc: c.wakeFor,
	})
	if err != nil {
		return fmt.Errorf("endpoint informer: %w", err)
	}
	c.synced = append(c.synced, watched.HasSynced)
	c.endpoints = &endpointView{slices: informer.GetIndexer()}
	return nil
}
