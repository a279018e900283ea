package service

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// slimNode drops what no load balancer looks at; the images of thousands of
// nodes are most of an informer's memory.
func slimNode(obj any) (any, error) {
	n, ok := obj.(*corev1.Node)
	if !ok {
		return obj, nil
	}
	n.ManagedFields = nil
	n.Annotations = nil
	n.Status.Images = nil
	n.Status.Capacity, n.Status.Allocatable = nil, nil
	n.Status.VolumesInUse, n.Status.VolumesAttached = nil, nil
	return n, nil
}

// slimNamespace keeps what can be looked at: the name and the labels.
func slimNamespace(obj any) (any, error) {
	if ns, ok := obj.(*corev1.Namespace); ok {
		ns.ManagedFields, ns.Annotations = nil, nil
		ns.Spec, ns.Status = corev1.NamespaceSpec{}, corev1.NamespaceStatus{}
	}
	return obj, nil
}

// slimService drops what kubectl and the API server keep for themselves, but for who
// writes the addresses.
func slimService(obj any) (any, error) {
	if svc, ok := obj.(*corev1.Service); ok {
		svc.ManagedFields = addressWriters(svc.ManagedFields)
	}
	return obj, nil
}

// slimPod keeps of a Pod who it is, its node, its addresses and whether it has ended, and
// of one with readiness gates how they stand: clusters have many more Pods than anything
// else.
func slimPod(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	slim := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion, DeletionTimestamp: pod.DeletionTimestamp},
		Spec:       corev1.PodSpec{NodeName: pod.Spec.NodeName, ReadinessGates: pod.Spec.ReadinessGates},
		Status:     corev1.PodStatus{Phase: pod.Status.Phase, PodIPs: pod.Status.PodIPs},
	}
	if len(slim.Spec.ReadinessGates) > 0 {
		slim.Status.Conditions = pod.Status.Conditions
	}
	return slim, nil
}

// slimSlice drops what nobody looks at of endpoints.
func slimSlice(obj any) (any, error) {
	if s, ok := obj.(*discoveryv1.EndpointSlice); ok {
		s.ManagedFields, s.Annotations, s.OwnerReferences = nil, nil, nil
	}
	return obj, nil
}
