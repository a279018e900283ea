package wire

import (
	"testing"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/refusals"
)

// TestRefusalTexts: the condition of a refusal names the quota, and the next step that the code
// calls for. The messages are those of neutron_lib's and Octavia's exceptions.
func TestRefusalTexts(t *testing.T) {
	refusals.Check(t, "testdata/refusals.golden", func(r kit.Refusal) error { return errorTable().Refused(r, kit.Sent) },
		kit.Refusal{Status: 403, Text: "Quota has been met for resources: LoadBalancer"},
		kit.Refusal{Status: 403, Text: "Quota has been met for resources: Listener"},
		kit.Refusal{Status: 409, Code: "OverQuota", Text: "Quota exceeded for resources: ['floatingip']."},
		kit.Refusal{Status: 409, Code: "OverQuota", Text: "Quota exceeded for resources: ['security_group_rule', 'port']."},
		kit.Refusal{Status: 409, Code: "IpAddressGenerationFailure", Text: "No more IP addresses available on network 11111111-2222-3333-4444-555555555555."},
		kit.Refusal{Status: 400, Code: "ExternalIpAddressExhausted", Text: "Unable to find any IP address on external network 11111111-2222-3333-4444-555555555555."},
		kit.Refusal{Status: 403, Text: "Policy does not allow this request to be performed."},
		kit.Refusal{Status: 401, Text: "The request you have made requires authentication."},
		kit.Refusal{Status: 400, Text: "Validation failure: Invalid flavor_id"},
		kit.Refusal{Status: 501, Text: "Provider 'ovn' does not support a requested action: HTTP"},
		kit.Refusal{Status: 409, Code: "IpAddressInUse", Text: "Unable to complete operation for network 11111111-2222-3333-4444-555555555555. The IP address 10.0.0.7 is in use."},
		kit.Refusal{Status: 409, Code: "SecurityGroupInUse", Text: "Security Group 11111111-2222-3333-4444-555555555555 in use."},
	)
}
