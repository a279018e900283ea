package tencent_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestChecked: berth check reports what the controller refuses.
func TestChecked(t *testing.T) {
	props.Checked(t, freshSubject(), map[string]string{
		`tke-existed-lbid: is not found`: "the cloud has it",
	})
}
