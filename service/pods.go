package service

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-lb/berth/nodeports"
)

// byAddress is the index of Pods, and of EndpointSlices, by namespace/address.
const byAddress = "address"

// podView finds the Pods of a namespace by their addresses. A nil view believes every
// address of an EndpointSlice, as kube-proxy does.
type podView struct {
	pods cache.Indexer
	only bool // keep addresses of Pods alone
	// gates tells the readiness gates that are the cloud's; nil: pods do not wait for it.
	gates func(conditionType string) bool
}

// own keeps of slices the endpoints that are pods of the namespace, and says which
// addresses were left out.
func (v *podView) own(namespace string, all []*discoveryv1.EndpointSlice) ([]*discoveryv1.EndpointSlice, []netip.Addr) {
	if v == nil || !v.only {
		return all, nil
	}
	return nodeports.OwnPods(all, func(addr netip.Addr, node string) bool { return len(v.at(namespace, addr, node)) > 0 })
}

// await counts endpoints as ready whose pods wait for their load balancer alone.
func (v *podView) await(namespace string, all []*discoveryv1.EndpointSlice) []*discoveryv1.EndpointSlice {
	if v == nil || v.gates == nil {
		return all
	}
	return nodeports.Await(all, func(addr netip.Addr, node string) bool {
		return slices.ContainsFunc(v.at(namespace, addr, node), func(pod *corev1.Pod) bool { return nodeports.WaitsOnly(pod, v.gates) })
	})
}

// at lists the Pods of a namespace with an address; on the node, if one is named.
func (v *podView) at(namespace string, addr netip.Addr, node string) []*corev1.Pod {
	var out []*corev1.Pod
	found, _ := v.pods.ByIndex(byAddress, namespace+"/"+addr.String()) // the index exists, see watchPods
	for _, obj := range found {
		if pod, ok := obj.(*corev1.Pod); ok && (node == "" || node == pod.Spec.NodeName) {
			out = append(out, pod)
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

// sliceAddresses are those that a slice names, by namespace.
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

// watchPods lets addresses of EndpointSlices be held against Pods. A Pod that gets or
// loses an address, or begins or ceases to wait for its load balancer, wakes the Services
// whose slices name it: which of the two is seen first is chance.
func (c *Controller) watchPods(factory informers.SharedInformerFactory) error {
	informer := factory.Core().V1().Pods().Informer()
	if err := informer.SetTransform(slimPod); err != nil {
		return fmt.Errorf("pod informer: %w", err)
	}
	if err := informer.AddIndexers(cache.Indexers{byAddress: func(obj any) ([]string, error) { return podAddresses(obj), nil }}); err != nil {
		return fmt.Errorf("pod informer: %w", err)
	}
	if err := factory.Discovery().V1().EndpointSlices().Informer().AddIndexers(cache.Indexers{byAddress: sliceAddresses}); err != nil {
		return fmt.Errorf("endpoint informer: %w", err)
	}
	watched, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { c.addressesChanged(nil, podAddresses(obj)) },
		UpdateFunc: func(old, obj any) {
			before, after := podAddresses(old), podAddresses(obj)
			if !slices.Equal(before, after) || nodeOf(old) != nodeOf(obj) || c.waits(old) != c.waits(obj) {
				c.addressesChanged(before, after)
			}
		},
		DeleteFunc: func(obj any) { c.addressesChanged(podAddresses(obj), nil) },
	})
	if err != nil {
		return fmt.Errorf("pod informer: %w", err)
	}
	c.synced = append(c.synced, watched.HasSynced)
	c.endpoints.pods = &podView{pods: informer.GetIndexer(), only: c.options.OwnPods}
	if c.gatesPods() {
		c.endpoints.pods.gates = c.reconciler.IsPodGate
	}
	return nil
}

func nodeOf(obj any) string {
	if pod, ok := obj.(*corev1.Pod); ok {
		return pod.Spec.NodeName
	}
	return ""
}

// addressesChanged wakes the Services whose slices name one of the addresses.
func (c *Controller) addressesChanged(before, after []string) {
	for _, at := range slices.Concat(before, after) {
		named, _ := c.endpoints.slices.ByIndex(byAddress, at) // the index exists, see watchPods
		for _, slice := range named {
			c.wakeFor(slice)
		}
	}
}
