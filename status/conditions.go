package status

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prefix is the domain of everything of ours on a Service, with the slash.
const Prefix = "berth-lb.io/"

// Types of conditions on a Service.
const (
	// TypeAccepted tells whether the Service asks for something that can be
	// built: annotations and fields are known, legal and go together.
	TypeAccepted = Prefix + "Accepted"
	// TypeProgrammed tells whether the cloud has what the Service asks for.
	TypeProgrammed = Prefix + "Programmed"
	// TypeReplacing is True while a new load balancer takes the place of another
	// and both exist; it is taken off afterwards.
	TypeReplacing = Prefix + "Replacing"
	// TypePortsError is Kubernetes' own: True when the cloud can not serve the
	// ports as they are put together.
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
// The message must say nothing that changes by itself, such as a time until the
// next try, or every sync writes.
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

// NotAccepted is the condition of a Service that can not be built. The message
// names the key or field, its value, and what is legal.
func NotAccepted(reason Reason, message string) Condition {
	return Condition{Type: TypeAccepted, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

// Programmed is the condition of a Service whose load balancer is as desired.
func Programmed(message string) Condition {
	return Condition{Type: TypeProgrammed, Status: metav1.ConditionTrue, Reason: ReasonProgrammed, Message: message}
}

// NotProgrammed is the condition of a Service whose load balancer is not as
// wanted, or not known to be.
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

// PortsError is Kubernetes' own condition for ports that the cloud can not put
// together on one load balancer, such as TCP and UDP on one number.
func PortsError(message string) Condition {
	return Condition{Type: TypePortsError, Status: metav1.ConditionTrue, Reason: ReasonMixedProtocols, Message: message}
}
