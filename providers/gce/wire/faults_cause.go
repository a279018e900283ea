package wire

import (
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// causeOf says what has to change before a refused call can succeed.
// Sources: Google Cloud resource manager, core errors of JSON APIs; organization
// policy constraints.
func causeOf(said kit.Refusal) fault.Cause {
	switch strings.ToLower(strings.ReplaceAll(said.Code, "_", "")) {
	case "autherror", "unauthenticated", "expired", "invalidcredentials":
		return fault.Unauthenticated
	case "conditionnotmet", "organizationpolicyviolated":
		return fault.Policy
	case "accessnotconfigured", "servicedisabled", "billingnotenabled", "projectnotfound":
		return fault.Account
	default:
		return fault.Unspecified
	}
}
