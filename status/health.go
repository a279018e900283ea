package status

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Health is the summary of the conditions of a Service. `berth status` and the health check
// for Argo CD report it.
type Health string

const (
	// Unreported means that the Service carries none of our conditions.
	Unreported Health = "Unreported"
	// Healthy means that the cloud has the load balancer that the Service requests now.
	Healthy Health = "Healthy"
	// Progressing means that no action of a person is needed: the cloud is not ready, or
	// the conditions are about an earlier generation of the Service.
	Progressing Health = "Progressing"
	// Degraded means that a person must act.
	Degraded Health = "Degraded"
)

// HealthOf computes the health of a Service from its conditions.
func HealthOf(svc *corev1.Service) Health {
	accepted, programmed := findCondition(svc.Status.Conditions, TypeAccepted), findCondition(svc.Status.Conditions, TypeProgrammed)
	switch {
	case accepted == nil && programmed == nil:
		return Unreported
	case isOutdated(svc, accepted), isOutdated(svc, programmed):
		return Progressing
	case accepted != nil && accepted.Status == metav1.ConditionFalse:
		return Degraded
	case accepted == nil, programmed == nil:
		return Progressing
	case programmed.Status == metav1.ConditionTrue:
		return Healthy
	case programmed.Status == metav1.ConditionUnknown, EndsByItself(Reason(programmed.Reason)):
		return Progressing
	}
	return Degraded
}

// isOutdated reports whether a condition is about an earlier generation of the Service.
func isOutdated(svc *corev1.Service, c *metav1.Condition) bool {
	return c != nil && c.ObservedGeneration != 0 && c.ObservedGeneration < svc.Generation
}

// EndsByItself reports whether the state with this reason of TypeProgrammed ends without
// an action of a person.
func EndsByItself(r Reason) bool {
	switch r {
	case ReasonPending, ReasonThrottled, ReasonConflict, ReasonInUse, ReasonCloudUnavailable, ReasonDeleting:
		return true
	default:
		return false
	}
}
