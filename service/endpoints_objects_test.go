package service

import (
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
)

// fromEndpoints is the cloud of a podToy in which Services may take their members from other Endpoints. While these are
// not known the members stay.
func (c *podToy) fromEndpoints(t *testing.T) providers.Bound {
	t.Helper()
	bound := c.bound(t)
	bound.Refers = func(r providers.Request) []providers.Reference {
		return []providers.Reference{{Kind: providers.Endpoints, Namespace: r.Service.Namespace, Name: r.Service.Annotations[toyBeside]}}
	}
	build := bound.Build
	bound.Build = func(r providers.Request, f providers.Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
		objects := r.Objects
		r.Objects = nil
		out, problems, err := build(r, f, have)
		for _, object := range objects {
			members, _ := stack.SpecOf[toyMembers](out, toyKey(toyIn))
			members.Nodes = nil
			for _, e := range object.Backends().Endpoints.For(corev1.IPv4Protocol, "") {
				members.Nodes = append(members.Nodes, e.Addr.String())
			}
			if object.Slices == nil {
				kept, _ := stack.SpecOf[toyMembers](have, toyKey(toyIn))
				members.Nodes = kept.Nodes
				problems.Warn(toyBeside, "", object.Why, "Endpoints")
			}
			out.Put(stack.Resource{Key: toyKey(toyIn), In: toyKey(toyLB), Spec: members})
		}
		return out, problems, err
	}
	return bound
}

// greenEndpoints writes the Endpoints "green".
func (w *podWorld) greenEndpoints(addresses ...string) {
	w.t.Helper()
	e := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "green"}}                   //nolint:staticcheck // as programs that do not write EndpointSlices do
	subset := corev1.EndpointSubset{Ports: []corev1.EndpointPort{{Port: 8080, Protocol: corev1.ProtocolTCP}}} //nolint:staticcheck // the same
	for _, a := range addresses {
		subset.Addresses = append(subset.Addresses, corev1.EndpointAddress{IP: a})
	}
	e.Subsets = append(e.Subsets, subset)
	resource := corev1.SchemeGroupVersion.WithResource("endpoints")
	if err := w.client.Tracker().Update(resource, e, "shop"); apierrors.IsNotFound(err) {
		err = w.client.Tracker().Create(resource, e, "shop")
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestEndpointsAreInputs: Endpoints that a Service names are followed. EndpointSlices of the name count before them, and
// while there is neither the members stay.
func TestEndpointsAreInputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := &podToy{toy: newToy(), healthy: map[string]bool{}}
		w := &podWorld{cloud: cloud, cluster: newCluster(t, cloud.toy)}
		w.beside(cloud.fromEndpoints(t), reconcile.Options{}, Options{}, func() {
			expect := func(when, want string) {
				t.Helper()
				advanceTime(time.Second)
				w.expectMembers(when, want)
			}
			w.greenEndpoints("10.0.1.1")
			w.put("web", besideGreen)
			expect("Endpoints alone", "10.0.1.1")
			w.greenEndpoints("10.0.1.2", "10.0.1.3")
			expect("they have changed", "10.0.1.2 10.0.1.3")
			w.green("10.0.1.4")
			expect("EndpointSlices count", "10.0.1.4")
			w.green("10.0.1.5")
			expect("they have changed as well", "10.0.1.5")
			if err := w.client.Tracker().Delete(discoveryv1.SchemeGroupVersion.WithResource("endpointslices"), "shop", "green-1"); err != nil {
				t.Fatal(err)
			}
			expect("Endpoints alone again", "10.0.1.2 10.0.1.3")
			if err := w.client.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("endpoints"), "shop", "green"); err != nil {
				t.Fatal(err)
			}
			expect("neither exists", "10.0.1.2 10.0.1.3")
		})
	})
}
