package wire

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// busyDelay is when to ask again after the answer that another operation on the
// resource has to end first, where it says no time itself.
const busyDelay = 2 * time.Second

// errorsOf gives errors of calls their meanings.
func errorsOf() kit.Errors {
	return kit.Errors{
		Read: func(err error) (kit.Refusal, bool) {
			var login *azidentity.AuthenticationFailedError
			return kit.Refusal{Code: codeOfLogin, Text: "login: " + err.Error()}, errors.As(err, &login)
		},
		Meaning:  func(said kit.Refusal) (fault.Meaning, bool) { return meaningOf(said.Code, said.Status) },
		Cause:    causeOf,
		OfSome:   func(said kit.Refusal) bool { return model.ContainsFold(namedCodes(), said.Code) },
		Limit:    limitOf,
		Conflict: fault.Pending,
	}
}

// namedCodes are about something that a frontend or a rule names, or about one rule, and
// not about the whole that is written. Source: learn.microsoft.com, common deployment
// errors; Azure Policy, effect deny.
func namedCodes() []string {
	return []string{
		"InvalidResourceReference", "ReferencedResourceNotProvisioned", "PublicIPReferencedByMultipleIPConfigs",
		"LinkedAuthorizationFailed", "LinkedScopeLocked", "RequestDisallowedByPolicy",
	}
}

// codeOfLogin stands for a login that was refused.
const codeOfLogin = "AuthenticationFailed"

type refusal kit.Refusal

// refusalIn is what a refused call says.
func refusalIn(status int, header http.Header, body model.Object, now time.Time) kit.Refusal {
	said := body.In("error")
	out := refusal{Code: cmp.Or(header.Get("X-Ms-Error-Code"), said.Text("code")), Status: status, Text: cmp.Or(said.Text("message"), http.StatusText(status))}
	out.After = retryAfter(header, now)
	return out.busy()
}

// busy is the refusal with the time after which to ask again, where it is known that
// another operation will end soon and the answer does not say when.
func (r refusal) busy() kit.Refusal {
	if r.After == 0 && r.Status != http.StatusTooManyRequests && model.ContainsFold(faultCodes()[fault.Pending], r.Code) {
		r.After = busyDelay
	}
	return kit.Refusal(r)
}

// faultOfOperation returns the fault of an operation that was accepted and failed.
func faultOfOperation(said model.Object, name string) error {
	r := refusal{Code: said.Text("code"), Text: name + ": " + cmp.Or(said.Text("message"), "the operation failed")}
	return errorsOf().Refused(r.busy(), kit.Sent)
}

// faultCodes returns the one table from codes to meanings. Sources: Azure Resource Manager
// reference, common deployment errors; learn.microsoft.com/azure/azure-resource-manager
// pages lock-resources and error-resource-quota;
// kubernetes-sigs/cloud-provider-azure:pkg/consts/consts.go.
func faultCodes() map[fault.Meaning][]string {
	return map[fault.Meaning][]string{
		fault.NotFound: {"ResourceNotFound", "NotFound", "ResourceGroupNotFound", "ParentResourceNotFound", "InstanceIdsListMissing"},
		fault.Conflict: {"PreconditionFailed", "CanceledAndSupersededDueToAnotherOperation", "InvalidResourceReference", "StaleResource"},
		fault.InUse: {
			"PublicIPAddressCannotBeDeleted", "LoadBalancerInUseByVirtualMachineScaleSet", "InUseSubnetCannotBeUpdated", "LoadBalancerCannotBeDeleted",
			"LoadBalancerInUse", "PrivateLinkServiceCannotBeDeleted", "PublicIPReferencedByMultipleIPConfigs", "ServiceWithOverlayMappingsCannotBeDeleted",
		},
		fault.Pending: {
			"AnotherOperationInProgress", "ReferencedResourceNotProvisioned", "RetryableError", "RetryableErrorDueToAnotherOperation", "OperationPreempted",
			"ResourceGroupBeingDeleted", "ResourceNotProvisioned", "Conflict",
			"OperationNotAllowed", // Compute, while a machine changes
		},
		fault.Throttled: {codeOfManager, "TooManyRequests"},
		// Locks and subscriptions that take no writes have the status of a conflict, and
		// nothing but an operator ends them.
		fault.Denied: {
			"AuthorizationFailed", codeOfLogin, "LinkedAuthorizationFailed", "InvalidAuthenticationToken", "RequestDisallowedByPolicy", "SubscriptionNotFound",
			"ScopeLocked", "LinkedScopeLocked", "ReadOnlyDisabledSubscription", "DisabledSubscription", "MissingSubscriptionRegistration", "AccountIsDisabled",
		},
		fault.Quota:   {"QuotaExceeded", "SubnetIsFull"},
		fault.Invalid: {"DnsRecordInUse", "InvalidDomainNameLabel", "DomainNameLabelReserved"},
		// A static address that something else has: the user has to choose another one.
		fault.Exists: {"PrivateIPAddressIsAllocated"},
	}
}

// meaningOf is the meaning of a refusal, by its code, and by its status where the
// code is in no table. Then 409 is a wait that grows, and 404 no evidence: a proxy has answered, or the endpoint does not
// know the type of the resource.
func meaningOf(code string, status int) (fault.Meaning, bool) {
	if status == http.StatusTooManyRequests {
		return fault.Throttled, true // with whatever code; Compute has that of a refusal
	}
	for meaning, list := range faultCodes() {
		if model.ContainsFold(list, code) {
			return meaning, true
		}
	}
	ends := func(end string) bool { return strings.HasSuffix(strings.ToLower(code), end) }
	switch {
	case ends("limitreached") || ends("limitexceeded"):
		return fault.Quota, true
	case ends("notfound"):
		return fault.NotFound, true
	case status == http.StatusNotFound:
		return fault.Unavailable, true
	}
	return fault.OfStatus(status, fault.Pending)
}
