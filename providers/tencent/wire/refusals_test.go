package wire

import (
	"testing"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/refusals"
)

// TestRefusalTexts: the condition of a refusal has the next step that the code calls for.
func TestRefusalTexts(t *testing.T) {
	refusals.Check(t, "testdata/refusals.golden", func(r kit.Refusal) error { return errorTable().Refused(r, kit.Sent) },
		kit.Refusal{Status: 200, Code: "LimitExceeded", Text: "The quota of load balancers is exceeded."},
		kit.Refusal{Status: 200, Code: "FailedOperation.InsufficientBalance", Text: "Your account balance is insufficient."},
		kit.Refusal{Status: 200, Code: "ResourceInsufficient", Text: "Resources are insufficient."},
		kit.Refusal{Status: 200, Code: "ResourcesSoldOut", Text: "Resources are sold out."},
		kit.Refusal{Status: 200, Code: "AuthFailure.TokenFailure", Text: "The token is invalid."},
		kit.Refusal{Status: 200, Code: "UnauthorizedOperation", Text: "You are not authorized to perform this operation."},
	)
}
