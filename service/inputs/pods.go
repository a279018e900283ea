package inputs

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-lb/berth/nodeports"
)

// pods finds the Pods of a namespace by their addresses. A nil value believes every
// address of an EndpointSlice, as kube-proxy does.
type pods struct {
	known cache.Indexer
	watch Watch
}

// watchPods lets addresses of EndpointSlices be held against Pods. A Pod that gets or
// loses an address, or begins or ceases to wait for its load balancer, wakes the Services
// whose slices name it: which of the two is seen first is chance.
func (e *Endpoints) watchPods(factory informers.SharedInformerFactory) error {
	informer := factory.Core().V1().Pods().Informer()
	if err := informer.SetTransform(slimPod); err != nil {
		return fmt.Errorf("pod informer: %w", err)
	}
	if err := informer.AddIndexers(cache.Indexers{byAddress: func(obj any) ([]string, error) { return podAddresses(obj), nil }}); err != nil {
		return fmt.Errorf("pod informer: %w", err)
	}
	watched, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { e.moved(podAddresses(obj)) },
		UpdateFunc: func(old, obj any) {
			before, after := podAddresses(old), podAddresses(obj)
			if !slices.Equal(before, after) || nodeOf(old) != nodeOf(obj) || e.Waits(old) != e.Waits(obj) {
				e.moved(append(before, after...))
			}
		},
		DeleteFunc: func(obj any) { e.moved(podAddresses(obj)) },
	})
	if err != nil {
		return fmt.Errorf("pod informer: %w", err)
	}
	e.synced = append(e.synced, watched.HasSynced)
	e.pods = &pods{known: informer.GetIndexer(), watch: e.watch}
	return nil
}

// moved wakes the Services whose slices name one of the addresses.
func (e *Endpoints) moved(addresses []string) {
	for _, at := range addresses {
		named, _ := e.slices.ByIndex(byAddress, at) // the index exists, see WatchEndpoints
		for _, slice := range named {
			e.changed(slice)
		}
	}
}

// Waits reports whether a pod is ready but for its load balancer.
func (e *Endpoints) Waits(obj any) bool {
	pod, ok := obj.(*corev1.Pod)
	return ok && e != nil && e.watch.PodGates != nil && nodeports.WaitsOnly(pod, e.watch.PodGates)
}

// own keeps of slices the endpoints that are pods of the namespace, and says which
// addresses were left out.
func (p *pods) own(namespace string, all []*discoveryv1.EndpointSlice) ([]*discoveryv1.EndpointSlice, []netip.Addr) {
	if p == nil || !p.watch.OwnPods {
		return all, nil
	}
	return nodeports.OwnPods(all, func(addr netip.Addr, node string) bool { return len(p.at(namespace, addr, node)) > 0 })
}

// await counts endpoints as ready whose pods wait for their load balancer alone.
func (p *pods) await(namespace string, all []*discoveryv1.EndpointSlice) []*discoveryv1.EndpointSlice {
	if p == nil || p.watch.PodGates == nil {
		return all
	}
	return nodeports.Await(all, func(addr netip.Addr, node string) bool {
		return slices.ContainsFunc(p.at(namespace, addr, node), func(pod *corev1.Pod) bool { return nodeports.WaitsOnly(pod, p.watch.PodGates) })
	})
}

// at lists the Pods of a namespace with an address; on the node, if one is named.
func (p *pods) at(namespace string, addr netip.Addr, node string) []*corev1.Pod {
	var out []*corev1.Pod
	found, _ := p.known.ByIndex(byAddress, namespace+"/"+addr.String()) // the index exists, see watchPods
	for _, obj := range found {
		if pod, ok := obj.(*corev1.Pod); ok && (node == "" || node == pod.Spec.NodeName) {
			out = append(out, pod)
		}
	}
	return out
}

// GatedPod is a pod behind a Service that has readiness gates of the cloud.
type GatedPod struct {
	*corev1.Pod
	Addr netip.Addr // the one that the slice names
}

// Gated lists the pods that the slices of a Service name and that have readiness gates of
// the cloud, each with the address that is named.
func (e *Endpoints) Gated(svc *corev1.Service) []GatedPod {
	if e == nil || e.watch.PodGates == nil {
		return nil
	}
	var out []GatedPod
	for _, s := range e.slicesOf(svc) {
		for _, at := range s.Endpoints {
			out = append(out, e.pods.gatedAt(svc.Namespace, at)...)
		}
	}
	return out
}

// gatedAt lists those of one endpoint.
func (p *pods) gatedAt(namespace string, e discoveryv1.Endpoint) []GatedPod {
	if len(e.Addresses) == 0 {
		return nil
	}
	addr, err := netip.ParseAddr(e.Addresses[0])
	if err != nil {
		return nil
	}
	node := ""
	if e.NodeName != nil {
		node = *e.NodeName
	}
	var out []GatedPod
	for _, pod := range p.at(namespace, addr.Unmap(), node) {
		if pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return p.watch.PodGates(string(g.ConditionType)) }) {
			out = append(out, GatedPod{Pod: pod, Addr: addr.Unmap()})
		}
	}
	return out
}

// podAddresses are those of a Pod, by namespace; a Pod that has ended has none any more,
// since the network may give them to another one.
func podAddresses(obj any) []string {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	var out []string
	for _, ip := range pod.Status.PodIPs {
		if addr, err := netip.ParseAddr(ip.IP); err == nil {
			out = append(out, pod.Namespace+"/"+addr.Unmap().String())
		}
	}
	return out
}

// sliceAddresses returns the addresses that a slice names, by namespace.
func sliceAddresses(obj any) ([]string, error) {
	s, ok := obj.(*discoveryv1.EndpointSlice)
	if !ok {
		return nil, nil
	}
	var out []string
	for _, e := range s.Endpoints {
		for _, text := range e.Addresses[:min(1, len(e.Addresses))] {
			if addr, err := netip.ParseAddr(text); err == nil {
				out = append(out, s.Namespace+"/"+addr.Unmap().String())
			}
		}
	}
	return out, nil
}

// nodeOf names the node of a Pod.
func nodeOf(obj any) string {
	if pod, ok := obj.(*corev1.Pod); ok {
		return pod.Spec.NodeName
	}
	return ""
}

// slimPod keeps the identity of a Pod, its node, its addresses, whether it has ended, and
// the conditions of its readiness gates: clusters have many more Pods than other objects.
func slimPod(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	slim := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion, DeletionTimestamp: pod.DeletionTimestamp},
		Spec:       corev1.PodSpec{NodeName: pod.Spec.NodeName, ReadinessGates: pod.Spec.ReadinessGates},
		Status:     corev1.PodStatus{Phase: pod.Status.Phase, PodIPs: pod.Status.PodIPs},
	}
	if len(slim.Spec.ReadinessGates) > 0 {
		slim.Status.Conditions = pod.Status.Conditions
	}
	return slim, nil
}
