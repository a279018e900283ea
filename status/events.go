package status

import (
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
)

// EventReason is the reason of an event on a Service: one of the constants here.
type EventReason string

// Reasons of the stock service controller, with the same meaning, so that programs
// that watch for them keep working.
// Source: kubernetes/cloud-provider:controllers/service/controller.go.
const (
	EventEnsuring     EventReason = "EnsuringLoadBalancer"
	EventEnsured      EventReason = "EnsuredLoadBalancer"
	EventSyncFailed   EventReason = "SyncLoadBalancerFailed"
	EventUnavailable  EventReason = "UnAvailableLoadBalancer"
	EventDeleting     EventReason = "DeletingLoadBalancer"
	EventDeleted      EventReason = "DeletedLoadBalancer"
	EventManualChange EventReason = "LoadBalancerManualChange"
)

// Reasons of our own.
const (
	EventInvalidAnnotation     EventReason = "InvalidAnnotation"
	EventUnknownAnnotation     EventReason = "UnknownAnnotation"
	EventUnsupportedAnnotation EventReason = "UnsupportedAnnotation"
	EventInvalidSpec           EventReason = "InvalidSpec"
	EventUnsupportedSpec       EventReason = "UnsupportedSpec"
	EventNoNodePort            EventReason = "NoNodePort"
	EventNoMatchingNodes       EventReason = "NoMatchingNodes"
	EventHeldByPolicy          EventReason = "HeldByPolicy"
	EventHeldForSafety         EventReason = "HeldForSafety"
	EventSlotTaken             EventReason = "SlotTaken"
	EventNotOurs               EventReason = "NotOurs"
	EventServedElsewhere       EventReason = "ServedElsewhere"
	EventStillWaiting          EventReason = "StillWaiting"
	EventReplacing             EventReason = "ReplacingLoadBalancer"
	EventReplaced              EventReason = "ReplacedLoadBalancer"
	EventAdopted               EventReason = "AdoptedLoadBalancer"
	EventDriftFound            EventReason = "DriftFound"
	EventDriftReturns          EventReason = "DriftReturns"
	EventPolicyRefused         EventReason = "PolicyRefused"
	EventAddressOverwritten    EventReason = "AddressOverwritten"
	EventFinalizerRemoved      EventReason = "FinalizerRemoved"
)

// EventDoc documents a reason of events.
type EventDoc struct {
	Reason EventReason
	Type   string // corev1.EventTypeNormal or corev1.EventTypeWarning
	Doc    string
}

// EventReasons lists every reason, in the order of the documentation.
func EventReasons() []EventDoc {
	return append(stockEvents(), ownEvents()...)
}

func stockEvents() []EventDoc {
	normal, warning := corev1.EventTypeNormal, corev1.EventTypeWarning
	return []EventDoc{
		{EventEnsuring, normal, "Work on the load balancer begins, because the plan has steps. An unchanged Service gets none."},
		{EventEnsured, normal, "The cloud has what the Service asks for."},
		{EventSyncFailed, warning, "Something failed; the message says what. It is tried again, sooner or later by what failed, and this event is repeated every 30 minutes while it fails."},
		{EventUnavailable, warning, "There is no node that may stand behind the load balancer."},
		{EventDeleting, normal, "The load balancer is about to be deleted."},
		{EventDeleted, normal, "The load balancer and all its resources are deleted."},
		{EventManualChange, normal, "A step needs more rights than the controller has; the message is the command. The rest of the load balancer is made."},
	}
}

func ownEvents() []EventDoc {
	normal, warning := corev1.EventTypeNormal, corev1.EventTypeWarning
	return []EventDoc{
		{EventInvalidAnnotation, warning, "An annotation has a value that is not legal; the message says what is."},
		{EventUnknownAnnotation, warning, "An annotation with a prefix of this cloud is not known; the message names the nearest known one."},
		{EventUnsupportedAnnotation, warning, "An annotation is known, here or on another cloud, and has no effect; the message says why."},
		{EventInvalidSpec, warning, "A field of the Service has a value that no load balancer can have."},
		{EventUnsupportedSpec, warning, "The Service asks for something that this cloud or kind of load balancer does not offer."},
		{EventNoNodePort, warning, "A port has no node port, and the kind of load balancer needs it."},
		{EventNoMatchingNodes, warning, "The filter for this load balancer leaves none of the nodes; the backends that it has are kept."},
		{EventHeldByPolicy, warning, "A policy of the controller holds steps of the plan; the message lists them."},
		{EventHeldForSafety, warning, "Steps are held because their cause is not plain; the message says what is missing."},
		{EventSlotTaken, warning, "Another Service holds a port or address that only one can have."},
		{EventNotOurs, warning, "Something of the wanted name exists and nothing proves that it belongs to this Service; it is not touched."},
		{EventServedElsewhere, normal, "Another controller serves this Service; Berth leaves it alone."},
		{EventStillWaiting, warning, "The cloud has been busy, or something in use, for five minutes; the message says with what."},
		{EventReplacing, normal, "A new load balancer replaces the old one; the message has both addresses."},
		{EventReplaced, normal, "The old load balancer is deleted, or was recreated with another address; the message has the address to use."},
		{EventAdopted, normal, "A load balancer that the official controller made is now kept by Berth."},
		{EventDriftFound, normal, "The load balancer was changed from outside, or is missing in the cloud; the message lists the corrections."},
		{EventDriftReturns, warning, "A check for drift makes the same correction as the check before it: another program changes it back, or the cloud does not keep it. The message lists the corrections."},
		{EventPolicyRefused, warning, "The policy of the controller does not allow what the Service asks for; the message names the rule, the key and what is allowed."},
		{EventAddressOverwritten, warning, "Another program writes other addresses into the status of the Service; the message names it. Berth puts its own back, at longer and longer intervals."},
		{EventFinalizerRemoved, warning, "The finalizer was taken off before the load balancer was deleted; it is deleted all the same, by what the controller remembers."},
	}
}

// Type is corev1.EventTypeNormal or corev1.EventTypeWarning; a reason that is
// not of the list is a warning.
func (r EventReason) Type() string {
	for _, d := range EventReasons() {
		if d.Reason == r {
			return d.Type
		}
	}
	return corev1.EventTypeWarning
}

// maxEventMessage is the longest message of an event that the API server accepts.
// Source: kubernetes/kubernetes:pkg/apis/core/validation/events.go.
const maxEventMessage = 1024

// EventMessage fits a text to an event: one line, at most 1024 bytes, cut between
// characters.
func EventMessage(text string) string {
	return shortenText(strings.Join(strings.Fields(text), " "), maxEventMessage)
}

// shortenText cuts a text to at most limit bytes, which must be at least 3, between
// characters, and marks the cut.
func shortenText(text string, limit int) string {
	const mark = "..."
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
