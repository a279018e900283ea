package offline

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// Completions are names that a shell offers. Each function returns nil if the cluster cannot
// be read: a shell has no place for errors.
type Completions struct{ Input Input }

// Services returns arguments such as svc/web for the Services of type LoadBalancer.
func (c Completions) Services(ctx context.Context) []string {
	client, namespace, err := c.Input.dial(c.Input.Kubeconfig)
	if err != nil {
		return nil
	}
	if c.Input.Namespace != "" {
		namespace = c.Input.Namespace
	}
	list, err := client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	var out []string
	for _, svc := range list.Items {
		if svc.Spec.Type == corev1.ServiceTypeLoadBalancer {
			out = append(out, "svc/"+svc.Name)
		}
	}
	return out
}

// Namespaces returns the namespaces of the cluster.
func (c Completions) Namespaces(ctx context.Context) []string {
	client, _, err := c.Input.dial(c.Input.Kubeconfig)
	if err != nil {
		return nil
	}
	list, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	var out []string
	for _, ns := range list.Items {
		out = append(out, ns.Name)
	}
	return out
}

// Contexts returns the contexts of the kubeconfig.
func (c Completions) Contexts(context.Context) []string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.Input.Kubeconfig
	config, err := rules.Load()
	if err != nil {
		return nil
	}
	var out []string
	for name := range config.Contexts {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Releases returns the releases of the chart in the cluster.
func (c Completions) Releases(ctx context.Context) []string {
	client, _, err := c.Input.dial(c.Input.Kubeconfig)
	if err != nil {
		return nil
	}
	list, err := client.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=berth"})
	if err != nil {
		return nil
	}
	var out []string
	for _, d := range list.Items {
		if name := d.Labels["app.kubernetes.io/instance"]; name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
