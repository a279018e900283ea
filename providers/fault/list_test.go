package fault

import (
	"errors"
	"testing"
)

// TestInOneLine: no full stop of a cloud stands before a semicolon.
func TestInOneLine(t *testing.T) {
	got := Listed(errors.New("Quota exceeded. Limit: 9.0 globally."), errors.New("create firewall: refused.")).Error()
	if want := "Quota exceeded. Limit: 9.0 globally; create firewall: refused."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
