package wire

import (
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// causeOf says what has to change before a refused call can succeed.
// Source: learn.microsoft.com/azure/azure-resource-manager, common deployment errors,
// lock-resources; learn.microsoft.com/azure/governance/policy, effect deny.
func causeOf(said kit.Refusal) fault.Cause {
	for cause, list := range codesByCause() {
		if model.ContainsFold(list, said.Code) {
			return cause
		}
	}
	return fault.Unspecified
}

func codesByCause() map[fault.Cause][]string {
	return map[fault.Cause][]string{
		fault.Unauthenticated: {codeOfLogin, "InvalidAuthenticationToken", "InvalidAuthenticationTokenTenant", "ExpiredAuthenticationToken"},
		fault.Locked:          {"ScopeLocked", "LinkedScopeLocked"},
		fault.Policy:          {"RequestDisallowedByPolicy"},
		fault.Account:         {"ReadOnlyDisabledSubscription", "DisabledSubscription", "SubscriptionNotFound", "MissingSubscriptionRegistration", "AccountIsDisabled"},
	}
}
