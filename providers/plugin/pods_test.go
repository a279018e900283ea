package plugin

import (
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

func podAt(namespace, name, node, ip string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Phase: phase, PodIPs: []corev1.PodIP{{IP: ip}}},
	}
}

// TestOwnPodsUnderTheStockLoop: of a slice, what a Pod of its namespace has on the node
// that it says is kept; pods elsewhere, on other nodes and of the past are told.
func TestOwnPodsUnderTheStockLoop(t *testing.T) {
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, pod := range []*corev1.Pod{
		podAt("shop", "mine", "n-1", "10.0.0.1", corev1.PodRunning), podAt("bank", "theirs", "n-1", "10.0.0.2", corev1.PodRunning),
		podAt("shop", "ended", "n-1", "10.0.0.3", corev1.PodSucceeded), podAt("shop", "moved", "n-2", "10.0.0.4", corev1.PodRunning),
	} {
		slim, err := slimPod(pod)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Add(slim); err != nil {
			t.Fatal(err)
		}
	}
	p := &ownPods{pods: corelisters.NewPodLister(store), synced: func() bool { return true }}
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}
	for _, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"} {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{ip}, NodeName: new("n-1")})
	}
	kept, strays, err := p.keep(t.Context(), "shop", []*discoveryv1.EndpointSlice{slice})
	if err != nil || len(kept) != 1 || len(kept[0].Endpoints) != 1 || kept[0].Endpoints[0].Addresses[0] != "10.0.0.1" {
		t.Errorf("kept %v, %v", kept, err)
	}
	want := []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3"), netip.MustParseAddr("10.0.0.4")}
	if !slices.Equal(strays, want) {
		t.Errorf("strays %v", strays)
	}
	for value, on := range map[string]bool{"": false, "false": false, "0": false, "true": true, "1": true, "yes": true} {
		t.Setenv(EnvOwnPods, value)
		if got := FromEnvironment().OwnPods; got != on {
			t.Errorf("%s=%q: %t", EnvOwnPods, value, got)
		}
	}
}

// TestDiffering: only a Pod whose addresses or node change is told of.
func TestDiffering(t *testing.T) {
	a := podAt("shop", "a", "n-1", "10.0.0.1", corev1.PodRunning)
	for name, tt := range map[string]struct {
		to   *corev1.Pod
		want int
	}{
		"as before": {a.DeepCopy(), 0}, "address": {podAt("shop", "a", "n-1", "10.0.0.9", corev1.PodRunning), 2},
		"ended": {podAt("shop", "a", "n-1", "10.0.0.1", corev1.PodFailed), 2}, "node": {podAt("shop", "a", "n-2", "10.0.0.1", corev1.PodRunning), 2},
	} {
		if got := differing(a, tt.to); len(got) != tt.want {
			t.Errorf("%s: %d", name, len(got))
		}
	}
}
