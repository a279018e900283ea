package plugin

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-lb/berth/nodeports"
)

// ownPods knows the Pods of the cluster, against which addresses of EndpointSlices are
// held. Its informer is its own: of a Pod it keeps what addresses need, which would not
// do for the rest of the program.
type ownPods struct {
	pods   corelisters.PodLister
	synced cache.InformerSynced
}

// watchPods starts the informer. changed is told of a namespace in which a Pod has got or
// lost addresses, and of those: a Pod and the slice that names it come in any order.
func watchPods(client kubernetes.Interface, stop <-chan struct{}, changed func(namespace string, addresses []netip.Addr)) (*ownPods, error) {
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods()
	if err := informer.Informer().SetTransform(slimPod); err != nil {
		return nil, fmt.Errorf("pod informer: %w", err)
	}
	tell := func(pods ...any) {
		for _, obj := range pods {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				changed(pod.Namespace, addressesOf(pod))
			}
		}
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { tell(obj) }, UpdateFunc: func(old, obj any) { tell(differing(old, obj)...) }, DeleteFunc: func(obj any) { tell(obj) },
	})
	if err != nil {
		return nil, fmt.Errorf("pod informer: %w", err)
	}
	factory.Start(stop)
	return &ownPods{pods: informer.Lister(), synced: informer.Informer().HasSynced}, nil
}

// differing are both states of a Pod, unless its addresses and its node are as before.
func differing(old, obj any) []any {
	before, _ := old.(*corev1.Pod)
	after, _ := obj.(*corev1.Pod)
	if before != nil && after != nil && before.Spec.NodeName == after.Spec.NodeName && slices.Equal(addressesOf(before), addressesOf(after)) {
		return nil
	}
	return []any{old, obj}
}

// slimPod keeps of a Pod who it is, its node, its addresses and whether it has ended.
func slimPod(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion},
		Spec:       corev1.PodSpec{NodeName: pod.Spec.NodeName},
		Status:     corev1.PodStatus{Phase: pod.Status.Phase, PodIPs: pod.Status.PodIPs},
	}, nil
}

// addressesOf are those of a Pod; one that has ended has none any more, since the network
// may give them to another one.
func addressesOf(pod *corev1.Pod) []netip.Addr {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	var out []netip.Addr
	for _, ip := range pod.Status.PodIPs {
		if addr, err := netip.ParseAddr(ip.IP); err == nil {
			out = append(out, addr.Unmap())
		}
	}
	return out
}

// keep keeps of slices the endpoints that are pods of the namespace, and says which
// addresses were left out. It waits for the first list of Pods.
func (p *ownPods) keep(ctx context.Context, namespace string, all []*discoveryv1.EndpointSlice) ([]*discoveryv1.EndpointSlice, []netip.Addr, error) {
	if !cache.WaitForCacheSync(ctx.Done(), p.synced) {
		return nil, nil, fmt.Errorf("pods: %w", ctx.Err())
	}
	pods, err := p.pods.Pods(namespace).List(labels.Everything())
	if err != nil {
		return nil, nil, fmt.Errorf("pods: %w", err)
	}
	nodes := map[netip.Addr][]string{}
	for _, pod := range pods {
		for _, addr := range addressesOf(pod) {
			nodes[addr] = append(nodes[addr], pod.Spec.NodeName)
		}
	}
	kept, strays := nodeports.OwnPods(all, func(addr netip.Addr, node string) bool {
		return len(nodes[addr]) > 0 && (node == "" || slices.Contains(nodes[addr], node))
	})
	return kept, strays, nil
}

// wakeAt looks soon at the Services of a namespace whose slices name one of the addresses.
func (e *endpoints) wakeAt(namespace string, addresses []netip.Addr) {
	if len(addresses) == 0 {
		return
	}
	all, _ := e.slices.EndpointSlices(namespace).List(labels.Everything()) // a lister of a running informer does not fail
	for _, slice := range all {
		if slices.ContainsFunc(slice.Endpoints, func(at discoveryv1.Endpoint) bool {
			return slices.ContainsFunc(at.Addresses, func(text string) bool {
				addr, err := netip.ParseAddr(text)
				return err == nil && slices.Contains(addresses, addr.Unmap())
			})
		}) {
			e.wake(slice)
		}
	}
}
