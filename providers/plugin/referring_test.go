package plugin

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/util/workqueue"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
)

// TestWakeReferring: the Services that refer to one are looked at when it changes, and no others.
func TestWakeReferring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, err := annotations.NewSet("toy", []string{"toy.example/"})
		if err != nil {
			t.Fatal(err)
		}
		o := &opened{Reconciler: reconcile.New(providers.Bound{
			Annotations: set,
			Requests: providers.Requests{
				Choose: func(*corev1.Service) providers.Choice { return providers.Choice{} },
				Refers: func(r providers.Request) []providers.Reference {
					return []providers.Reference{{Kind: providers.Service, Namespace: r.Service.Namespace, Name: r.Service.Labels["to"]}}
				},
			},
		}, reconcile.Options{})}
		factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
		f := &follower{view: newView(factory), queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())}
		defer f.queue.ShutDown()
		for name, to := range map[string]string{"blue": "green", "red": "yellow", "green": ""} {
			svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"to": to}}}
			svc.Spec.Type = corev1.ServiceTypeLoadBalancer
			if err := factory.Core().V1().Services().Informer().GetIndexer().Add(svc); err != nil {
				t.Fatal(err)
			}
		}
		f.wakeReferring(o, "shop/green")
		f.wakeReferring(o, "elsewhere/green")
		if key, _ := f.queue.Get(); key != "shop/blue" || f.queue.Len() != 0 {
			t.Errorf("woken is %s, and %d others", key, f.queue.Len())
		}
	})
}
