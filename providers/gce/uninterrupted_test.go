package gce_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestUninterrupted: clients of a changed Service are served whatever Google Cloud refuses, also
// where nothing waits for the status, as in a plugin.
func TestUninterrupted(t *testing.T) {
	pool, ig := serviceCase("target-pool", "", nil), serviceCase("ilb-ig", "l4-regional-internal-legacy", nil)
	neg, netlb := serviceCase("ilb-neg", "l4-regional-internal", nil), serviceCase("netlb", "l4-regional-external", nil)
	for _, c := range []props.Case{pool, ig, neg, netlb} {
		// The rule is restored by the operation that is refused, and the firewall admits clients
		// to other ports in the call that ends the old ones, after the rule.
		props.Uninterrupted(t, newSubject(""), c, props.Renumbered(c), "forwardingRules.insert", "firewalls.patch")
	}
	props.Uninterrupted(t, newSubject(""), pool, neg, "networkEndpointGroups.attachNetworkEndpoints") // each member is refused by itself
	// These have a backend service of one name, whose scheme cannot change.
	props.Uninterrupted(t, newSubject(""), neg, netlb, "regionBackendServices.insert", "regionBackendServices.delete", "forwardingRules.insert", "firewalls.patch", "instanceGroups.addInstances")
}
