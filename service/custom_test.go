package service

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// toyObject is the annotation that names the object of another API in which the port of the toy cloud's
// load balancer stands.
const toyObject = "toy.example.com/port-of"

func portsResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "toy.example", Version: "v1", Resource: "ports"}
}

// portObject returns an object with a port.
func portObject(name string, port int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "toy.example/v1", "kind": "Port", "metadata": map[string]any{"namespace": "shop", "name": name}, "spec": map[string]any{"port": port},
	}}
}

// nameObject makes a Service name an object.
func nameObject(svc *corev1.Service) { svc.Annotations = map[string]string{toyObject: "web"} }

// TestCustomObjectsAreInputs: an object of another API is awaited and followed by its name. Until its API
// exists, the Service is not served.
func TestCustomObjectsAreInputs(t *testing.T) {
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{portsResource(): "PortList"})
	installed := make(chan struct{})
	client.PrependReactor("list", "ports", func(a clienttesting.Action) (bool, runtime.Object, error) {
		select {
		case <-installed:
		default:
			return true, nil, apierrors.NewNotFound(portsResource().GroupResource(), "")
		}
		if l, ok := a.(clienttesting.ListAction); ok {
			if name, exact := l.GetListRestrictions().Fields.RequiresExactMatch("metadata.name"); !exact || name != "web" || a.GetNamespace() != "shop" {
				t.Errorf("objects of %q named %q were listed", a.GetNamespace(), name)
			}
		}
		return false, nil, nil
	})
	inLoop(t, Options{Custom: client}, func(c *cluster) {
		if err := client.Tracker().Create(portsResource(), portObject("web", 44), "shop"); err != nil {
			t.Fatal(err)
		}
		c.put("web", nameObject)
		advanceTime(time.Minute)
		if got := c.port("web"); got != 0 {
			t.Fatalf("served at port %d without the API", got)
		}
		close(installed)
		advanceTime(5 * time.Minute)
		if got := c.port("web"); got != 44 {
			t.Fatalf("the API exists, and the port is %d", got)
		}
		if err := client.Tracker().Update(portsResource(), portObject("web", 45), "shop"); err != nil {
			t.Fatal(err)
		}
		advanceTime(time.Second)
		if got := c.port("web"); got != 45 {
			t.Errorf("the object has changed, and the port is %d", got)
		}
	})
}
