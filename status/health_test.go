package status

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestHealthOf: a Service is healthy only if both conditions are about its generation.
func TestHealthOf(t *testing.T) {
	cond := func(kind string, truth metav1.ConditionStatus, reason Reason, observed int64) metav1.Condition {
		return metav1.Condition{Type: kind, Status: truth, Reason: string(reason), ObservedGeneration: observed}
	}
	accepted := cond(TypeAccepted, "True", ReasonAccepted, 2)
	for name, tc := range map[string]struct {
		conditions []metav1.Condition
		want       Health
	}{
		"nothing reported":      {nil, Unreported},
		"one condition":         {[]metav1.Condition{accepted}, Progressing},
		"programmed":            {[]metav1.Condition{accepted, cond(TypeProgrammed, "True", ReasonProgrammed, 2)}, Healthy},
		"without a generation":  {[]metav1.Condition{accepted, cond(TypeProgrammed, "True", ReasonProgrammed, 0)}, Healthy},
		"an earlier generation": {[]metav1.Condition{accepted, cond(TypeProgrammed, "True", ReasonProgrammed, 1)}, Progressing},
		"being applied":         {[]metav1.Condition{accepted, cond(TypeProgrammed, "Unknown", ReasonPending, 2)}, Progressing},
		"throttled":             {[]metav1.Condition{accepted, cond(TypeProgrammed, "False", ReasonThrottled, 2)}, Progressing},
		"denied":                {[]metav1.Condition{accepted, cond(TypeProgrammed, "False", ReasonDenied, 2)}, Degraded},
		"not applied":           {[]metav1.Condition{accepted, cond(TypeProgrammed, "False", ReasonNotApplied, 2)}, Degraded},
		"not accepted":          {[]metav1.Condition{cond(TypeAccepted, "False", ReasonInvalidSpec, 2), cond(TypeProgrammed, "False", ReasonPending, 2)}, Degraded},
	} {
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
		svc.Status.Conditions = tc.conditions
		if got := HealthOf(svc); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
