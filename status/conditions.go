package status

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prefix is the domain of all our keys on a Service, with the slash.
const Prefix = "berth-lb.io/"

// Types of conditions on a Service.
const (
	// TypeAccepted reports whether the Service can be built: annotations and fields are
	// known, legal and consistent.
	TypeAccepted = Prefix + "Accepted"
	// TypeProgrammed reports whether the cloud has the requested load balancer.
	TypeProgrammed = Prefix + "Programmed"
	// TypeReplacing is True while a new load balancer replaces another one and both
	// exist; it is removed afterwards.
	TypeReplacing = Prefix + "Replacing"
	// TypePortsError is Kubernetes' own: True when the cloud cannot serve the
	// combination of ports.
	TypePortsError = corev1.LoadBalancerPortsError
)

// Types lists the condition types that Berth writes, sorted as users read them.
// Conditions of any other type are never touched.
func Types() []string {
	return []string{TypeAccepted, TypeProgrammed, TypeReplacing, TypePortsError}
}

// Condition is a condition without its time and its observed generation, which Patch
// adds from Want.
//
// The message must contain nothing that changes by itself, such as a time until the
// next attempt, because every sync would write it.
type Condition struct {
	Type    string
	Status  metav1.ConditionStatus
	Reason  Reason
	Message string
}

// Accepted is the condition of a Service that can be built.
func Accepted(message string) Condition {
	return Condition{Type: TypeAccepted, Status: metav1.ConditionTrue, Reason: ReasonAccepted, Message: message}
}

// NotAccepted is the condition of a Service that cannot be built. The message
// names the key or field, its value, and what is legal.
func NotAccepted(reason Reason, message string) Condition {
	return Condition{Type: TypeAccepted, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

// Programmed is the condition of a Service whose load balancer is as desired.
func Programmed(message string) Condition {
	return Condition{Type: TypeProgrammed, Status: metav1.ConditionTrue, Reason: ReasonProgrammed, Message: message}
}

// NotProgrammed is the condition of a Service whose load balancer is not, or not known
// to be, as desired.
func NotProgrammed(reason Reason, message string) Condition {
	return Condition{Type: TypeProgrammed, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

// Applying is the condition from the first write for a changed Service until its result
// is known: the previous condition is about another configuration.
func Applying(message string) Condition {
	return Condition{Type: TypeProgrammed, Status: metav1.ConditionUnknown, Reason: ReasonPending, Message: message}
}

// Replacing is the condition while two load balancers serve.
func Replacing(message string) Condition {
	return Condition{Type: TypeReplacing, Status: metav1.ConditionTrue, Reason: ReasonReplacing, Message: message}
}

// PortsError is Kubernetes' own condition for ports that the cloud cannot combine
// on one load balancer, such as TCP and UDP on one number.
func PortsError(message string) Condition {
	return Condition{Type: TypePortsError, Status: metav1.ConditionTrue, Reason: ReasonMixedProtocols, Message: message}
}
