package gce_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestRenumbered: other ports take no old one away before they are there.
func TestRenumbered(t *testing.T) {
	const rule = "forwardingRules.insert" // there is one for each Service, and no port of it can change
	props.Renumbered(t, fresh(""), service("target-pool", "", nil), rule)
	props.Renumbered(t, fresh(""), service("ilb-ig", "l4-regional-internal-legacy", nil), rule)
	props.Renumbered(t, fresh(""), service("ilb-neg", "l4-regional-internal", nil), rule)
	props.Renumbered(t, fresh(""), service("netlb", "l4-regional-external", nil), rule)
}
