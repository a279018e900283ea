package wire

import (
	"testing"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/refusals"
)

// TestRefusalTexts: the condition of a refusal names the quotas of the tenancy, and the next step that
// the code calls for. The messages are those of oracle/oci-cloud-controller-manager 378,
// oracle-quickstart/oci-cloudnative 230, oracle/terraform-provider-oci 883 and
// Rapha-Borges/oke-free 12.
func TestRefusalTexts(t *testing.T) {
	refusals.Check(t, "testdata/refusals.golden", func(r kit.Refusal) error { return errorTable().Refused(r, kit.Sent) },
		kit.Refusal{Status: 400, Code: "LimitExceeded", Text: "The following service limits were exceeded: lb-100mbps-count. Request a service limit increase from the service limits page in the console."},
		kit.Refusal{Status: 400, Code: "LimitExceeded", Text: "The following service limits were exceeded: lb-flexible-count, lb-flexible-bandwidth-sum. Request a service limit increase from the service limits page in the console."},
		kit.Refusal{Status: 400, Code: "QuotaExceeded", Text: "The following compartment quotas were exceeded: lb-flexible-count."},
		kit.Refusal{Status: 400, Code: "LimitExceeded", Text: "Limit nonephemeral-regional-publicip-per-tenant of 2 has been already reached."},
		kit.Refusal{Status: 400, Code: "LimitExceeded", Text: "The maximum limit of 5 for network security groups per VNIC has been exceeded."},
		kit.Refusal{Status: 400, Code: "LimitExceeded", Text: "The limit for this tenancy has been exceeded."},
		kit.Refusal{Status: 500, Code: "OutOfCapacity", Text: "Out of capacity for the shape."},
		kit.Refusal{Status: 401, Code: "NotAuthenticated", Text: "The required information to complete authentication was not provided or was incorrect."},
		kit.Refusal{Status: 403, Code: "SignUpRequired", Text: "The tenancy has not signed up for this service."},
		kit.Refusal{Status: 400, Code: "InvalidParameter", Text: "Subnet has insufficient free IP addresses"},
		kit.Refusal{Status: 404, Code: "NotAuthorizedOrNotFound", Text: "Authorization failed or requested resource not found."},
		kit.Refusal{Status: 409, Code: "IncorrectState", Text: "Load balancer is in state UPDATING"},
		kit.Refusal{Status: 429, Code: "TooManyRequests", Text: "Too many requests for the user"},
	)
}
