package inputs

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// The indexes: of EndpointSlices by namespace/name of their Service, and of Pods and
// EndpointSlices by namespace/address.
const (
	byService = "service"
	byAddress = "address"
)

// Endpoints finds the EndpointSlices of a Service. A nil value has none: most clouds
// send to nodes, and then endpoints are not watched.
type Endpoints struct {
	slices cache.Indexer
	pods   *pods
	watch  Watch
	synced []cache.InformerSynced
}

// Sources are the factories of informers that are not started yet.
type Sources struct {
	Factory informers.SharedInformerFactory // of EndpointSlices and namespaces
	Pods    informers.SharedInformerFactory
	// Whole keeps EndpointSlices and namespaces as they are, since others look at them
	// too. Of a Pod only what is needed here is kept in any case.
	Whole bool
}

// Own are the sources of a factory without other users.
func Own(factory informers.SharedInformerFactory) Sources {
	return Sources{Factory: factory, Pods: factory}
}

// keep makes an informer store less of its objects, if no other component uses it.
func (s Sources) keep(informer cache.SharedIndexInformer, slim cache.TransformFunc) error {
	if s.Whole {
		return nil
	}
	return informer.SetTransform(slim)
}

// Watch lists what is watched, and the Services that a change enqueues.
type Watch struct {
	// Changed is called with namespace/name of a Service whose endpoints are others.
	Changed func(service string)
	// OwnPods leaves addresses out that no Pod of the namespace has.
	OwnPods bool
	// PodGates tells the readiness gates that are the cloud's; nil: pods do not wait for it.
	PodGates func(conditionType string) bool
}

// WatchEndpoints registers with the informers of EndpointSlices, and of Pods where Watch
// asks for what they say. It fails if one of them was started before, or has stopped.
func WatchEndpoints(from Sources, w Watch) (*Endpoints, error) {
	informer := from.Factory.Discovery().V1().EndpointSlices().Informer()
	e := &Endpoints{slices: informer.GetIndexer(), watch: w}
	if err := from.keep(informer, slimSlice); err != nil {
		return nil, fmt.Errorf("endpoint informer: %w", err)
	}
	indexers, byPods := cache.Indexers{byService: servicesOf}, w.OwnPods || w.PodGates != nil
	if byPods {
		indexers[byAddress] = sliceAddresses
	}
	if err := informer.AddIndexers(indexers); err != nil {
		return nil, fmt.Errorf("endpoint informer: %w", err)
	}
	watched, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: e.changed, UpdateFunc: e.updated, DeleteFunc: e.changed})
	if err != nil {
		return nil, fmt.Errorf("endpoint informer: %w", err)
	}
	e.synced = append(e.synced, watched.HasSynced)
	if byPods {
		err = e.watchPods(from.Pods)
	}
	return e, err
}

// Synced returns the functions that report whether the first lists have synced.
func (e *Endpoints) Synced() []cache.InformerSynced {
	if e == nil {
		return nil
	}
	return e.synced
}

// Of returns the slices of a Service, which must not be written to, and the addresses
// that were left out of them because they are no pods of its namespace.
func (e *Endpoints) Of(svc *corev1.Service) ([]*discoveryv1.EndpointSlice, []netip.Addr) {
	if e == nil {
		return nil, nil
	}
	return e.pods.own(svc.Namespace, e.pods.await(svc.Namespace, e.slicesOf(svc)))
}

// Named returns the slices of a name, whether a Service has it or not, as Of does.
func (e *Endpoints) Named(namespace, name string) []*discoveryv1.EndpointSlice {
	if e == nil {
		return nil
	}
	return e.Admitted(namespace, e.named(namespace, name))
}

// Admitted returns slices of a namespace without addresses that may not be used. The result is never nil.
func (e *Endpoints) Admitted(namespace string, all []*discoveryv1.EndpointSlice) []*discoveryv1.EndpointSlice {
	if e == nil {
		return []*discoveryv1.EndpointSlice{}
	}
	out, _ := e.pods.own(namespace, e.pods.await(namespace, all))
	return append([]*discoveryv1.EndpointSlice{}, out...)
}

// slicesOf lists the slices of a Service as they are.
func (e *Endpoints) slicesOf(svc *corev1.Service) []*discoveryv1.EndpointSlice {
	return e.named(svc.Namespace, svc.Name)
}

// named lists the slices of a name as they are.
func (e *Endpoints) named(namespace, name string) []*discoveryv1.EndpointSlice {
	found, err := e.slices.ByIndex(byService, namespace+"/"+name)
	if err != nil {
		klog.Background().Error(err, "endpoints") // the index exists, see WatchEndpoints
		return nil
	}
	var out []*discoveryv1.EndpointSlice
	for _, obj := range found {
		if s, ok := obj.(*discoveryv1.EndpointSlice); ok {
			out = append(out, s)
		}
	}
	return out
}

// changed wakes the Service of a slice.
func (e *Endpoints) changed(obj any) {
	if key := serviceOf(obj); key != "" {
		e.watch.Changed(key)
	}
}

// updated wakes the Service of a slice whose endpoints are others.
func (e *Endpoints) updated(old, now any) {
	before, _ := old.(*discoveryv1.EndpointSlice)
	after, _ := now.(*discoveryv1.EndpointSlice)
	if before != nil && after != nil && serviceOf(before) == serviceOf(after) &&
		before.AddressType == after.AddressType && equality.Semantic.DeepEqual(before.Endpoints, after.Endpoints) && equality.Semantic.DeepEqual(before.Ports, after.Ports) {
		return
	}
	e.changed(old)
	e.changed(now)
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

// servicesOf is serviceOf as an index.
func servicesOf(obj any) ([]string, error) {
	if key := serviceOf(obj); key != "" {
		return []string{key}, nil
	}
	return nil, nil
}
