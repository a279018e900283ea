package status

// Reasons of the conditions by which pods wait for their load balancer.
const (
	// PodReasonHealthy: the load balancer sends to the pod.
	PodReasonHealthy = "Healthy"
	// PodReasonUnhealthy: the pod is a member and not healthy, or not yet; the message is
	// the cloud's.
	PodReasonUnhealthy = "Unhealthy"
	// PodReasonNotRegistered: the pod is no member yet.
	PodReasonNotRegistered = "NotRegistered"
	// PodReasonReplaced: what the gate is named after is gone, and nobody else would open it.
	PodReasonReplaced = "Replaced"
)
