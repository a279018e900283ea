package wire

import (
	"regexp"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// causeOf says what has to change before a refused call can succeed.
// Sources: Google Cloud resource manager, core errors of JSON APIs; organization
// policy constraints.
func causeOf(said kit.Refusal) fault.Cause {
	if strings.HasPrefix(said.Text, "IP_IN_USE_BY_ANOTHER_RESOURCE") { // also as a condition that is not met
		return fault.Held
	}
	switch strings.ToLower(strings.ReplaceAll(said.Code, "_", "")) {
	case "autherror", "unauthenticated", "expired", "invalidcredentials":
		return fault.Unauthenticated
	case "conditionnotmet", "organizationpolicyviolated":
		return fault.Policy
	case "accessnotconfigured", "servicedisabled", "billingnotenabled", "projectnotfound":
		return fault.Account
	case "ipinusebyanotherresource":
		return fault.Held
	case "ipspaceexhausted":
		return fault.Addresses
	case "resourcepoolexhausted", "zoneresourcepoolexhausted":
		return fault.Capacity
	default:
		return fault.Unspecified
	}
}

// limitOf finds the quota of a refusal in its message, which has the region or "globally" too.
// Source: Google Cloud documentation, Compute Engine, allocation quotas, errors.
func limitOf(said kit.Refusal) fault.Limit { return kit.LimitIn(said, quotaExceeded) }

var quotaExceeded = regexp.MustCompile(`Quota '(?P<name>[^']+)' exceeded\.?(?:\s+Limit: (?P<most>\d+(?:\.\d+)?))?`)
