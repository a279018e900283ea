package wire

import (
	"testing"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/refusals"
)

// TestRefusalTexts: the condition of a refusal has the quota that the code names, and the next step
// that the code calls for.
func TestRefusalTexts(t *testing.T) {
	refusals.Check(t, "testdata/refusals.golden", func(r kit.Refusal) error { return errorTable().Refused(r, kit.Sent) },
		kit.Refusal{Status: 400, Code: "QuotaLimitExceeds.LoadBalancer", Text: "The quota of load balancers is exceeded."},
		kit.Refusal{Status: 400, Code: "InstanceBackendServerNumberOverLimit", Text: "The number of backend servers is over the limit."},
		kit.Refusal{Status: 400, Code: "VSwitchAvailableIpNotExist", Text: "The vSwitch has no available IP address."},
		kit.Refusal{Status: 403, Code: "Forbidden.RAM", Text: "User not authorized to operate on the specified resource."},
		kit.Refusal{Status: 404, Code: "InvalidAccessKeyId.NotFound", Text: "Specified access key is not found."},
	)
}
