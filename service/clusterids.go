package service

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/providers"
)

// The ConfigMap that holds the identifier of a cluster on Google Cloud, with the
// keys of both official controllers.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_clusterid.go.
const (
	ingressUID  = "ingress-uid"
	keyUID      = "uid"
	keyProvider = "provider-uid"
	idBytes     = 8
)

// ClusterIDs reads the identifiers of a cluster when a cloud needs them. With
// create, a cluster without one gets one, as with the official controller;
// otherwise it is left as it is.
func ClusterIDs(client kubernetes.Interface, create bool) func(context.Context) (providers.ClusterIDs, error) {
	return func(ctx context.Context) (providers.ClusterIDs, error) {
		system, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		if err != nil {
			return providers.ClusterIDs{}, fmt.Errorf("namespace %s: %w", metav1.NamespaceSystem, err)
		}
		ids := providers.ClusterIDs{SystemUID: string(system.UID)}
		maps := client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
		found, err := maps.Get(ctx, ingressUID, metav1.GetOptions{})
		if apierrors.IsNotFound(err) && create {
			found, err = maps.Create(ctx, newIngressUID(), metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) { // another client was faster
				found, err = maps.Get(ctx, ingressUID, metav1.GetOptions{})
			}
		}
		if apierrors.IsNotFound(err) {
			return ids, nil
		}
		if err != nil {
			return ids, fmt.Errorf("config map %s/%s: %w", metav1.NamespaceSystem, ingressUID, err)
		}
		ids.Ingress = found.Data
		return ids, nil
	}
}

func newIngressUID() *corev1.ConfigMap {
	id := make([]byte, idBytes)
	_, _ = rand.Read(id) // never fails
	text := hex.EncodeToString(id)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: ingressUID},
		Data:       map[string]string{keyUID: text, keyProvider: text},
	}
}
