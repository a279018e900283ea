package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// chooseKind returns the kind that a Service asks for: one annotation, read as
// everywhere.
func chooseKind(service *corev1.Service) providers.Choice {
	internal, _, _ := internalKey.Read("", service.Annotations)
	if internal {
		return providers.Choice{Kind: Internal}
	}
	return providers.Choice{Kind: Public}
}
