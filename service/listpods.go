package service

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/providers/fault"
)

// podsPage is the number of pods in one answer of the API server.
const podsPage = 500

// ListPods returns a function that lists the pods of a namespace with some labels. The
// client needs the right to list pods.
func ListPods(client kubernetes.Interface) func(ctx context.Context, namespace string, with map[string]string) ([]*corev1.Pod, error) {
	return func(ctx context.Context, namespace string, with map[string]string) ([]*corev1.Pod, error) {
		var out []*corev1.Pod
		options := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(with).String(), Limit: podsPage}
		for {
			page, err := client.CoreV1().Pods(namespace).List(ctx, options)
			if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
				return nil, fault.New(fault.Denied, "pods of namespace %s may not be listed by the controller: %v", namespace, err)
			}
			if err != nil {
				return nil, fault.New(fault.Unavailable, "pods of namespace %s: %v", namespace, err)
			}
			for i := range page.Items {
				out = append(out, &page.Items[i])
			}
			if options.Continue = page.Continue; options.Continue == "" {
				return out, nil
			}
		}
	}
}
