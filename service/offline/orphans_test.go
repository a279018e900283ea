package offline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
)

// TestLiveOwners: a Service is live if it has or requests a load balancer, or carries the
// finalizer of a controller of the cloud, Berth's or another one.
func TestLiveOwners(t *testing.T) {
	item := func(name string, kind corev1.ServiceType, finalizers ...string) Item {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{Type: kind}}
		svc.Namespace, svc.Name, svc.Finalizers = "shop", name, finalizers
		return Item{Service: svc}
	}
	items := []Item{
		item("balancer", corev1.ServiceTypeLoadBalancer), item("inner", corev1.ServiceTypeClusterIP),
		item("stock", corev1.ServiceTypeClusterIP, service.StockFinalizer), item("own", corev1.ServiceTypeNodePort, service.OwnFinalizer),
		item("cloud", corev1.ServiceTypeClusterIP, "cloud.example/ilb"), item("other", corev1.ServiceTypeClusterIP, "example.com/backup"),
	}
	target := Target{Cloud: providers.Entry{Outputs: providers.Outputs{Finalizers: []string{"cloud.example/ilb"}}}}
	var got []string
	for _, o := range liveOwners(items, target) {
		got = append(got, o.Name)
	}
	if diff := cmp.Diff([]string{"balancer", "stock", "own", "cloud"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
