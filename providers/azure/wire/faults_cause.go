package wire

import (
	"regexp"

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
		fault.Addresses:       {"SubnetIsFull"},
		fault.Held:            {"PublicIPAddressInUse"},
		fault.Account:         {"ReadOnlyDisabledSubscription", "DisabledSubscription", "SubscriptionNotFound", "MissingSubscriptionRegistration", "AccountIsDisabled"},
	}
}

// limitOf finds the quota of a refusal in its message, for codes such as PublicIPCountLimitReached
// and QuotaExceeded.
// Source: learn.microsoft.com/azure/azure-resource-manager, error-resource-quota.
func limitOf(said kit.Refusal) fault.Limit {
	return kit.LimitIn(said, quotaOfMost, quotaExceeded, quotaLimit, quotaUsage)
}

var (
	quotaOfMost   = regexp.MustCompile(`Cannot create more than (?P<most>\d+) (?P<name>.+?) for this subscription`)
	quotaExceeded = regexp.MustCompile(`exceeding (?:approved )?(?P<name>.+?) quota\b`)
	quotaLimit    = regexp.MustCompile(`Current Limit: (?P<most>\d+)`)
	quotaUsage    = regexp.MustCompile(`Current Usage: (?P<used>\d+)`)
)
