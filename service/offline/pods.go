package offline

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/nodeports"
)

// keeper keeps of the slices of a namespace what the controller would send to, and says
// which addresses were left out.
type keeper func(namespace string, all []*discoveryv1.EndpointSlice) ([]*discoveryv1.EndpointSlice, []netip.Addr)

// podsByAddress are the pods that run, by namespace/address.
type podsByAddress map[string][]*corev1.Pod

// at lists those of a namespace with an address; on the node, if one is named.
func (p podsByAddress) at(namespace string, addr netip.Addr, node string) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(p[namespace+"/"+addr.String()]), func(pod *corev1.Pod) bool { return node != "" && node != pod.Spec.NodeName })
}

// byPods looks at the Pods of the cluster, where the controller does: which addresses are
// theirs, and which of them wait for nothing but their load balancer. Pods are in no file,
// so without a cluster every address is believed, which is said.
func (p *planning) byPods(ctx context.Context, namespaces []string) (keeper, error) {
	only, gates := p.target.Settings.OwnPods, p.target.Settings.ReadinessGates && p.reconciler.GatesPods()
	if !only && !gates || p.world.live == nil {
		if only {
			p.world.note("no cluster is asked for pods, so --own-pods has no effect: all addresses of EndpointSlices are planned for")
		}
		return func(_ string, list []*discoveryv1.EndpointSlice) ([]*discoveryv1.EndpointSlice, []netip.Addr) {
			return list, nil
		}, nil
	}
	pods := podsByAddress{}
	for _, ns := range namespaces {
		if err := readPods(ctx, p.world.live, ns, pods); err != nil {
			return nil, fmt.Errorf("pods of %s, for --own-pods or --readiness-gates: %w", ns, err)
		}
	}
	return func(namespace string, list []*discoveryv1.EndpointSlice) ([]*discoveryv1.EndpointSlice, []netip.Addr) {
		if gates {
			list = nodeports.Await(list, func(addr netip.Addr, node string) bool {
				return slices.ContainsFunc(pods.at(namespace, addr, node), func(pod *corev1.Pod) bool { return nodeports.WaitsOnly(pod, p.reconciler.IsPodGate) })
			})
		}
		if !only {
			return list, nil
		}
		return nodeports.OwnPods(list, func(addr netip.Addr, node string) bool { return len(pods.at(namespace, addr, node)) > 0 })
	}, nil
}

func readPods(ctx context.Context, client kubernetes.Interface, namespace string, pods podsByAddress) error {
	for more := ""; ; {
		page, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: pageSize, Continue: more})
		if err != nil {
			return err
		}
		for i := range page.Items {
			pod := &page.Items[i]
			if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
				continue
			}
			for _, ip := range pod.Status.PodIPs {
				if addr, err := netip.ParseAddr(ip.IP); err == nil {
					at := namespace + "/" + addr.Unmap().String()
					pods[at] = append(pods[at], pod)
				}
			}
		}
		if more = page.Continue; more == "" {
			return nil
		}
	}
}
