package gce_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestRenumbered: old ports are deleted only once the new ones exist.
func TestRenumbered(t *testing.T) {
	const rule = "forwardingRules.insert" // there is one for each Service, and no port of it can change
	props.Renumbered(t, newSubject(""), serviceCase("target-pool", "", nil), rule)
	props.Renumbered(t, newSubject(""), serviceCase("ilb-ig", "l4-regional-internal-legacy", nil), rule)
	props.Renumbered(t, newSubject(""), serviceCase("ilb-neg", "l4-regional-internal", nil), rule)
	props.Renumbered(t, newSubject(""), serviceCase("netlb", "l4-regional-external", nil), rule)
}
