package offline

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
)

// pageSize is how many objects come with one answer of the API server.
const pageSize = 500

// dialer returns a client and the namespace that is meant where none is said.
type dialer func(kubeconfig string) (kubernetes.Interface, string, error)

// connectTo reads a kubeconfig the way kubectl does.
func connectTo(kubeconfig string, overrides *clientcmd.ConfigOverrides) (kubernetes.Interface, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	return client, namespace, nil
}

// cluster is what a cluster held at one moment. A nil cluster is none at all.
type cluster struct {
	namespace string // the kubeconfig's
	services  []*corev1.Service
	nodes     []*corev1.Node
	whole     bool // services holds those of every namespace
	notes     []string
	ids       func(context.Context) (providers.ClusterIDs, error)
	client    kubernetes.Interface
}

// readCluster lists Services and Nodes. Services of all namespaces are needed, because
// they may share cloud resources. A caller without the right to list those gets the ones
// of the namespace.
func readCluster(ctx context.Context, in Input, dial dialer) (*cluster, error) {
	client, namespace, err := dial(in.Kubeconfig)
	if err != nil {
		return nil, err
	}
	if in.Namespace != "" {
		namespace = in.Namespace
	}
	c := &cluster{namespace: namespace, whole: true, ids: service.ClusterIDs(client, false), client: client}
	c.services, err = listServices(ctx, client, metav1.NamespaceAll)
	if apierrors.IsForbidden(err) && !in.AllNamespaces {
		c.whole = false
		c.notes = append(c.notes, "only the Services of namespace "+namespace+" may be listed: what others might share is not removed")
		c.services, err = listServices(ctx, client, namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("services of the cluster: %w", err)
	}
	if len(in.NodeFiles) > 0 {
		return c, nil
	}
	if c.nodes, err = listNodes(ctx, client); err != nil {
		return nil, fmt.Errorf("nodes of the cluster: %w", err)
	}
	return c, nil
}

func listServices(ctx context.Context, client kubernetes.Interface, namespace string) ([]*corev1.Service, error) {
	var out []*corev1.Service
	for more := ""; ; {
		page, err := client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{Limit: pageSize, Continue: more})
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
		if more = page.Continue; more == "" {
			return out, nil
		}
	}
}

func listNodes(ctx context.Context, client kubernetes.Interface) ([]*corev1.Node, error) {
	var out []*corev1.Node
	for more := ""; ; {
		page, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: pageSize, Continue: more})
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
		if more = page.Continue; more == "" {
			return out, nil
		}
	}
}

func (c *cluster) defaultNamespace() string {
	if c == nil {
		return ""
	}
	return c.namespace
}

func (c *cluster) everyService() []*corev1.Service {
	if c == nil {
		return nil
	}
	return c.services
}

// get finds a Service by its name; nil if there is none.
func (c *cluster) get(namespace, name string) *corev1.Service {
	for _, svc := range c.everyService() {
		if svc.Namespace == namespace && svc.Name == name {
			return svc
		}
	}
	return nil
}

// join adds the objects of the cluster to the objects of the files. A Service of a file
// replaces the live one.
func (w *World) join(in Input, live *cluster) {
	written := map[string]bool{}
	for _, item := range w.Items {
		written[item.Service.Namespace+"/"+item.Service.Name] = true
	}
	for _, svc := range live.services {
		if written[svc.Namespace+"/"+svc.Name] {
			continue
		}
		asked := len(in.Files) == 0 && (in.AllNamespaces || svc.Namespace == live.namespace)
		w.Items = append(w.Items, Item{Service: svc, Asked: asked})
	}
	if len(in.NodeFiles) == 0 {
		w.Nodes = append(w.Nodes, live.nodes...)
	}
	w.Whole = live.whole
	w.Notes = append(w.Notes, live.notes...)
}
