package kit

import (
	"testing"

	"github.com/berth-lb/berth/providers/fault"
)

// TestCodes verifies that the code of a refusal decides before its status.
func TestCodes(t *testing.T) {
	codes := Codes{
		Meanings: map[string]fault.Meaning{"OverQuota": fault.Quota, "": fault.Internal},
		Statuses: map[int]fault.Meaning{501: fault.Invalid},
		Causes:   map[string]fault.Cause{"SignUpRequired": fault.Account},
	}
	for name, tc := range map[string]struct {
		refusal Refusal
		meaning fault.Meaning
		found   bool
		cause   fault.Cause
	}{
		"code":              {refusal: Refusal{Code: "OverQuota", Status: 501}, meaning: fault.Quota, found: true},
		"status":            {refusal: Refusal{Code: "Other", Status: 501}, meaning: fault.Invalid, found: true},
		"status, no code":   {refusal: Refusal{Status: 501}, meaning: fault.Invalid, found: true},
		"neither":           {refusal: Refusal{Code: "Other", Status: 400}},
		"cause, no meaning": {refusal: Refusal{Code: "SignUpRequired", Status: 400}, cause: fault.Account},
	} {
		m, found := codes.Meaning(tc.refusal)
		if cause := codes.Cause(tc.refusal); m != tc.meaning || found != tc.found || cause != tc.cause {
			t.Errorf("%s: meaning %v, found %v, cause %v", name, m, found, cause)
		}
	}
}
