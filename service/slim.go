package service

import (
	corev1 "k8s.io/api/core/v1"
)

// slimNode drops fields that no load balancer uses; the images of thousands of
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

// slimService drops the metadata of kubectl and the API server, except the writers of the
// addresses.
func slimService(obj any) (any, error) {
	if svc, ok := obj.(*corev1.Service); ok {
		svc.ManagedFields = addressWriters(svc.ManagedFields)
	}
	return obj, nil
}
