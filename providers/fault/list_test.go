package fault

import (
	"errors"
	"testing"
)

// TestInOneLine: no full stop of a cloud stands before a semicolon.
func TestInOneLine(t *testing.T) {
	const quota, refused = "Quota exceeded. Limit: 9.0 globally.", "create firewall: refused."
	got := Listed(errors.New(quota), errors.New(refused)).Error()
	if want := "Quota exceeded. Limit: 9.0 globally; create firewall: refused."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
