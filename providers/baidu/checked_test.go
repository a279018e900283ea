package baidu_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestChecked: berth check reports what the controller refuses.
func TestChecked(t *testing.T) {
	props.Checked(t, freshSubject(), map[string]string{
		`load-balancer-(exist-)?id: is not found`: "the cloud has it",
	})
}
