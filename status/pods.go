package status

// Reasons of the pod conditions of load balancers.
const (
	// PodReasonHealthy means that the load balancer forwards to the pod.
	PodReasonHealthy = "Healthy"
	// PodReasonUnhealthy means that the pod is a member and not healthy, or not yet; the
	// message is the cloud's.
	PodReasonUnhealthy = "Unhealthy"
	// PodReasonNotRegistered means that the pod is no member yet.
	PodReasonNotRegistered = "NotRegistered"
	// PodReasonReplaced means that the resource of the gate was replaced, so that no
	// controller would open the gate.
	PodReasonReplaced = "Replaced"
)
