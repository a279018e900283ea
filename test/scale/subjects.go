package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// subject is a kind of load balancer in a cluster of a size.
type subject struct {
	cloud, kind     string
	services, nodes int
	simArgs         []string
	annotations     map[string]string
	// apart is whether a new machine takes a write for each Service; else they share
	// what holds the machines.
	apart bool
}

// The sizes that the goals are for: the largest cluster that Kubernetes supports,
// and a large one.
func subjects() []subject {
	// Accounts of these sizes have had their quotas raised.
	quotas := []string{"--quota-factor=1000"}
	return []subject{
		{cloud: "aws", kind: "clb", services: 2000, nodes: 5000, simArgs: quotas, apart: true},
		{cloud: "gce", kind: "ilb-ig", services: 500, nodes: 1000, simArgs: quotas,
			annotations: map[string]string{"networking.gke.io/load-balancer-type": "Internal"}},
		{cloud: "gce", kind: "target-pool", services: 500, nodes: 1000, simArgs: quotas, apart: true},
		{cloud: "azure", kind: "public", services: 500, nodes: 1000},
		{cloud: "azure", kind: "internal", services: 500, nodes: 1000,
			annotations: map[string]string{"service.beta.kubernetes.io/azure-load-balancer-internal": "true"}},
	}
}

// all are the subject's Services, with one port each.
func (s subject) all() []corev1.Service {
	var out []corev1.Service
	for i := range s.services {
		out = append(out, corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("scale-%d", i), Annotations: s.annotations},
			Spec: corev1.ServiceSpec{
				Type:     corev1.ServiceTypeLoadBalancer,
				Selector: map[string]string{"app": "scale"},
				Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}},
			},
		})
	}
	return out
}
