package status

import corev1 "k8s.io/api/core/v1"

// Reason is the cause of a condition: one of the constants here.
type Reason string

// Reasons of TypeAccepted.
const (
	ReasonAccepted          Reason = "Accepted"
	ReasonInvalidAnnotation Reason = "InvalidAnnotation"
	ReasonInvalidSpec       Reason = "InvalidSpec"
	ReasonUnsupportedSpec   Reason = "UnsupportedSpec"
	ReasonNoNodePort        Reason = "NoNodePort"
	ReasonPolicyRefused     Reason = "PolicyRefused"
)

// Reasons of TypeProgrammed.
const (
	ReasonProgrammed         Reason = "Programmed"
	ReasonPending            Reason = "Pending"
	ReasonNotAccepted        Reason = "NotAccepted"
	ReasonHeldByPolicy       Reason = "HeldByPolicy"
	ReasonHeldForSafety      Reason = "HeldForSafety"
	ReasonNoMatchingNodes    Reason = "NoMatchingNodes"
	ReasonSlotTaken          Reason = "SlotTaken"
	ReasonNotOurs            Reason = "NotOurs"
	ReasonRefused            Reason = "Refused"
	ReasonQuotaExceeded      Reason = "QuotaExceeded"
	ReasonDenied             Reason = "Denied"
	ReasonUnauthenticated    Reason = "Unauthenticated"
	ReasonLocked             Reason = "Locked"
	ReasonOrganizationPolicy Reason = "OrganizationPolicy"
	ReasonThrottled          Reason = "Throttled"
	ReasonConflict           Reason = "Conflict"
	ReasonInUse              Reason = "InUse"
	ReasonCloudUnavailable   Reason = "CloudUnavailable"
	ReasonCloudError         Reason = "CloudError"
	ReasonDeleting           Reason = "Deleting"
	ReasonNotApplied         Reason = "NotApplied"
	ReasonInternal           Reason = "InternalError"
)

// Reasons of the other types.
const (
	ReasonReplacing      Reason = "Replacing"
	ReasonMixedProtocols Reason = corev1.LoadBalancerPortsErrorReason
)

// ReasonDoc documents a reason of a condition.
type ReasonDoc struct {
	Reason Reason
	Type   string // of the condition
	True   bool   // the status that it belongs to
	Doc    string
}

// Reasons lists every reason of every condition, in the order of the
// documentation.
func Reasons() []ReasonDoc {
	return append(acceptedReasons(), programmedReasons()...)
}

func acceptedReasons() []ReasonDoc {
	t := TypeAccepted
	return []ReasonDoc{
		{ReasonAccepted, t, true, "A load balancer can be built. The message lists what has no effect, or less than it says; it is empty if all is honoured."},
		{ReasonInvalidAnnotation, t, false, "An annotation has a value that is not legal, or two of them contradict each other. The last good load balancer stays as it is and its backends go on following the nodes."},
		{ReasonInvalidSpec, t, false, "A field of the Service has a value that no load balancer can have, such as a source range that is none."},
		{ReasonUnsupportedSpec, t, false, "The Service asks for something that this cloud or this kind of load balancer does not offer, such as a protocol."},
		{ReasonNoNodePort, t, false, "The kind of load balancer sends to node ports, and a port of the Service has none."},
		{ReasonPolicyRefused, t, false, "The policy of the controller does not allow what the Service requests; the message names the rule, the key and the allowed values. Nothing is created; an existing load balancer stays unchanged, and its backends still follow the nodes. Deletion is always allowed."},
	}
}

func programmedReasons() []ReasonDoc {
	t := TypeProgrammed
	return []ReasonDoc{
		{ReasonProgrammed, t, true, "The cloud has what the Service asks for; the message says which load balancer serves which ports."},
		{ReasonPending, t, false, "The cloud has accepted the changes and is not ready yet. This is no failure. The status is `Unknown` from the first change for a changed Service until its result is known."},
		{ReasonNotAccepted, t, false, "The Service can not be built, so nothing new was written. See the condition " + TypeAccepted + "."},
		{ReasonHeldByPolicy, t, false, "A policy of the controller (dry run, no delete, no replace, no interrupt) holds steps of the plan; the message lists them."},
		{ReasonHeldForSafety, t, false, "Steps are held because their cause is not plain, such as a delete of something that could not be read."},
		{ReasonNoMatchingNodes, t, false, "There are nodes, but the filter for this load balancer leaves none of them, so the backends it has are kept."},
		{ReasonSlotTaken, t, false, "Another Service holds a port or address that only one can have; the message names it. This Service is tried again when it gets free."},
		{ReasonNotOurs, t, false, "Something of the wanted name exists in the cloud and nothing proves that it belongs to this Service, so it is not touched."},
		{ReasonRefused, t, false, "The cloud refuses what the Service asks for. Nothing is tried again before the Service changes, but for a slow retry."},
		{ReasonQuotaExceeded, t, false, "A limit of the cloud account is reached."},
		{ReasonDenied, t, false, "The credentials of the controller do not allow a call; the message names it."},
		{ReasonUnauthenticated, t, false, "The cloud does not accept the controller's credentials: they are missing, invalid or expired."},
		{ReasonLocked, t, false, "A lock or a deletion protection in the cloud forbids the change; the message names it."},
		{ReasonOrganizationPolicy, t, false, "A policy of the cloud organisation forbids the change; the message names it."},
		{ReasonThrottled, t, false, "The cloud asks for fewer calls; work continues as soon as it allows."},
		{ReasonConflict, t, false, "Another program changes the same cloud object at the same time, or a resource of the name exists already; it is read again."},
		{ReasonInUse, t, false, "Something in the cloud still uses what is to be deleted; the message names it."},
		{ReasonCloudUnavailable, t, false, "The cloud does not answer, or answers with a fault of its own."},
		{ReasonCloudError, t, false, "A call failed for a reason that has no name here; the message is the cloud's."},
		{ReasonNotApplied, t, false, "The load balancer serves, but it cannot take over a value of the Service, such as internal on a public load balancer; the message names the key and the next step. Everything else is as the Service asks."},
		{ReasonDeleting, t, false, "The load balancer is being deleted."},
		{ReasonInternal, t, false, "A defect of the controller stopped the work on this Service; other Services go on. The controller's log has the details; the work is tried again every 5 minutes."},
		{ReasonReplacing, TypeReplacing, true, "A new load balancer has taken over; the old one still exists for a short while, so that clients with old addresses are served. Or a part of it, such as a target group, has been replaced, and the old one stays until the cloud has stopped using it."},
		{ReasonMixedProtocols, TypePortsError, true, "The load balancer can not serve the protocols of the ports together. Defined by Kubernetes."},
	}
}
