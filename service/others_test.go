package service

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// toyBeside is the annotation that names another Service, whose pods are members too.
const toyBeside = "toy.example.com/beside"

// besides is the cloud of a podToy in which Services may name others.
func (c *podToy) besides(t *testing.T) providers.Bound {
	t.Helper()
	bound := c.bound(t)
	bound.Refers = func(r providers.Request) []providers.Reference {
		if name := r.Service.Annotations[toyBeside]; name != "" {
			return []providers.Reference{{Kind: providers.Service, Namespace: r.Service.Namespace, Name: name}}
		}
		return nil
	}
	gates := bound.Gates.Of
	bound.Gates.Of = func(have *stack.Stack) []providers.PodGate {
		return append(gates(have), providers.PodGate{Type: toyGate + "beside", Of: toyKey(toyIn), Service: "green"})
	}
	build := bound.Build
	bound.Build = func(r providers.Request, f providers.Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
		objects := r.Objects
		r.Objects = nil
		out, problems, err := build(r, f, have)
		for ref, object := range objects {
			if object.Service == nil {
				return nil, annotations.Problems{{Severity: annotations.Error, Key: toyBeside, Value: ref.Name, Message: object.Why}}, nil
			}
			members, _ := stack.SpecOf[toyMembers](out, toyKey(toyIn))
			for _, e := range object.Backends().Endpoints.For(corev1.IPv4Protocol, "") {
				members.Nodes = append(members.Nodes, e.Addr.String())
			}
			out.Put(stack.Resource{Key: toyKey(toyIn), In: toyKey(toyLB), Spec: members})
		}
		return out, problems, err
	}
	return bound
}

// green writes the slice of the Service "green".
func (w *podWorld) green(addresses ...string) {
	w.t.Helper()
	none, number := "", int32(8080)
	s := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "green-1", Labels: map[string]string{discoveryv1.LabelServiceName: "green"}}, AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{{Name: &none, Port: &number}},
	}
	for _, a := range addresses {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{a}})
	}
	resource := discoveryv1.SchemeGroupVersion.WithResource("endpointslices")
	if err := w.client.Tracker().Update(resource, s, "shop"); apierrors.IsNotFound(err) {
		if err := w.client.Tracker().Create(resource, s, "shop"); err != nil {
			w.t.Fatal(err)
		}
	}
}

func makeInternal(svc *corev1.Service) {
	setFamilies(svc)
	svc.Spec.Type, svc.Spec.LoadBalancerClass = corev1.ServiceTypeClusterIP, nil
}

func (w *podWorld) expectMembers(when, want string) {
	w.t.Helper()
	if got, _ := w.cloud.serves("uid-web"); got != want {
		w.t.Errorf("%s: members %q, want %q", when, got, want)
	}
}

// amongOthers is amongPods for Services that name others.
func amongOthers(t *testing.T, test func(*podWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cloud := &podToy{toy: newToy(), healthy: map[string]bool{}}
		w := &podWorld{cloud: cloud, cluster: newCluster(t, cloud.toy)}
		w.client.PrependReactor("patch", "pods", w.patchPod)
		w.beside(cloud.besides(t), reconcile.Options{}, Options{PodGates: true}, func() { test(w) })
	})
}

func besideGreen(svc *corev1.Service) {
	setFamilies(svc)
	svc.Annotations = map[string]string{toyBeside: "green"}
}

// TestOtherServicesAreInputs: a Service that another one names is awaited, it and its pods are
// followed, and while it is missing everything else continues.
func TestOtherServicesAreInputs(t *testing.T) {
	amongOthers(t, func(w *podWorld) {
		w.put("web", besideGreen)
		advanceTime(time.Second)
		if _, served := w.cloud.serves("uid-web"); served {
			t.Error("served without the Service that it names")
		}
		w.put("green", makeInternal)
		w.green("10.0.1.1")
		advanceTime(time.Second)
		w.expectMembers("it has come", "10.0.1.1")
		w.green("10.0.1.2", "10.0.1.3")
		advanceTime(time.Second)
		w.expectMembers("its pods are others", "10.0.1.2 10.0.1.3")
		before := w.cloud.count()
		w.put("green", func(svc *corev1.Service) { svc.Annotations = map[string]string{"team": "shop"} })
		advanceTime(time.Minute)
		if n := w.cloud.count() - before; n != 0 {
			t.Errorf("an annotation of it was worth %d writes", n)
		}
		if err := w.client.Tracker().Delete(servicesResource, "shop", "green"); err != nil {
			t.Fatal(err)
		}
		advanceTime(time.Second)
		if _, served := w.cloud.serves("uid-web"); !served {
			t.Error("what serves ends with the other Service")
		}
		w.expectMembers("it is gone", "")
		w.put("green", makeInternal)
		advanceTime(time.Second)
		w.expectMembers("it is back", "10.0.1.2 10.0.1.3")
	})
}

// TestGatesOfOtherServices: the gate of what is for another Service is that of its pods.
func TestGatesOfOtherServices(t *testing.T) {
	amongOthers(t, func(w *podWorld) {
		const gate = toyGate + "beside"
		w.put("green", makeInternal)
		w.put("web", besideGreen)
		w.pod("10.0.1.1", gate)
		if err := w.client.Tracker().Delete(discoveryv1.SchemeGroupVersion.WithResource("endpointslices"), "shop", "web-1"); err != nil {
			t.Fatal(err) // the pod is none of it
		}
		w.green("10.0.1.1")
		advanceTime(time.Minute)
		if got := w.condition("10.0.1.1", gate); !strings.HasPrefix(got, "False Unhealthy") {
			t.Errorf("while it is checked: %s", got)
		}
		if got := w.get("web").Annotations[status.AnnotationPodGates]; got != gate+"=green,"+toyGate+"port-80" {
			t.Errorf("gates for new pods: %s", got)
		}
		w.cloud.say(func() { w.cloud.healthy["10.0.1.1"] = true })
		advanceTime(2 * gatePause)
		if got := w.condition("10.0.1.1", gate); !strings.HasPrefix(got, "True Healthy") {
			t.Errorf("when it is healthy: %s", got)
		}
	})
}
