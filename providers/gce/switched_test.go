package gce_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestSwitched: a load balancer that cannot be made takes no other one away, also where
// nothing waits for the status, as in a plugin.
func TestSwitched(t *testing.T) {
	const external, internal = "l4-regional-external", "l4-regional-internal"
	const members = "networkEndpointGroups.attachNetworkEndpoints" // of which each is refused by itself
	props.Switched(t, newSubject(""), serviceCase("target-pool", "", nil), serviceCase("ilb-neg", internal, nil), members)
	// These have a backend service of one name, whose scheme cannot change.
	props.Switched(t, newSubject(""), serviceCase("ilb-neg", internal, nil), serviceCase("netlb", external, nil), "regionBackendServices.insert", "regionBackendServices.delete",
		"forwardingRules.insert", "firewalls.patch", "instanceGroups.addInstances")
}
