package gce_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestUninterrupted: clients of a Service that gets a load balancer of another kind are served
// whatever Google Cloud refuses, also where nothing waits for the status, as in a plugin. TestLaws
// has other ports.
func TestUninterrupted(t *testing.T) {
	pool, neg, netlb := serviceCase("target-pool", "", nil), serviceCase("ilb-neg", "l4-regional-internal", nil), serviceCase("netlb", "l4-regional-external", nil)
	// Each member is refused by itself.
	props.Uninterrupted(t, newSubject(""), pool, neg, "networkEndpointGroups.attachNetworkEndpoints")
	// These have a backend service of one name. It and the rule are restored by the operation that is refused.
	props.Uninterrupted(t, newSubject(""), neg, netlb, "regionBackendServices.insert", "forwardingRules.insert", "instanceGroups.addInstances")
}
