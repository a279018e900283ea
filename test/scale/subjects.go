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
	// pods is how many pods are behind each Service, the same ones behind all; none: it
	// sends to nodes.
	pods    int
	config  string // further lines of the cloud configuration
	goalMiB int    // the most memory that the controller may hold at any time, informers included
	// beyond is whether the goal is for what Services add to a controller without any.
	beyond bool
	// chosen is whether only some of the machines are behind a load balancer, so that a new one
	// may cause no write.
	chosen bool
}

// The sizes that the goals are for: the largest cluster that Kubernetes supports,
// and a large one.
func newSubjects() []subject {
	// Accounts of these sizes have had their quotas raised.
	quotas := []string{"--quota-factor=1000"}
	const goal, smaller, prefix = 500, 350, "service.beta.kubernetes.io/aws-load-balancer-"
	return []subject{
		{cloud: "aws", kind: "clb", services: 2000, nodes: 5000, simArgs: quotas, apart: true, goalMiB: goal},
		{cloud: "aws", kind: "nlb-ip", services: 50, nodes: 20, pods: 1000, simArgs: append(quotas, "--pods=50"), apart: true, goalMiB: 150,
			config:      "\n[Berth]\nLoadBalancerController = true\n",
			annotations: map[string]string{prefix + "type": "external", prefix + "nlb-target-type": "ip"}},
		{cloud: "gce", kind: "ilb-ig", services: 500, nodes: 1000, simArgs: quotas, goalMiB: goal,
			annotations: map[string]string{"networking.gke.io/load-balancer-type": "Internal"}},
		{cloud: "gce", kind: "target-pool", services: 500, nodes: 1000, simArgs: quotas, apart: true, goalMiB: goal},
		{cloud: "azure", kind: "public", services: 500, nodes: 1000, goalMiB: goal},
		{cloud: "azure", kind: "internal", services: 500, nodes: 1000, goalMiB: goal,
			annotations: map[string]string{"service.beta.kubernetes.io/azure-load-balancer-internal": "true"}},
		{cloud: "alibaba", kind: "clb", services: 1000, nodes: 500, simArgs: []string{"--load-balancers=1000", "--servers=500"}, apart: true, goalMiB: 400},
		{cloud: "alibaba", kind: "clb-eni", services: 50, nodes: 20, pods: 1000, simArgs: []string{"--servers=500", "--pods=50"}, apart: true, goalMiB: 150, beyond: true,
			annotations: map[string]string{"service.beta.kubernetes.io/backend-type": "eni"}},
		{cloud: "ibm", kind: "alb", services: 1000, nodes: 500, simArgs: quotas, chosen: true, goalMiB: smaller,
			annotations: map[string]string{"service.kubernetes.io/ibm-load-balancer-cloud-provider-vpc-member-quota": "8"}},
		{cloud: "tencent", kind: "clb", services: 1000, nodes: 500, simArgs: []string{"--load-balancers=1000", "--targets=500"}, apart: true, goalMiB: smaller},
		{cloud: "baidu", kind: "appblb", services: 1000, nodes: 500, simArgs: []string{"--load-balancers=1000"}, chosen: true, goalMiB: smaller},
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
