package alibaba_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestChecked: berth check reports what the controller refuses.
func TestChecked(t *testing.T) {
	props.Checked(t, freshSubject(), map[string]string{
		`loadbalancer-id: is no load balancer`:            "the cloud has it",
		`listener-port-range: is possible only with pods`: "the configuration may have pods as backends",
	})
}
