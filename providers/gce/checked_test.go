package gce_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestChecked: berth check reports what the controller refuses.
func TestChecked(t *testing.T) {
	props.Checked(t, newSubject(""), map[string]string{
		`internal-load-balancer-subnet: is no subnet`:      "the cloud has it",
		`loadBalancerIP: is neither reserved`:              "the cloud has it",
		`loadBalancerIP: is outside of the subnet`:         "the cloud has the subnet",
		`subnetwork-name: has no (ex|in)ternal IPv6 range`: "the cloud has the subnet",
	})
}
