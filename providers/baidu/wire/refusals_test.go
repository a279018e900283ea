package wire

import (
	"testing"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/refusals"
)

// TestRefusalTexts: the condition of a refusal has the next step that the code calls for.
func TestRefusalTexts(t *testing.T) {
	refusals.Check(t, "testdata/refusals.golden", func(r kit.Refusal) error { return errorTable().Refused(r, kit.Sent) },
		kit.Refusal{Status: 413, Code: "ListenerExceeded", Text: "The quota of 50 listeners is exceeded."},
		kit.Refusal{Status: 413, Code: "ExceedLimit", Text: "The quota of 60 load balancers is exceeded."},
		kit.Refusal{Status: 409, Code: "LastOperationNotFinished", Text: "The last operation has not finished."},
		kit.Refusal{Status: 403, Code: "AccessDenied", Text: "Access denied."},
		kit.Refusal{Status: 403, Code: "InvalidAccessKeyId", Text: "The Access Key ID you provided does not exist."},
		kit.Refusal{Status: 403, Code: "OptInRequired", Text: "A subscription for the service is required."},
		kit.Refusal{Status: 403, Code: "ServiceBlocked", Text: "The service is blocked."},
		kit.Refusal{Status: 400, Code: "InappropriateJSON", Text: "bandwidthInMbps: 300 is out of range"},
	)
}
