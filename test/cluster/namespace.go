package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	// cleanUpWithin bounds what happens after a test.
	cleanUpWithin = 30 * time.Second
	// namePrefix is as much of the test's name as fits into a label value beside
	// the server's random end.
	namePrefix = 50
)

// Namespace creates a namespace whose name begins with that of the test and
// returns its name. After the test its Services are removed with their finalizers,
// so that the controller of the next test does not find them. Cleanups run last
// first: start a controller after the call, and it is stopped before.
//
// The namespace itself stays, for nothing runs that would finish its deletion.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	client, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	wish := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: labelPrefix(t.Name()) + "-"}}
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(), wish, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("namespace: %v", err)
	}
	t.Cleanup(func() {
		if c.hasEnded() {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), cleanUpWithin)
		defer cancel()
		if err := removeServices(ctx, client, namespace.Name); err != nil {
			t.Errorf("namespace %s: clean-up: %v", namespace.Name, err)
		}
	})
	return namespace.Name
}

func removeServices(ctx context.Context, client kubernetes.Interface, namespace string) error {
	services, err := client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var all error
	for _, service := range services.Items {
		if err := removeService(ctx, client, service); err != nil {
			all = errors.Join(all, fmt.Errorf("service %s: %w", service.Name, err))
		}
	}
	return all
}

func removeService(ctx context.Context, client kubernetes.Interface, service corev1.Service) error {
	api := client.CoreV1().Services(service.Namespace)
	if len(service.Finalizers) > 0 {
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		if _, err := api.Patch(ctx, service.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	err := api.Delete(ctx, service.Name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// labelPrefix turns the name of a test into the beginning of a DNS label.
func labelPrefix(name string) string {
	label := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	if len(label) > namePrefix {
		label = label[:namePrefix]
	}
	if label = strings.Trim(label, "-"); label == "" {
		return "test"
	}
	return label
}
