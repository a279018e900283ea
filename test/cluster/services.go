package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
)

// watchServices returns a copy of all Services, which a watch keeps until the control plane ends.
func (c *Cluster) watchServices() (cache.Store, error) {
	client, err := c.Client()
	if err != nil {
		return nil, fmt.Errorf("watch Services: %w", err)
	}
	copied := cache.NewStore(cache.MetaNamespaceKeyFunc)
	source := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "services", metav1.NamespaceAll, fields.Everything())
	go cache.NewReflectorWithOptions(source, &corev1.Service{}, copied, cache.ReflectorOptions{Name: "services"}).Run(c.ended)
	return copied, nil
}

// WatchedService returns a Service as a watch of all Services has reported it last, without a request;
// false: the watch has not reported it, or its deletion. What it returns is read-only and may be old: milliseconds
// usually, and as long as the API server does not answer. The error is that of the kubeconfig.
func (c *Cluster) WatchedService(namespace, name string) (*corev1.Service, bool, error) {
	copied, err := c.services()
	if err != nil {
		return nil, false, err
	}
	item, ok, err := copied.GetByKey(namespace + "/" + name)
	if err != nil || !ok {
		return nil, false, err
	}
	return item.(*corev1.Service), true, nil
}
