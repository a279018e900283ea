package nodeports

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// WaitsOnly reports whether a pod is ready except for readiness gates of some types, of which
// it has at least one: its containers are ready, it is not terminating, and every other gate
// is open. Such a pod must be a member of the load balancer to become ready.
// Source: KEP-580, pod ready++.
func WaitsOnly(pod *corev1.Pod, covered func(conditionType string) bool) bool {
	if pod.DeletionTimestamp != nil || !conditionIs(pod, corev1.ContainersReady) {
		return false
	}
	waits := false
	for _, gate := range pod.Spec.ReadinessGates {
		switch {
		case covered(string(gate.ConditionType)):
			waits = true
		case !conditionIs(pod, gate.ConditionType):
			return false
		}
	}
	return waits
}

// conditionIs reports whether a condition of a pod is True.
func conditionIs(pod *corev1.Pod, conditionType corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == conditionType && c.Status == corev1.ConditionTrue
	})
}

// Await returns the slices in which endpoints are ready if their pods wait only for
// their load balancer. The slices that were passed are unchanged.
func Await(all []*discoveryv1.EndpointSlice, waits PodAt) []*discoveryv1.EndpointSlice {
	out := make([]*discoveryv1.EndpointSlice, 0, len(all))
	for _, s := range all {
		out = append(out, awaitGate(s, waits))
	}
	return out
}

func awaitGate(s *discoveryv1.EndpointSlice, waits PodAt) *discoveryv1.EndpointSlice {
	var changed *discoveryv1.EndpointSlice
	for i, e := range s.Endpoints {
		if len(e.Addresses) == 0 || orElse(e.Conditions.Ready, true) || orElse(e.Conditions.Terminating, false) {
			continue
		}
		addr, ok := parseAddr(e.Addresses[0])
		if !ok || !waits(addr, orElse(e.NodeName, "")) {
			continue
		}
		if changed == nil {
			one := *s
			changed = &one
			changed.Endpoints = slices.Clone(s.Endpoints)
		}
		ready := true
		changed.Endpoints[i].Conditions.Ready, changed.Endpoints[i].Conditions.Serving = &ready, &ready
	}
	if changed == nil {
		return s
	}
	return changed
}
