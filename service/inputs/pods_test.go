package inputs

import (
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func podAt(namespace, name, node, ip string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Phase: phase, PodIPs: []corev1.PodIP{{IP: ip}}},
	}
}

// podIndex returns an index of Pods as the informer keeps it.
func podIndex(t *testing.T, all ...*corev1.Pod) cache.Indexer {
	t.Helper()
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{byAddress: func(obj any) ([]string, error) { return podAddresses(obj), nil }})
	for _, pod := range all {
		slim, err := slimPod(pod)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Add(slim); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// sliceOf is a slice of the Service web in the namespace shop, with endpoints on n-1.
func sliceOf(addresses ...string) *discoveryv1.EndpointSlice {
	out := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}}}
	for _, ip := range addresses {
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{Addresses: []string{ip}, NodeName: new("n-1")})
	}
	return out
}

// TestOwnPods: an endpoint is kept if a Pod of the namespace has its address on its node;
// addresses of other namespaces, other nodes and former Pods are reported.
func TestOwnPods(t *testing.T) {
	p := &pods{watch: Watch{OwnPods: true}, known: podIndex(t,
		podAt("shop", "mine", "n-1", "10.0.0.1", corev1.PodRunning), podAt("bank", "theirs", "n-1", "10.0.0.2", corev1.PodRunning),
		podAt("shop", "ended", "n-1", "10.0.0.3", corev1.PodSucceeded), podAt("shop", "moved", "n-2", "10.0.0.4", corev1.PodRunning))}
	kept, unmatched := p.own("shop", []*discoveryv1.EndpointSlice{sliceOf("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")})
	if len(kept) != 1 || len(kept[0].Endpoints) != 1 || kept[0].Endpoints[0].Addresses[0] != "10.0.0.1" {
		t.Errorf("kept %v", kept)
	}
	want := []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3"), netip.MustParseAddr("10.0.0.4")}
	if !slices.Equal(unmatched, want) {
		t.Errorf("strays %v", unmatched)
	}
}

// TestWhoIsWoken: a slice wakes its Service when its endpoints are others, and a Pod wakes
// the Services whose slices name an address that it gets or loses.
func TestWhoIsWoken(t *testing.T) {
	var woken []string
	e := &Endpoints{watch: Watch{Changed: func(service string) { woken = append(woken, service) }}}
	e.slices = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{byService: servicesOf, byAddress: sliceAddresses})
	named, other := sliceOf("10.0.0.1"), sliceOf("10.0.0.1", "10.0.0.2")
	if err := e.slices.Add(named); err != nil {
		t.Fatal(err)
	}
	unmatched := sliceOf("10.0.0.1")
	unmatched.Labels = nil
	labelled := named.DeepCopy()
	labelled.Labels["note"] = "x"
	for name, tt := range map[string]struct {
		happens func()
		want    []string
	}{
		"an endpoint more":             {func() { e.updated(named, other) }, []string{"shop/web", "shop/web"}},
		"a label more":                 {func() { e.updated(named, labelled) }, nil},
		"a slice of no Service":        {func() { e.changed(unmatched) }, nil},
		"a slice that went unseen":     {func() { e.changed(cache.DeletedFinalStateUnknown{Obj: named}) }, []string{"shop/web"}},
		"a pod at the address":         {func() { e.moved(podAddresses(podAt("shop", "a", "n-1", "10.0.0.1", corev1.PodRunning))) }, []string{"shop/web"}},
		"a pod of another namespace":   {func() { e.moved(podAddresses(podAt("bank", "a", "n-1", "10.0.0.1", corev1.PodRunning))) }, nil},
		"a pod that had ended already": {func() { e.moved(podAddresses(podAt("shop", "a", "n-1", "10.0.0.1", corev1.PodFailed))) }, nil},
	} {
		woken = nil
		if tt.happens(); !slices.Equal(woken, tt.want) {
			t.Errorf("%s: %v", name, woken)
		}
	}
}
